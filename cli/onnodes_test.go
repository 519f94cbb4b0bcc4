package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
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
		"--py-files", mark + "2/toil.py", "--driver-memory", "2g", "--name", "n", mark + "3/app.py", "1", "--conf"}
	if !slices.Equal(s.driver.Command, want) {
		t.Errorf("it is\n%q, want\n%q", s.driver.Command, want)
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
		"the application: " + dir + "/none.py is not there": {dir + "/none.py"},
		"--jars: " + dir + " is no file":                    {"--jars", dir, "spark-internal"},
		`spark.driver.memory "much"`:                        {"--driver-memory", "much", "spark-internal"},
		`spark.driver.cores "0"`:                            {"--driver-cores", "0", "spark-internal"},
		`spark.driver.memoryOverheadFactor "x"`:             {"--conf", "spark.driver.memoryOverheadFactor=x", "spark-internal"},
	} {
		if _, err := submitted(t, nil, args...); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", args, err, want)
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

// A file goes up whole, however little of it a planner takes at once.
func TestUploadGoesOn(t *testing.T) {
	s, err := submitted(t, nil, "spark-internal")
	if err != nil {
		t.Fatal(err)
	}
	body := []byte(strings.Repeat("content ", 400_000))
	s.add("large", bytes.NewReader(body))
	planner := &slow{has: map[string][]byte{}}
	if err := s.upload(t.Context(), planner); err != nil {
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
