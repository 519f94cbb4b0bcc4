package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/units"
)

// submitted is what a command line of cluster mode comes to, with some settings of files.
func submitted(t *testing.T, files map[string]string, args ...string) (*nodeSubmission, error) {
	t.Helper()
	line, err := scanSubmit(args)
	if err != nil {
		t.Fatal(err)
	}
	sh := &shell{Shell: &command.Shell{Stderr: io.Discard}, getenv: func(string) string { return "" }}
	l := &launch{shell: sh, line: line, settings: map[string]string{confSubmission: "s"},
		files: settingFiles{all: files, from: map[string]string{}}}
	return newNodeSubmission(l)
}

// Local files go up in the order in which the driver's command line names them, addresses stay, settings are a file, and
// the node says where its planner and its jar are.
func TestADriversCommandLine(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"app.py", "toil.py", "a.jar", "x.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	s, err := submitted(t, map[string]string{"spark.files": at("x.csv") + "#data,hdfs:///y", "spark.master": "yarn"}, "--master", "sparkpacer://h:1", "--deploy-mode=cluster",
		"--supervise", "--conf", "spark.pacer.deadline=90s", "--jars="+at("a.jar")+",local:/opt/b.jar", "--driver-memory", "2g", "--py-files", "file:"+at("toil.py"), "--name", "n", at("app.py"), "1", "--conf")
	if err != nil {
		t.Fatal(err)
	}
	const mark = "{{pacer.files}}/"
	want := []string{"--properties-file", mark + "4/settings.conf", "--jars", mark + "0/a.jar,local:/opt/b.jar,{{pacer.jar}}", "--files", mark + "1/x.csv#data,hdfs:///y",
		"--py-files", mark + "2/toil.py", "--conf", "spark.driver.defaultJavaOptions=" + strings.Join(append(executor.DriverOptions(nil), "{{pacer.archive}}"), " "),
		"--driver-memory", "2g", "--name", "n", mark + "3/app.py", "1", "--conf"}
	if !slices.Equal(s.driver.Command, want) {
		t.Errorf("it is\n%q, want\n%q", s.driver.Command, want)
	}
	for _, flag := range []string{"spark.driver.defaultJavaOptions=-Xint", "spark.driver.extraJavaOptions=-Xshare:off", "spark.driver.extraClassPath=/x"} {
		own, err := submitted(t, nil, "--master", "sparkpacer://h:1", "--deploy-mode=cluster", "--conf", flag, at("app.py"))
		if err != nil || strings.Contains(strings.Join(own.driver.Command, " "), "{{pacer.archive}}") {
			t.Errorf("with %s it is %q, %v", flag, own.driver.Command, err)
		}
	}
	text, err := io.ReadAll(io.NewSectionReader(s.sources[4], 0, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	settings := string(text)
	if !strings.Contains(settings, "spark.pacer.deadline=90s\n") || strings.Contains(settings, "spark.master") || strings.Contains(settings, "spark.files") {
		t.Errorf("its settings are\n%s", settings)
	}
	if !s.driver.Supervise || s.driver.Memory != 2*units.GiB+858993459 || s.driver.Validate() == nil {
		t.Errorf("it is %+v, valid before its files have digests", s.driver)
	}
}

// Mistakes are told in one line that names the field, before anything goes anywhere.
func TestSubmissionsThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	for want, args := range map[string][]string{
		"66 the application: stat " + dir + "/none.py: no such file": {dir + "/none.py"},
		"66 --archives: stat " + dir + "/none.zip: no such file":     {"--archives", dir + "/none.zip#d", "spark-internal"},
		"64 --jars: " + dir + " is no file":                          {"--jars", dir, "spark-internal"},
		`64 spark.driver.memory "much"`:                              {"--driver-memory", "much", "spark-internal"},
		`64 spark.driver.cores "0"`:                                  {"--driver-cores", "0", "spark-internal"},
		`64 spark.driver.memoryOverheadFactor "x"`:                   {"--conf", "spark.driver.memoryOverheadFactor=x", "spark-internal"},
	} {
		_, err := submitted(t, nil, args...)
		if said := fmt.Sprintf("%d %v", command.ExitCode(err), err); !strings.HasPrefix(said, want) || strings.Contains(said, "\n") {
			t.Errorf("%q: %s, want %q", args, said, want)
		}
	}
}

// The deadline of the command line wins over that of files, in both forms, as in client mode.
func TestTheDeadlineOfASubmission(t *testing.T) {
	moment := map[string]string{confBy: "2026-01-31T06:00:00Z"}
	for name, c := range map[string]struct {
		given, files map[string]string
		want         units.Seconds
		moment       bool
	}{
		"none":                {},
		"of files":            {files: map[string]string{confDeadline: "90s"}, want: 90},
		"given beside files":  {given: map[string]string{confDeadline: "60s"}, files: moment, want: 60},
		"a moment":            {given: moment, want: 600, moment: true},
		"a moment over files": {given: moment, files: map[string]string{confDeadline: "90s"}, want: 600, moment: true},
	} {
		s, err := submitted(t, c.files, "spark-internal")
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(s.l.settings, c.given)
		s.l.clock = clock{now: time.Date(2026, 1, 31, 5, 50, 0, 0, time.UTC)}
		if r, err := s.register(0); err != nil || r.Deadline != c.want || r.ByMoment != c.moment {
			t.Errorf("%s: %v, by a moment %v, %v", name, r.Deadline, r.ByMoment, err)
		}
	}
}

// slow is a planner that takes a part of what comes, and refuses now and then.
type slow struct {
	client
	asked int
	has   map[string][]byte
}

func (s *slow) Control(_ context.Context, verb api.Verb, r api.ControlRequest) (api.ControlReply, error) {
	p := r.Query.Submit.Piece
	if s.asked++; s.asked%3 == 0 {
		return api.ControlReply{}, api.Errorf(api.KindTransient, "try again")
	}
	if p.Offset == int64(len(s.has[p.SHA256])) {
		s.has[p.SHA256] = append(s.has[p.SHA256], p.Data[:len(p.Data)-len(p.Data)/3]...)
	}
	return api.ControlReply{Piece: &api.FilePiece{SHA256: p.SHA256, Size: p.Size, Offset: int64(len(s.has[p.SHA256]))}}, nil
}

// forgetful is a planner that has lost what was uploaded before it is asked to start what is submitted, so often; it is
// ended while it answers where ended is not nil.
type forgetful struct {
	client
	losses         int
	pieces, starts int
	ended          context.CancelFunc
}

func (p *forgetful) Control(ctx context.Context, verb api.Verb, r api.ControlRequest) (api.ControlReply, error) {
	if p.ended != nil {
		p.ended()
	}
	if ctx.Err() != nil {
		return api.ControlReply{}, ctx.Err()
	}
	if verb == api.VerbUpload {
		p.pieces++
		f := r.Query.Submit.Piece
		return api.ControlReply{Piece: &api.FilePiece{SHA256: f.SHA256, Size: f.Size, Offset: f.Offset + int64(len(f.Data))}}, nil
	}
	if p.starts++; p.starts <= p.losses {
		return api.ControlReply{}, api.Errorf(api.KindNotFound, "file f was not uploaded")
	}
	return api.ControlReply{Message: "taken"}, nil
}

// Files go up again where the planner that is to start what they are for has lost them, a few times. A signal ends it
// between two requests: one under way is answered, for it may have an application taken.
func TestHandOver(t *testing.T) {
	over := func(ctx context.Context, p *forgetful, files bool) (api.ControlReply, error) {
		s, err := submitted(t, map[string]string{"a": "b"}, "spark-internal")
		if err != nil {
			t.Fatal(err)
		}
		if !files {
			s.driver.Files, s.sources = nil, nil
		}
		return handOver(ctx, p, s.l, []*nodeSubmission{s}, false, func() (api.Submit, error) { return api.Submit{}, ctx.Err() })
	}
	for losses, starts := range map[int]int{0: 1, 2: 3, 9: uploadsMost} {
		p := &forgetful{losses: losses}
		r, err := over(t.Context(), p, true)
		if (err == nil) != (losses < uploadsMost) || (err == nil) != (r.Message == "taken") || p.starts != starts || p.pieces != 2*starts {
			t.Errorf("lost %d times: %q, %v after %d pieces and %d requests", losses, r.Message, err, p.pieces, p.starts)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	p := &forgetful{ended: cancel}
	if _, err := over(ctx, p, true); !errors.Is(err, context.Canceled) || p.pieces != 1 || p.starts != 0 {
		t.Errorf("ended: %v after %d pieces and %d requests", err, p.pieces, p.starts)
	}
	// Ended while it is taken, it is taken: what was taken is known, and can be ended.
	ctx, cancel = context.WithCancel(t.Context())
	p = &forgetful{ended: cancel}
	if r, err := over(ctx, p, false); err != nil || r.Message != "taken" {
		t.Errorf("ended while it is taken: %q, %v", r.Message, err)
	}
}

// A file goes up whole, however little of it a planner takes at once.
func TestUploadGoesOn(t *testing.T) {
	s, err := submitted(t, nil, "spark-internal")
	if err != nil {
		t.Fatal(err)
	}
	body := []byte(strings.Repeat("content ", 400_000))
	s.add("large", bytes.NewReader(body))
	planner := &slow{has: map[string][]byte{}}
	if err := s.upload(t.Context(), &uploader{conn: planner, w: io.Discard}); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(body)
	if digest := hex.EncodeToString(sum[:]); string(planner.has[digest]) != string(body) || s.driver.Files[1].SHA256 != digest {
		t.Errorf("%d of %d bytes came as %s", len(planner.has[digest]), len(body), s.driver.Files[1].SHA256)
	}
	if err := s.driver.Validate(); err != nil {
		t.Error(err)
	}
}

// Files go up at the pace that a planner takes of one user, whatever they have: none of their pieces is refused.
func TestUploadsKeepToTheirPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &uploader{}
		began := time.Now()
		for sent := 0; sent < 256<<20; sent += api.MostFilePiece {
			a.pace(t.Context(), api.MostFilePiece)
			json := float64(sent+api.MostFilePiece) * 4 / 3
			if most := float64(16<<20) + float64(4<<20)*time.Since(began).Seconds(); json > most { // bus.mostRequests.
				t.Fatalf("after %v %v MiB are sent", time.Since(began), json/(1<<20))
			}
		}
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("256 MiB take %v", took)
		}
	})
}
