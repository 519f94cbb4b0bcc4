package e2e

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// rewriteNights has TestNightsThatDiffer write what it has seen.
var rewriteNights = flag.Bool("rewrite", false, "write profiles/testdata/nights.json anew")

// nightsFile has the stages of the cases in two nights, as the driver told them.
const nightsFile = "../../profiles/testdata/nights.json"

// nightsCase is a query with its stages in the first night and in the second one.
type nightsCase struct {
	Name   string              `json:"name"`
	Nights [2][]api.StageReady `json:"nights"`
}

// TestNightsThatDiffer runs a program of SQL, Spark as it comes, on tables that differ from one night to the
// next, and shows which queries have other stages then.
func TestNightsThatDiffer(t *testing.T) {
	realenv.RequireAll(t)
	tables := filepath.Join(t.TempDir(), "tables")
	realenv.Stock(t, nights(tables, 1, "make")...)
	s := realenv.StartUp(t)
	var cases [2][]nightsCase
	for n := range cases {
		name := "night-" + strconv.Itoa(n+1)
		run := s.Submit(append([]string{"--pacer-profile", name}, nights(tables, n+1)...)...)
		if *rewriteNights { // What is written is not the answer.
			if code := run.Wait(patience); code != 0 {
				t.Fatalf("exit %d", code)
			}
		} else {
			wantAnswer(t, run, realenv.Results(realenv.Stock(t, nights(tables, n+1)...)))
		}
		app := s.AwaitApp("its end", patience, func(a api.AppDetail) bool { return a.State == api.AppFinished })
		cases[n] = casesOf(t, run.Answer(), app, learnt(t, s, name))
	}
	for i := range cases[0] {
		cases[0][i].Nights[1] = cases[1][i].Nights[1]
		first, second := signatures(cases[0][i].Nights[0]), signatures(cases[0][i].Nights[1])
		t.Logf("%s: %d and %d stages, the second night lacks %d of the first one's", cases[0][i].Name, len(first), len(second), lacks(first, second))
	}
	if *rewriteNights {
		writeNights(t, cases[0])
	}
}

func nights(tables string, night int, more ...string) []string {
	return append([]string{"testdata/nights.py", tables, strconv.Itoa(night)}, more...)
}

// learnt waits for a profile.
func learnt(t *testing.T, s *realenv.System, name string) (p api.Profile) {
	t.Helper()
	s.Await("the profile "+name, patience, func() bool {
		code, out := s.Pacer("profiles", "show", name, "-o", "json")
		return code == 0 && json.Unmarshal([]byte(out), &p) == nil
	})
	return p
}

// casesOf divides the stages of a run among its cases: the profile has what the driver said of each stage, and the
// program has printed whose it is.
func casesOf(t *testing.T, answer string, app api.AppDetail, p api.Profile) (out []nightsCase) {
	t.Helper()
	var ids []int // Of the run's stages, in the profile's order.
	for _, s := range app.Stages {
		if s.Attempt == 0 {
			ids = append(ids, s.Stage)
		}
	}
	if len(ids) != len(p.Stages) {
		t.Fatalf("%d stages ran, the profile has %d", len(ids), len(p.Stages))
	}
	for line := range strings.Lines(answer) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "STAGES" {
			continue
		}
		c := nightsCase{Name: words[1]}
		for i, s := range p.Stages {
			if !slices.Contains(words[2:], strconv.Itoa(ids[i])) {
				continue
			}
			ready := api.StageReady{StageKey: api.StageKey{Stage: ids[i]}, Job: s.Job, Name: s.Name, Signature: s.Signature,
				Lineage: s.Lineage, Query: s.Query, Parents: []int{}, Tasks: s.Tasks, Records: s.Records, Bytes: s.Bytes}
			for _, parent := range s.Parents {
				ready.Parents = append(ready.Parents, ids[parent])
			}
			n := 0
			if strings.HasSuffix(p.Name, "2") {
				n = 1
			}
			c.Nights[n] = append(c.Nights[n], ready)
		}
		out = append(out, c)
	}
	return out
}

func signatures(stages []api.StageReady) (out []string) {
	for _, s := range stages {
		out = append(out, s.Signature)
	}
	return out
}

// lacks counts those of all that are not among others.
func lacks(all, others []string) (n int) {
	left := slices.Clone(others)
	for _, s := range all {
		if i := slices.Index(left, s); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else {
			n++
		}
	}
	return n
}

func writeNights(t *testing.T, cases []nightsCase) {
	t.Helper()
	body, err := json.MarshalIndent(cases, "", " ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(nightsFile), 0o755)
	}
	if err == nil {
		err = os.WriteFile(nightsFile, append(body, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
