package profiles_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
)

// night is one case of testdata/nights.json: TestNightsThatDiffer of test/e2e has recorded it on real Spark.
type night struct {
	Name   string              `json:"name"`
	Nights [2][]api.StageReady `json:"nights"`
}

// Each stage of the second night is that of the first one's same query which does the same, whatever adaptive
// execution has made of both. "2=3" says that the third stage of a case is the fourth of the first night, "+2" that
// it is new, "-4" that the fifth of the first night is gone, and "2=filtered/3" would be another case's.
func TestTheSecondNightIsAlignedWithTheFirst(t *testing.T) {
	body, err := os.ReadFile("testdata/nights.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []night
	if err := json.Unmarshal(body, &cases); err != nil {
		t.Fatal(err)
	}
	var known, seen []api.ProfileStage
	var whose [2][]string
	for _, c := range cases {
		for n, stages := range c.Nights {
			for i, r := range stages {
				s := api.ProfileStage{ID: r.Stage, Job: r.Job, Name: r.Name, Signature: r.Signature, Lineage: r.Lineage,
					Query: r.Query, Parents: r.Parents, Tasks: r.Tasks, Records: r.Records, Bytes: r.Bytes,
					CoreSeconds: 1, Duration: 1}
				whose[n] = append(whose[n], fmt.Sprintf("%s %d", c.Name, i))
				if n == 0 {
					known = append(known, s)
				} else {
					seen = append(seen, s)
				}
			}
		}
	}
	got := map[string]string{}
	add := func(place, text string) {
		name, _, _ := strings.Cut(place, " ")
		got[name] = strings.TrimSpace(got[name] + " " + text)
	}
	a := profiles.Align(known, seen)
	for _, p := range a.Pairs {
		first, second := whose[0][p.Known], whose[1][p.Seen]
		name, i, _ := strings.Cut(second, " ")
		if of, k, _ := strings.Cut(first, " "); of == name {
			add(second, i+"="+k)
		} else {
			add(second, fmt.Sprintf("%s=%s/%s", i, of, k))
		}
	}
	for _, i := range a.New {
		_, k, _ := strings.Cut(whose[1][i], " ")
		add(whose[1][i], "+"+k)
	}
	for _, i := range a.Gone {
		_, k, _ := strings.Cut(whose[0][i], " ")
		add(whose[0][i], "-"+k)
	}
	want := map[string]string{
		"merge": "0=0 1=1 2=2 3=3",
		// It is joined and sorted alike: what sends the small table to all is in place of its exchange.
		"dimension":   "0=0 1=1 3=2 4=3 5=4 6=5 7=6 +2",
		"filtered":    "0=0 1=1 2=3 3=2 4=5 5=6 -4",
		"directories": "0=0 2=1 3=2 4=3 +1", // One job that lists is as good as the other.
		"tries":       "0=0 +1 +2",
		"shown":       "0=0 1=1",
		"cached":      "0=0 1=1 2=2 3=3 4=4 5=5 6=6 7=7 8=8",
		"dated":       "0=0 1=1 2=2 3=3 4=4",
		"skewed":      "0=0 1=1 2=3 3=2 4=4 5=5", // The two sides come in another order.
		"empty":       "0=0 1=1 2=2 3=5 -3 -4",
		"reused":      "0=0 1=1 2=2 3=3 4=4",
		"pruned":      "0=0 1=1 3=2 4=3 5=4 +2",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
