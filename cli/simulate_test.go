package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/fluid"
	mesh "github.com/sparkpacer/pacer/sim/mesh/paper"
	"github.com/sparkpacer/pacer/sim/offers"
	"github.com/sparkpacer/pacer/sim/paper"
)

const smallScenario = `# A small application ends before its deadline.
nodes 2 cores=4
app small head=3s tail=0.2s
  stage a tasks=80 work=80 records=100000
at 0s submit small deadline=1.6x
expect small error 0 to 10
`

// run runs pacer and returns what it says.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	o := newWorld(t).run(t, args...)
	return o.code, o.out, o.err
}

func TestSimulateRunsAScenarioAndReplayAgrees(t *testing.T) {
	path, out := scenario(t, smallScenario), t.TempDir()
	code, stdout, stderr := run(t, "simulate", path, "--out", out)
	if code != command.ExitOK || !strings.Contains(stdout, "A small application ends") || !strings.Contains(stdout, "small") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	for _, ext := range []string{".png", ".svg", ".json", ".jsonl"} {
		if info, err := os.Stat(filepath.Join(out, name+ext)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", ext, err)
		}
	}
	history := filepath.Join(out, name+".jsonl")
	if code, stdout, stderr := run(t, "replay", history); code != command.ExitOK || !strings.Contains(stdout, "recorded actions") {
		t.Errorf("replay: exit %d: %s%s", code, stdout, stderr)
	}
	whole, err := os.ReadFile(history)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(history, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := run(t, "replay", history); code != command.ExitFailure || !strings.Contains(stderr, "line ") {
		t.Errorf("replay of half a history: exit %d: %s", code, stderr)
	}
}

func TestSimulateRunsATable(t *testing.T) {
	code, stdout, stderr := run(t, "simulate", "table4", "--law", "pi", "--seeds", "1", "--only", "pagerank", "-o", "json")
	var table struct{ Cells []paper.Cell }
	if err := json.Unmarshal([]byte(stdout), &table); code != command.ExitOK || err != nil {
		t.Fatalf("exit %d: %v %s", code, err, stderr)
	}
	if len(table.Cells) != 3 || table.Cells[0].Law != "pi" || table.Cells[0].Paper == nil || len(table.Cells[0].Runs) != 1 {
		t.Errorf("%+v", table.Cells)
	}
	if code, stdout, _ := run(t, "simulate", "table4", "--law", "pi", "--seeds", "1", "--only", "pagerank +20"); code != command.ExitOK || !strings.Contains(stdout, "(+0.71%)") {
		t.Errorf("exit %d: %s", code, stdout)
	}
}

// A trace goes through the cases of pace; the figures are kept as those of a table.
func TestSimulateRunsATrace(t *testing.T) {
	path, out := filepath.Join(t.TempDir(), "two.csv"), t.TempDir()
	text := "arrival,time,core,elastic,cores,memory,priority\n0,10,100,3100,1,1g,0\n0,10,100,3100,1,1g,1\n5,10,4000,0,1,1g,0\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := run(t, "simulate", path, "--only", "fifo", "--out", out)
	if code != command.ExitOK || !strings.Contains(stdout, "3 jobs") || !strings.Contains(stdout, "fifo flexible") ||
		strings.Contains(stdout, "sjf") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	for _, ext := range []string{".png", ".svg", ".json"} {
		if info, err := os.Stat(filepath.Join(out, "two"+ext)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", ext, err)
		}
	}
	code, stdout, stderr = run(t, "simulate", path, "--only", "srpt flexible-preemptive", "-o", "json")
	var got struct{ Cells []fluid.Cell }
	if err := json.Unmarshal([]byte(stdout), &got); code != command.ExitOK || err != nil || len(got.Cells) != 1 || got.Cells[0].Runs[0].Refused != 1 {
		t.Errorf("exit %d: %v, %+v %s", code, err, got, stderr)
	}
	code, stdout, stderr = run(t, "simulate", "pace", "--seeds", "1", "--only", "sjf rigid", "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &got); code != command.ExitOK || err != nil || got.Cells[0].Case != "sjf rigid" {
		t.Errorf("exit %d: %v, %+v %s", code, err, got, stderr)
	}
}

// Nothing of offers is drawn; its figures are kept.
func TestSimulateRunsOffers(t *testing.T) {
	out := t.TempDir()
	code, stdout, stderr := run(t, "simulate", "offers", "--only", "5 GB, SparkFG first", "--out", out)
	var stuck string
	for line := range strings.Lines(stdout) {
		if strings.Contains(line, "yes") {
			stuck += strings.Join(strings.Fields(line), " ") + "\n"
		}
	}
	want := "5 GB, SparkFG first 22s 6 CPU, 5376 MB 6 CPU, 5376 MB 0 34 yes 6 CPU, 7680 MB 3 CPU, 3072 MB 6 34 -\n"
	if code != command.ExitOK || stuck != want {
		t.Errorf("exit %d, stuck: %q, want %q\n%s%s", code, stuck, want, stdout, stderr)
	}
	var kept, printed struct{ Cells []offers.Case }
	body, err := os.ReadFile(filepath.Join(out, "offers.json"))
	if err == nil {
		err = json.Unmarshal(body, &kept)
	}
	if files, _ := os.ReadDir(out); err != nil || len(kept.Cells) != 1 || len(files) != 1 {
		t.Errorf("kept %d cases in %d files: %v", len(kept.Cells), len(files), err)
	}
	code, stdout, stderr = run(t, "simulate", "offers", "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &printed); code != command.ExitOK || err != nil || len(printed.Cells) != 10 {
		t.Errorf("exit %d: %v, %d cases %s", code, err, len(printed.Cells), stderr)
	}
}

// Rules that reserve, on a trace made up; bars are drawn.
func TestSimulateReserves(t *testing.T) {
	out := t.TempDir()
	code, stdout, stderr := run(t, "simulate", "tr1", "--seeds", "1", "--cpus", "4500,2250", "--only", "pythia fixed2x 2250", "--out", out)
	if code != command.ExitOK || !strings.Contains(stdout, "20000 jobs") || strings.Count(stdout, "pythia") != 1 {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	for _, ext := range []string{".png", ".svg", ".json"} {
		if info, err := os.Stat(filepath.Join(out, "tr1"+ext)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", ext, err)
		}
	}
	code, stdout, stderr = run(t, "simulate", "tr2", "--seeds", "1", "--only", "oracle fixed2x 4500", "-o", "json")
	var got struct{ Cells []fluid.ReserveCell }
	if err := json.Unmarshal([]byte(stdout), &got); code != command.ExitOK || err != nil || len(got.Cells) != 1 || got.Cells[0].Runs[0].SDR == 0 {
		t.Errorf("exit %d: %v, %+v %s", code, err, got, stderr)
	}
}

// Machines that empty themselves, of a size that is asked for; what they have learnt is drawn.
func TestSimulateEmptiesMachines(t *testing.T) {
	out := t.TempDir()
	code, stdout, stderr := run(t, "simulate", "glap", "--workers", "20", "--seeds", "1", "--only", "20-2 grmp")
	if code != command.ExitOK || !strings.Contains(stdout, "(75 %)") || strings.Contains(stdout, "glap ") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	code, stdout, stderr = run(t, "simulate", "glap-learning", "--workers", "4", "--seeds", "1", "--only", "4-2", "--out", out, "-o", "json")
	var got struct{ Cells []mesh.GLAPCell }
	if err := json.Unmarshal([]byte(stdout), &got); code != command.ExitOK || err != nil || len(got.Cells) != 1 || len(got.Cells[0].Runs[0].Similarity) != 51 {
		t.Errorf("exit %d: %v, %+v %s", code, err, got, stderr)
	}
	for _, ext := range []string{".png", ".svg", ".json"} {
		if info, err := os.Stat(filepath.Join(out, "glap-learning"+ext)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", ext, err)
		}
	}
}

func TestSimulateRefusesInOneLine(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.csv")
	if err := os.WriteFile(bad, []byte("arrival,time,core,elastic,cores,memory,priority\n0,-1,1,0,1,1g,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	hawk := filepath.Join(t.TempDir(), "hawk.txt")
	if err := os.WriteFile(hawk, []byte("0 1 3 3\n1 2 3 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"neither a scenario file nor one of table4":            {"simulate", "nothing"},
		`--law "bang": want one of`:                            {"simulate", "table4", "--law", "bang"},
		"--seeds is 0":                                         {"simulate", "table4", "--seeds", "0"},
		`unknown word "sede"`:                                  {"simulate", scenario(t, "# p\nsede 1\n")},
		"a scenario does not take --seeds: it is for table4, ": {"simulate", scenario(t, smallScenario), "--seeds", "2"},
		"table4 has no such case":                              {"simulate", "table4", "--seeds", "1", "--only", "nothing"},
		"pace has no such case":                                {"simulate", "pace", "--only", "nothing"},
		"pace does not take --law: it is for table4":           {"simulate", "pace", "--law", "pi"},
		"read the trace: open none.csv":                        {"simulate", "none.csv"},
		"offers has no such case":                              {"simulate", "offers", "--only", "nothing"},
		"unknown does not take --only: it is for ":             {"simulate", "unknown", "--only", "pythia"},
		"tr1 has no such case, want a part of one's name: RULE DEADLINES CPUS, of pythia, justice, oracle, fs, fs-reactive; fixed1x": {"simulate",
			"tr1", "--only", "nobody"},
		"--cpus is [0]: want numbers from 1":                                                   {"simulate", "tr1", "--cpus", "0"},
		"pace does not take --full: it is for tr1, tr2":                                        {"simulate", "pace", "--full"},
		"glap has no such case, want a part of one's name: MACHINES-RATIO POLICY":              {"simulate", "glap", "--only", "nobody"},
		"glap does not take --jobs: it is for peacock, ":                                       {"simulate", "glap", "--jobs", "5"},
		"--switch: unknown switch \"hops\": want one of demand jobs|work, ":                    {"simulate", "peacock", "--switch", "hops 1"},
		"peacock-hops has no such case, want a part of one's name: TRACE LOAD%":                {"simulate", "peacock-hops", "--only", "nobody"},
		"hawk.txt:2: tasks \"2\" and 1 durations: want one for each":                           {"simulate", "peacock", "--trace", hawk},
		"read the trace: open none.txt":                                                        {"simulate", "peacock", "--trace", "none.txt"},
		"pace does not take --workers: it is for peacock, ":                                    {"simulate", "pace", "--workers", "5"},
		"--workers is [0]: want numbers from 1":                                                {"simulate", "glap", "--workers", "0"},
		"offers does not take --seeds: it is for ":                                             {"simulate", "offers", "--seeds", "2"},
		"offers does not take --law: it is for ":                                               {"simulate", "offers", "--law", "pi"},
		"sharing, eq21, pace, pace-sizes, tr1, tr2, zoe, unknown, offers, attached, peacock, ": {"simulate", "offer"},
		"bad.csv:2: time \"-1\": want a number":                                                {"simulate", bad},
		"accepts 1 arg(s), received 0":                                                         {"simulate"},
		"a scenario runs under one law":                                                        {"simulate", scenario(t, smallScenario), "--law", strings.Join(sim.Laws(), ",")},
		"accepts 1 arg(s), received 2":                                                         {"replay", "a", "b"},
	} {
		usage := command.ExitUsage
		if strings.Contains(want, "none.") {
			usage = command.ExitNoInput
		}
		if code, _, stderr := run(t, args...); code != usage || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
	}
}

// scenario writes a scenario's file and returns its path.
func scenario(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scenario")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
