package executor_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/executor"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

func logFile(t *testing.T, l executor.Layout, app, exec, stream string, data []byte) string {
	t.Helper()
	path := filepath.Join(l.Root, "apps", app, exec, stream)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func request(app, exec, stream string, offset int64) api.LogRequest {
	return api.LogRequest{V: api.Version, App: api.AppID(app), Executor: api.ExecutorID(exec), Stream: stream, Offset: offset}
}

func TestLogComesInPieces(t *testing.T) {
	l := executor.Layout{Root: t.TempDir()}
	want := bytes.Repeat([]byte("0123456789abcdef"), executor.LogPiece/8)
	path := logFile(t, l, "app-1", "2", "stdout", want)
	var got []byte
	pieces := 0
	for offset := int64(0); ; pieces++ {
		r := l.ReadLog(request("app-1", "2", "stdout", offset))
		if r.Error != nil || len(r.Data) > executor.LogPiece || r.Next != offset+int64(len(r.Data)) {
			t.Fatalf("%v, %d bytes, next %d", r.Error, len(r.Data), r.Next)
		}
		got, offset = append(got, r.Data...), r.Next
		if r.EOF {
			break
		}
	}
	if !bytes.Equal(got, want) || pieces != 2 {
		t.Errorf("%d bytes in %d pieces", len(got), pieces)
	}
	// It goes on where it ended when the log grows.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("more"); err != nil {
		t.Fatal(err)
	}
	if r := l.ReadLog(request("app-1", "2", "stdout", int64(len(want)))); string(r.Data) != "more" || !r.EOF {
		t.Errorf("%q, %v", r.Data, r.EOF)
	}
	if r := l.ReadLog(request("app-1", "2", "stdout", 1<<40)); len(r.Data) > 0 || !r.EOF || r.Error != nil {
		t.Errorf("beyond the end: %+v", r)
	}
}

func TestLogFaults(t *testing.T) {
	l := executor.Layout{Root: t.TempDir()}
	logFile(t, l, "app-1", "2", "stderr", []byte("x"))
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(l.Root, "apps", "app-1", "2", "stdout")); err != nil {
		t.Fatal(err)
	}
	old := request("app-1", "2", "stderr", 0)
	old.V = 99
	for name, c := range map[string]struct {
		request api.LogRequest
		want    api.Kind
	}{
		"unknown application": {request("app-2", "2", "stderr", 0), api.KindNotFound},
		"unknown executor":    {request("app-1", "3", "stderr", 0), api.KindNotFound},
		"traversal by app":    {request("../../etc", "2", "stderr", 0), api.KindInvalid},
		"traversal by id":     {request("app-1", "..", "stderr", 0), api.KindInvalid},
		"other file":          {request("app-1", "2", "handle.json", 0), api.KindInvalid},
		"negative offset":     {request("app-1", "2", "stderr", -1), api.KindInvalid},
		"another version":     {old, api.KindVersion},
		"link that leads out": {request("app-1", "2", "stdout", 0), api.KindInternal},
	} {
		r := l.ReadLog(c.request)
		if r.Error == nil || r.Error.Kind != c.want || len(r.Data) > 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := (executor.Layout{Root: filepath.Join(l.Root, "none")}).ReadLog(request("app-1", "2", "stderr", 0)); r.Error == nil || r.Error.Kind != api.KindNotFound {
		t.Errorf("no work directory: %+v", r)
	}
}

func TestPrune(t *testing.T) {
	now := time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	listing := []executor.AppLogs{
		{App: "app-1", Last: ago(8 * 24 * time.Hour)},
		{App: "app-2", Last: ago(9 * 24 * time.Hour), Active: true},
		{App: "app-3", Last: ago(3 * time.Hour)},
		{App: "app-4", Last: ago(2 * time.Hour)},
		{App: "app-5", Last: ago(time.Hour)},
	}
	for _, c := range []struct {
		r    executor.Retention
		want []api.AppID
	}{
		{executor.DefaultRetention(), []api.AppID{"app-1"}},
		{executor.Retention{Apps: 2}, []api.AppID{"app-1", "app-3"}},
		{executor.Retention{Age: 90 * time.Minute, Apps: 2}, []api.AppID{"app-1", "app-3", "app-4"}},
		{executor.Retention{}, nil},
	} {
		if diff := cmp.Diff(c.want, c.r.Prune(now, listing)); diff != "" {
			t.Errorf("%+v: %s", c.r, diff)
		}
	}
}

// What stays satisfies both bounds, and nothing goes that did not have to.
func TestPruneProperties(t *testing.T) {
	now := time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)
	rapid.Check(t, func(rt *rapid.T) {
		r := executor.Retention{Age: time.Duration(rapid.IntRange(0, 10).Draw(rt, "age")) * time.Hour, Apps: rapid.IntRange(0, 5).Draw(rt, "apps")}
		var listing []executor.AppLogs
		for i := range rapid.IntRange(0, 12).Draw(rt, "n") {
			listing = append(listing, executor.AppLogs{
				App: api.AppID(fmt.Sprintf("app-%02d", i)), Active: rapid.Bool().Draw(rt, "active"),
				Last: now.Add(-time.Duration(rapid.IntRange(0, 15).Draw(rt, "hours")) * time.Hour),
			})
		}
		gone := map[api.AppID]bool{}
		for _, app := range r.Prune(now, listing) {
			gone[app] = true
		}
		kept := 0
		for _, a := range listing {
			old := r.Age > 0 && now.Sub(a.Last) > r.Age
			newer := 0
			for _, b := range listing {
				if !b.Active && (b.Last.After(a.Last) || b.Last.Equal(a.Last) && b.App > a.App) {
					newer++
				}
			}
			want := !a.Active && (old || r.Apps > 0 && newer >= r.Apps)
			if gone[a.App] != want {
				rt.Fatalf("%s gone: %v, want %v", a.App, gone[a.App], want)
			}
			if !gone[a.App] && !a.Active {
				kept++
			}
		}
		if r.Apps > 0 && kept > r.Apps {
			rt.Fatalf("%d kept", kept)
		}
	})
}

func TestPruneApplied(t *testing.T) {
	l := executor.Layout{Root: t.TempDir()}
	if listing, err := l.Logs(); err != nil || len(listing) > 0 {
		t.Errorf("no directory: %v, %v", listing, err)
	}
	now := time.Now()
	for i, app := range []string{"app-1", "app-2", "app-3"} {
		last := now.Add(-time.Duration(i) * time.Hour)
		logFile(t, l, app, "1", "stdout", nil)
		path := logFile(t, l, app, "1", "stderr", []byte("x"))
		for _, p := range []string{path, filepath.Join(filepath.Dir(path), "stdout"), filepath.Dir(filepath.Dir(path))} {
			if err := os.Chtimes(p, last, last); err != nil {
				t.Fatal(err)
			}
		}
	}
	logFile(t, l, "app-3", "1", "handle.json", []byte("{}"))
	listing, err := l.Logs()
	if err != nil || len(listing) != 3 || !listing[2].Active || listing[0].Active {
		t.Fatalf("%+v, %v", listing, err)
	}
	if got := now.Sub(listing[1].Last); got < 59*time.Minute || got > 61*time.Minute {
		t.Errorf("last line %v ago", got)
	}
	// app-3 has become active since, ../x never was an application.
	if err := l.RemoveLogs([]api.AppID{"app-2", "app-3", "../x"}); err == nil {
		t.Error("../x was taken")
	}
	left, err := os.ReadDir(filepath.Join(l.Root, "apps"))
	if err != nil || len(left) != 2 || left[0].Name() != "app-1" || left[1].Name() != "app-3" {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A log that grows for ever keeps its newest lines and a bounded part of the disk; its writer
// loses nothing, and who follows it goes on where it was.
func TestLogsAreTrimmed(t *testing.T) {
	l := executor.Layout{Root: t.TempDir()}
	path := logFile(t, l, "app-1", "2", "stderr", nil)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const most = 1 << 20
	line := append(bytes.Repeat([]byte("x"), 1023), '\n')
	var offset int64
	for round := range 4 {
		for range 2 * most / len(line) {
			if _, err := f.Write(line); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := l.TrimLogs(most); n != 1 || err != nil {
			t.Fatalf("round %d: %d trimmed, %v", round, n, err)
		}
		if n, err := l.TrimLogs(most); n != 0 || err != nil {
			t.Errorf("round %d: trimmed again: %d, %v", round, n, err)
		}
		listing, err := l.Usage()
		if err != nil || len(listing) != 1 || listing[0].Bytes > most+64<<10 || listing[0].Bytes < most/2 {
			t.Fatalf("round %d: %+v, %v", round, listing, err)
		}
		var got []byte
		for {
			r := l.ReadLog(request("app-1", "2", "stderr", offset))
			if r.Error != nil {
				t.Fatal(r.Error)
			}
			got, offset = append(got, r.Data...), r.Next
			if r.EOF {
				break
			}
		}
		if len(got) < most/2 || len(got) > most || !bytes.HasSuffix(got, line) || bytes.ContainsRune(got, 0) {
			t.Errorf("round %d: read %d bytes", round, len(got))
		}
	}
}

// Files of a user's own stay what they are, whatever their names and places.
func TestAUsersFilesAreNotTrimmed(t *testing.T) {
	l := executor.Layout{Root: t.TempDir()}
	data := bytes.Repeat([]byte("x"), 2<<20)
	for _, path := range []string{
		logFile(t, l, "app-1", "local", "stdout", data), logFile(t, l, "app-1", "local", "std-deviation.csv", data),
		logFile(t, l, "app-1", "local/deeper", "stderr", data), logFile(t, l, "app-1", "2", "std.parquet", data),
		logFile(t, l, "app-1", "2/work", "stderr", data),
	} {
		n, err := l.TrimLogs(1 << 20)
		if got, readErr := os.ReadFile(path); n != 0 || err != nil || readErr != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d trimmed, %v, %v", path, n, err, readErr)
		}
	}
}

// The oldest of the ended applications go until all have room.
func TestPruneByBytes(t *testing.T) {
	now := time.Now()
	listing := []executor.AppLogs{
		{App: "app-1", Last: now.Add(-3 * time.Hour), Bytes: 10},
		{App: "app-2", Last: now.Add(-4 * time.Hour), Bytes: 30, Active: true},
		{App: "app-3", Last: now.Add(-2 * time.Hour), Bytes: 10},
		{App: "app-4", Last: now.Add(-time.Hour), Bytes: 10},
	}
	for _, c := range []struct {
		bytes units.Bytes
		want  []api.AppID
	}{{60, nil}, {59, []api.AppID{"app-1"}}, {45, []api.AppID{"app-1", "app-3"}}, {1, []api.AppID{"app-1", "app-3", "app-4"}}} {
		if diff := cmp.Diff(c.want, executor.Retention{Bytes: c.bytes}.Prune(now, listing)); diff != "" {
			t.Errorf("%d bytes: %s", c.bytes, diff)
		}
	}
}
