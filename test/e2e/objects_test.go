package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/cli/sparkrun"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestObjectStore is the story of output to an object store: a job of one task writes directly by seven calls, a table
// is appended to and read, magic writes by Spark's own classes, and what it needs is asked for before anything runs. A
// store that denies its objects is named in a line, and has none.
func TestObjectStore(t *testing.T) {
	realenv.RequireAll(t)
	store := realenv.NewObjectStore(t)
	s := realenv.StartUp(t)
	submit := func(way string, cloud, ends bool, args ...string) *realenv.Process {
		flags := append(store.Flags(cloud), "--conf", "spark.pacer.output="+way)
		p := s.Submit(slices.Concat(flags, []string{"testdata/objects.py"}, args)...)
		if code := p.Wait(patience); (code == 0) != ends {
			t.Fatalf("%s %q: exit %d: %s", way, args, code, sparkrun.Tail(p.Output(), 3000))
		}
		return p
	}
	run := func(way string, args ...string) *realenv.Process { return submit(way, false, true, args...) }
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
	days := "RESULT 0 1000 499500\nRESULT 1 1000 1499500\nRESULT 2 1000 2499500\nRESULT 3 1000 3499500"
	wantAnswer(t, run("direct", "days", store.URL("days")), days)
	calls, _ = store.Told()
	if copied := slices.ContainsFunc(calls, func(c string) bool { return strings.HasPrefix(c, "COPY") }); copied {
		t.Errorf("%d calls, copies among them: %q", len(calls), calls)
	}
	wantAnswer(t, submit("magic", true, true, "days", store.URL("magic")), days)
	calls, _ = store.Told()
	if copied := slices.ContainsFunc(calls, func(c string) bool { return strings.HasPrefix(c, "COPY") }); copied {
		t.Errorf("magic copies: %q", calls)
	}
	if text := store.Read("magic/_SUCCESS"); !strings.Contains(text, `"committer":"magic"`) {
		t.Errorf("the magic committer has written %.300s", text)
	}
	want := "spark.pacer.output is magic, and spark-hadoop-cloud is not on the class path"
	if said := submit("magic", false, false, "text", store.URL("none")).Output(); !strings.Contains(said, want) {
		t.Errorf("magic without its jar says\n%s", sparkrun.Tail(said, 2000))
	}
	store.Denied = "denied"
	want = "pacer: " + store.URL("denied") + ": the store denies it to this application's credentials (spark.hadoop.fs.s3a.*)"
	if said := submit("direct", false, false, "text", store.URL("denied")).Output(); strings.Count(said, want) != 1 {
		t.Errorf("a store that denies says\n%s", sparkrun.Tail(said, 3000))
	}
	if left := store.Keys("denied"); len(left) != 0 {
		t.Errorf("left are %q", left)
	}
	store.Denied = "part-00000_attempt" // What it may list it may not write.
	if said := submit("direct", false, false, "text", store.URL("closed")).Output(); !strings.Contains(said, "the store denies it") {
		t.Errorf("a store that denies tasks says\n%s", sparkrun.Tail(said, 3000))
	}
	if left := store.Keys("closed"); len(left) != 0 {
		t.Errorf("left are %q", left)
	}
}
