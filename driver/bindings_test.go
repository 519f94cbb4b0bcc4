package driver_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/driver"
	_ "github.com/sparkpacer/pacer/test/draws"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the transcripts in testdata")

// TestBindingsTranscripts plays what is in testdata and holds each result against what
// is written there: by hand for each rule in rules.txt, drawn at random in the others.
// The Scala plays the same files, so a result that is rewritten has to hold there too.
func TestBindingsTranscripts(t *testing.T) {
	if *rewrite {
		write(t, "testdata/bindings/drawn.txt", drawn(false))
		write(t, "testdata/bindings/several.txt", drawn(true))
	}
	files, err := filepath.Glob("testdata/bindings/*.txt")
	if err != nil || len(files) < 2 {
		t.Fatalf("%d transcripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var p player
			if got := replay(t, string(text), p.play); *rewrite {
				write(t, file, got)
			}
		})
	}
}

// replay plays the lines of a transcript and returns them with the results that came.
func replay(t *testing.T, text string, play func(call string) string) string {
	var out []string
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			call, _, _ := strings.Cut(line, " -> ")
			played := play(call)
			if played != line && !*rewrite {
				t.Fatalf("line %d:\n got %s\nwant %s", i+1, played, line)
			}
			line = played
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n") + "\n"
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// drawn is the transcript of worlds from fixed seeds, in which a stage has several executors of a node or not.
func drawn(several bool) string {
	out := "# Calls drawn at random by newWorld (world_test.go), 16 runs of 80 steps.\n"
	for seed := range uint64(16) {
		w := newWorld(rand.New(rand.NewPCG(seed, 0)).IntN, several)
		for range 80 {
			w.step()
		}
		out += "\n" + strings.Join(w.lines, "\n") + "\n"
	}
	return out
}

// TestBindingsHoldInAnyRun lets random things happen to stages and executors. After
// each step no executor is bound to two stages, no stage has more executors on a node than
// it is to have, shares add up, and no executor is idle beside a stage that waits. In the end all tasks
// have run.
func TestBindingsHoldInAnyRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "draw") }, rapid.Bool().Draw(t, "several"))
		check := func() {
			if fault := w.check() + w.stranded(); fault != "" {
				t.Fatalf("%s\n%s", fault, strings.Join(w.lines, "\n"))
			}
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			w.step()
			check()
		}
		w.add("a")
		w.tell()
		for n := 0; len(w.work) > 0; n++ {
			w.offerAll()
			check()
			if !w.end(false) || n > 2000 {
				t.Fatalf("nothing runs and %d stages are left\n%s", len(w.work), strings.Join(w.lines, "\n"))
			}
		}
	})
}

// TestApportionIsExactAndFair holds each part against its exact one.
func TestApportionIsExactAndFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(0, 1e9).Draw(t, "total")
		parts := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0.1, 1, 2.5, 7}), 1, 9).Draw(t, "parts")
		sum, given := 0.0, int64(0)
		for _, p := range parts {
			sum += p
		}
		for i, n := range driver.Apportion(total, parts) {
			exact := float64(total) / float64(len(parts))
			if sum > 0 {
				exact = float64(total) * parts[i] / sum
			}
			if float64(n) < exact-1.001 || float64(n) > exact+1.001 || (sum > 0 && parts[i] == 0 && n != 0) {
				t.Fatalf("part %d of %v gets %d, its exact one is %v", i, parts, n, exact)
			}
			given += n
		}
		if given != total {
			t.Fatalf("%d of %d given", given, total)
		}
	})
}
