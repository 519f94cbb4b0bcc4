package conformance

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/executor"
)

// Found is one machine with a runtime on it that finds executors and starts none: the rows of Run that
// ask for starts, ends and files do not apply to it.
type Found struct {
	// New returns a runtime; a second call is a node controller that was killed and started again.
	New func() executor.Runtime
	// Spec is what the executor id is sought by.
	Spec func(api.ExecutorID) executor.Spec
	// Spawn has the executor's own manager start it, and end it by what it returns.
	Spawn func(t *testing.T, id api.ExecutorID) (pid int, end func())
	// AsFound fails t unless the manager's groups have what they were found with.
	AsFound func(t *testing.T)
}

// RunFound runs the suite of runtimes that find executors; each test gets a harness of its own.
func RunFound(t *testing.T, harness func(t *testing.T) Found) {
	for name, test := range map[string]func(*testing.T, Found){
		"start finds the process, and finds it again":     finds,
		"one that is not there is not found":              notThere,
		"stop lets it run, and is idempotent":             letGo,
		"an end is told, and nobody knows its code":       endOfFound,
		"a restarted controller holds it again":           heldAgain,
		"one that has ended meanwhile is not held again":  endedMeanwhile,
		"another process with its id is not it":           foundReused,
		"remove forgets one that runs":                    forgets,
		"names cannot leave the tree":                     foundNames,
		"what was found is there again, whatever happens": asFound,
	} {
		t.Run(name, func(t *testing.T) { test(t, harness(t)) })
	}
}

// find has r hold the executor id.
func (f Found) find(t *testing.T, r executor.Runtime, id api.ExecutorID) executor.Handle {
	t.Helper()
	h, err := r.Start(t.Context(), f.Spec(id))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func runs(t *testing.T, r executor.Runtime, h executor.Handle) {
	t.Helper()
	if got := inspect(t, r, h); got.State != api.ExecutorRunning || got.ExitCode != api.Unknown {
		t.Errorf("it is %+v, want it to run", got)
	}
}

func finds(t *testing.T, f Found) {
	r := f.New()
	pid, _ := f.Spawn(t, "1")
	h := f.find(t, r, "1")
	if h.PID != pid || h.App != app || h.ID != "1" {
		t.Errorf("found %+v, want process %d", h, pid)
	}
	if again := f.find(t, r, "1"); again != h {
		t.Errorf("found %+v, then %+v", h, again)
	}
	runs(t, r, h)
}

func notThere(t *testing.T, f Found) {
	r := f.New()
	f.Spawn(t, "1")
	if _, err := r.Start(t.Context(), f.Spec("2")); api.KindOf(err) != api.KindNotFound {
		t.Errorf("error %v", err)
	}
	if handles, err := r.Recover(); err != nil || len(handles) > 0 {
		t.Errorf("recovered %v, %v", handles, err)
	}
}

func letGo(t *testing.T, f Found) {
	r := f.New()
	f.Spawn(t, "1")
	h := f.find(t, r, "1")
	for range 2 {
		if err := r.Stop(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		runs(t, r, h)
		f.AsFound(t)
	}
	if handles, err := f.New().Recover(); err != nil || len(handles) > 0 {
		t.Errorf("recovered %v, %v", handles, err)
	}
}

func endOfFound(t *testing.T, f Found) {
	r := f.New()
	_, end := f.Spawn(t, "1")
	h := f.find(t, r, "1")
	end()
	await(t, "its end", func() bool { return inspect(t, r, h).State == api.ExecutorExited })
	if got := inspect(t, r, h); got.ExitCode != api.Unknown || got.Exit == "" {
		t.Errorf("it ended as %+v", got)
	}
	if err := r.Stop(t.Context(), h); err != nil {
		t.Error(err)
	}
}

func heldAgain(t *testing.T, f Found) {
	f.Spawn(t, "1")
	h := f.find(t, f.New(), "1")
	second := f.New()
	handles, err := second.Recover()
	if err != nil || len(handles) != 1 || handles[0] != h {
		t.Fatalf("recovered %v, %v, want %v", handles, err, h)
	}
	runs(t, second, h)
	if again := f.find(t, second, "1"); again != h {
		t.Errorf("found %+v beside what was held", again)
	}
	if err := second.Stop(t.Context(), h); err != nil {
		t.Error(err)
	}
	f.AsFound(t)
}

func endedMeanwhile(t *testing.T, f Found) {
	_, end := f.Spawn(t, "1")
	h := f.find(t, f.New(), "1")
	end()
	second := f.New()
	if handles, err := second.Recover(); err != nil || len(handles) > 0 {
		t.Errorf("recovered %v, %v", handles, err)
	}
	if got := inspect(t, second, h).State; got != api.ExecutorExited {
		t.Errorf("it is %s", got)
	}
	f.AsFound(t)
}

func foundReused(t *testing.T, f Found) {
	r := f.New()
	f.Spawn(t, "1")
	h := f.find(t, r, "1")
	older, elsewhere := h, h
	older.Started--
	elsewhere.Boot = "another boot"
	for _, other := range []executor.Handle{older, elsewhere} {
		if got := inspect(t, f.New(), other); got.State != api.ExecutorExited || got.ExitCode != api.Unknown {
			t.Errorf("%+v is %+v", other, got)
		}
	}
	runs(t, r, h)
}

func forgets(t *testing.T, f Found) {
	r := f.New()
	f.Spawn(t, "1")
	h := f.find(t, r, "1")
	if err := r.Remove(h); err != nil {
		t.Fatal(err)
	}
	runs(t, r, h)
	f.AsFound(t)
}

func foundNames(t *testing.T, f Found) {
	r := f.New()
	for _, id := range []api.ExecutorID{"", "..", "../1", "a/b", "x\n"} {
		if _, err := r.Start(t.Context(), f.Spec(id)); api.KindOf(err) != api.KindInvalid {
			t.Errorf("%q: error %v", id, err)
		}
	}
}

func asFound(t *testing.T, f Found) {
	f.Spawn(t, "1")
	f.Spawn(t, "2")
	var r executor.Runtime
	for range 3 { // The first two are killed.
		r = f.New()
		if _, err := r.Recover(); err != nil {
			t.Fatal(err)
		}
		f.find(t, r, "1")
	}
	second := f.find(t, r, "2")
	for _, h := range []executor.Handle{f.find(t, r, "1"), second} {
		if err := r.Stop(t.Context(), h); err != nil {
			t.Error(err)
		}
		runs(t, r, h)
	}
	f.AsFound(t)
}
