package node

import (
	"bytes"
	"maps"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

const secret = "correct-horse-battery-staple"

// secretive is an application with a secret, whose executors are started with it or, as a planner
// says it that has started again, without.
func secretive(known bool, executors ...api.ExecutorID) api.PlanApp {
	a := planApp(appA, 4, executors)
	a.Launch.Env = map[string]string{"PATH": "/bin", "_SPARK_AUTH_SECRET": secret}
	if !known {
		a.Launch = a.Launch.Kept()
	}
	return a
}

// starts are the executors that actions start, with their environments.
func starts(actions []Action) map[Key]map[string]string {
	found := map[Key]map[string]string{}
	for _, a := range actions {
		if a.Kind == ActStart {
			found[a.Key] = maps.Clone(a.Launch.Env)
		}
	}
	return found
}

// What a node keeps has no secret. One that starts goes on with what runs, and waits with what is
// to be started until the planner has told the secrets.
func TestANodeKeepsNoSecret(t *testing.T) {
	w := newWorld(t, testConfig(4))
	one, two := Key{appA, "1"}, Key{appA, "2"}
	if got := starts(w.apply(plan(1, secretive(true, "1")))); got[one]["_SPARK_AUTH_SECRET"] != secret {
		t.Fatalf("started %v", got)
	}
	w.ticks(2)
	if bytes.Contains(w.saved, []byte(secret)) || !bytes.Contains(w.saved, []byte("/bin")) {
		t.Errorf("saved %s", w.saved)
	}
	w.restart(testConfig(4))
	w.ticks(2)
	next := secretive(true, "1", "2")
	next.Launch = nil
	if got := starts(w.apply(plan(2, next))); len(got) > 0 || !w.sawEvent(EventSecretsAwaited) {
		t.Errorf("without the secret it starts %v and says %v", got, w.e.Events())
	}
	w.ticks(4)
	if len(w.execs) != 1 {
		t.Errorf("executors %v", w.execs)
	}
	if got := starts(w.apply(plan(3, secretive(false, "1", "2")))); len(got) > 0 {
		t.Errorf("nor does the planner have it, and it starts %v", got)
	}
	if got := starts(w.apply(plan(4, secretive(true, "1", "2")))); len(got) != 1 || got[two]["_SPARK_AUTH_SECRET"] != secret {
		t.Errorf("with the secret it starts %v", got)
	}
	w.ticks(2)
	if bytes.Contains(w.saved, []byte(secret)) || len(w.execs) != 2 {
		t.Errorf("saved %s, executors %v", w.saved, w.execs)
	}
}

// A planner that has started again asks a node for an executor before the driver has spoken: the
// node has the secret still.
func TestANodeKnowsWhatItsPlannerDoesNot(t *testing.T) {
	w := newWorld(t, testConfig(4))
	w.ready(1, secretive(true, "1"))
	if got := starts(w.apply(plan(2, secretive(false, "1", "2")))); got[Key{appA, "2"}]["_SPARK_AUTH_SECRET"] != secret {
		t.Errorf("started %v", got)
	}
	w.ticks(2)
	if bytes.Contains(w.saved, []byte(secret)) {
		t.Errorf("saved %s", w.saved)
	}
}
