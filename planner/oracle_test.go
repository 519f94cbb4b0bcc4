package planner_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sparkpacer/pacer/planner"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the sums of what tests have the engine do in testdata/actions.sums")

// oracle has a sum of all actions of each test, so that a change of the planner's inside shows where it changes what the
// planner does. Run with -rewrite after a wanted change; the commit says why each line that differs is right.
var oracle = struct {
	sync.Mutex
	stored map[string]string // By test, as they are in the file.
	tests  map[string]*uint64
	read   sync.Once
}{stored: map[string]string{}, tests: map[string]*uint64{}}

const sums = "testdata/actions.sums"

func readSums(t *testing.T) {
	if *rewrite && flag.Lookup("test.run").Value.String() == "" {
		return
	}
	text, err := os.ReadFile(sums)
	if err != nil && !*rewrite {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		test, sum, _ := strings.Cut(strings.TrimSpace(line), " ")
		oracle.stored[test] = sum
	}
}

// summed is what the worlds of t have done so far, nil where its draws are not the same each time. At the end of t that
// has to be what the file says.
func summed(of tb) *uint64 {
	t, ok := of.(*testing.T)
	if !ok || strings.HasPrefix(t.Name(), "Fuzz") {
		return nil
	}
	oracle.Lock()
	defer oracle.Unlock()
	oracle.read.Do(func() { readSums(t) })
	done := oracle.tests[t.Name()]
	if done == nil {
		done = new(uint64)
		oracle.tests[t.Name()] = done
		t.Cleanup(func() { compareSums(t) })
	}
	return done
}

func compareSums(t *testing.T) {
	oracle.Lock()
	defer oracle.Unlock()
	sum := fmt.Sprintf("%016x", *oracle.tests[t.Name()])
	delete(oracle.tests, t.Name())
	if t.Failed() || oracle.stored[t.Name()] == sum {
		return
	}
	if !*rewrite {
		t.Errorf("the engine does something else than before: its actions sum up to %s, not %s; -rewrite takes that in", sum,
			cmp.Or(oracle.stored[t.Name()], "none"))
		return
	}
	oracle.stored[t.Name()] = sum
	var text strings.Builder
	for _, test := range slices.Sorted(maps.Keys(oracle.stored)) {
		fmt.Fprintln(&text, test, oracle.stored[test])
	}
	if err := os.WriteFile(sums, []byte(text.String()), 0o644); err != nil {
		t.Error(err)
	}
}

// sum adds what a step has done. Steps are added up, for some tests take cases in any order; the epochs in a step's
// actions say what came before it.
func (w *world) sum(done ...any) {
	if w.done == nil {
		return
	}
	h := sha256.New()
	for _, one := range done {
		body, err := json.Marshal(one)
		if err != nil {
			body = fmt.Append(nil, err)
		}
		fmt.Fprintf(h, "%T %s\n", one, body)
	}
	*w.done += binary.BigEndian.Uint64(h.Sum(nil))
}

// acts are actions without questions, whose answers are summed where they are made.
func acts(actions []planner.Action) (all []any) {
	for _, action := range actions {
		if _, asks := action.(planner.Answer); !asks {
			all = append(all, action)
		}
	}
	return all
}
