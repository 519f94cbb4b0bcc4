package eventlog

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// golden are the logs that make.py has made, by their kinds: version, layout and codec.
func golden(t testing.TB) map[string][]Source {
	t.Helper()
	dirs, err := filepath.Glob("testdata/logs/*")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]Source{}
	for _, dir := range dirs {
		paths, err := Logs(dir)
		if err != nil || len(paths) != 1 {
			t.Fatalf("%s: %v, %v", dir, paths, err)
		}
		if all[filepath.Base(dir)], err = Open(paths[0]); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Every layout and codec of a version tells of the same application.
func TestEveryKindOfLogIsRead(t *testing.T) {
	kinds, first := 0, map[string]Application{}
	for kind, sources := range golden(t) {
		ended := 0
		app, err := Read(sources, func(*Task) { ended++ })
		compacted := strings.Contains(kind, "compacted")
		switch {
		case err != nil:
			t.Errorf("%s: %v", kind, err)
			continue
		case (app.Cut != "") != (compacted || strings.Contains(kind, "inprogress")) || len(app.Unknown) > 0 || !strings.HasPrefix(kind, app.Spark):
			t.Errorf("%s: Spark %s, cut: %q, unknown: %v", kind, app.Spark, app.Cut, app.Unknown)
		case !compacted && (len(app.Stages) != 7 || len(app.Jobs) != 6 || len(app.Queries) != 1 || ended < 11):
			t.Errorf("%s: %d stages, %d jobs, %d queries, %d tasks", kind, len(app.Stages), len(app.Jobs), len(app.Queries), ended)
		case compacted && (len(app.Stages) == 0 || len(app.Stages) >= 7):
			t.Errorf("%s: %d stages are left", kind, len(app.Stages))
		}
		if kinds++; compacted {
			continue
		}
		if first[app.Spark].Spark == "" {
			first[app.Spark] = app
		}
		for i, want := range first[app.Spark].Stages {
			s := app.Stages[i]
			if s.Attempts[0].Completed == 0 || want.Attempts[0].Completed == 0 {
				continue
			}
			if s.Signature == "" || s.Signature != want.Signature || s.Lineage != want.Lineage || !slices.Equal(s.Parents, want.Parents) ||
				s.Map != want.Map || s.Python != want.Python || s.Complete() != want.Complete() {
				t.Errorf("%s: stage %d is %+v, and %+v elsewhere", kind, s.ID, s, want)
			}
		}
		if q := app.Queries[0]; q.Shape != first[app.Spark].Queries[0].Shape || q.Nth != 0 {
			t.Errorf("%s: %+v", kind, q)
		}
	}
	t.Logf("eventlog.kinds %d", kinds)
	if kinds < 20 {
		t.Errorf("%d kinds were read, want 20 at least", kinds)
	}
}
