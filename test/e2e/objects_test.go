package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/cli/sparkrun"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestObjectStore is the story of output to an object store: a job of one task writes directly by seven calls, a table
// is appended to and read, and what magic needs is asked for before anything runs.
func TestObjectStore(t *testing.T) {
	realenv.RequireAll(t)
	store := realenv.NewObjectStore(t)
	s := realenv.StartUp(t)
	run := func(way string, args ...string) *realenv.Process {
		flags := append(store.Flags(), "--conf", "spark.pacer.output="+way)
		p := s.Submit(slices.Concat(flags, []string{"testdata/objects.py"}, args)...)
		if code := p.Wait(patience); (code != 0) != (way == "magic") {
			t.Fatalf("%s %q: exit %d: %s", way, args, code, sparkrun.Tail(p.Output(), 3000))
		}
		return p
	}
	wantAnswer(t, run("direct", "text", store.URL("text")), "RESULT ['a', 'b']")
	calls, _ := store.Told()
	calls = slices.DeleteFunc(calls, func(c string) bool { return strings.HasPrefix(c, "GET") })
	t.Logf("%q", calls)
	if keys := store.Keys("text"); len(keys) != 1 || !strings.HasPrefix(keys[0], "part-00000_attempt_") {
		t.Errorf("objects %q", keys)
	}
	if text := store.Read("text/_SUCCESS"); !strings.Contains(text, "attempt_") {
		t.Errorf("the manifest is %q", text)
	}
	wantAnswer(t, run("direct", "days", store.URL("days")), "RESULT 0 1000 499500\nRESULT 1 1000 1499500\nRESULT 2 1000 2499500\nRESULT 3 1000 3499500")
	calls, _ = store.Told()
	if copied := slices.ContainsFunc(calls, func(c string) bool { return strings.HasPrefix(c, "COPY") }); copied {
		t.Errorf("%d calls, copies among them: %q", len(calls), calls)
	}
	want := "spark.pacer.output is magic, and spark-hadoop-cloud is not on the class path"
	if said := run("magic", "text", store.URL("magic")).Output(); !strings.Contains(said, want) {
		t.Errorf("magic without its jar says\n%s", sparkrun.Tail(said, 2000))
	}
}
