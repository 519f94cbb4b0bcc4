package sim

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

// historySums has a sum of all that happens in the world of each seed that RunChaos runs: what is to change nothing
// leaves the file as it is. `go test ./sim -run TestInvariants -seeds 300 -rewrite` makes it anew; the commit says why
// that is right.
const historySums = "testdata/histories.sums"

// attachedSums has them of worlds whose executors another cluster manager starts: -run TestAttachedWhatever -seeds 60.
const attachedSums = "testdata/attached.sums"

// compareSums compares the histories of the first seeds with what the file says of them.
func compareSums(t *testing.T, file string, histories []string) {
	t.Helper()
	stored := make(map[string]string)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Log(err)
	}
	for line := range strings.Lines(string(text)) {
		seed, sum, _ := strings.Cut(strings.TrimSpace(line), " ")
		stored[seed] = sum
	}
	var made strings.Builder
	for i, sum := range histories {
		seed := fmt.Sprint(i)
		if fmt.Fprintln(&made, seed, sum); stored[seed] != sum && !rewrites() {
			t.Errorf("seed %d: what happens is something else than before: it sums up to %s, not %s", i, sum,
				cmp.Or(stored[seed], "none"))
		}
	}
	if !rewrites() {
		return
	}
	if err := os.WriteFile(file, []byte(made.String()), 0o644); err != nil {
		t.Error(err)
	}
}

// rewrites reports whether what is golden is made anew (the flag of the scenarios).
func rewrites() bool { return flag.Lookup("rewrite").Value.String() == "true" }
