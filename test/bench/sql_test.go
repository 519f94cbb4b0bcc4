package main

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
)

// Each way has its queries once, the drawn orders are none of the others, and six are left out of sixteen.
func TestWaysOfTheQueries(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range sqlWays() {
		for _, order := range w.orders {
			want := sqlNumbers()
			if w.name == "fewer" {
				want = sqlFewer()
			}
			if sorted := slices.Sorted(slices.Values(order)); !slices.Equal(sorted, want) {
				t.Errorf("%s has the queries %v, want %v", w.name, sorted, want)
			}
			if key, _ := json.Marshal([]any{w.kind, w.less, order}); seen[string(key)] {
				t.Errorf("%s is as another way", w.name)
			} else {
				seen[string(key)] = true
			}
		}
	}
	if all, fewer := len(sqlNumbers()), len(sqlFewer()); all-fewer != 6 || len(seen) != 7 {
		t.Errorf("%d of %d queries are left, there are %d orders", fewer, all, len(seen))
	}
}

func TestAnswersAreHeldAgainstOthers(t *testing.T) {
	rows := func(text string) (out [][]any) {
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	const want = `[["a", 1.5, null], ["b", 200000000, "1995-03-05"]]`
	for _, c := range []struct {
		got        string
		ties, same bool
	}{
		{want, false, true},
		{`[["a", 1.5000004, null], ["b", 200000100, "1995-03-05"]]`, false, true},
		{`[["a", 1.500002, null], ["b", 200000000, "1995-03-05"]]`, false, false},
		{`[["a", 1.5, null], ["b", 200000300, "1995-03-05"]]`, false, false},
		{`[["a", 1.5, 0], ["b", 200000000, "1995-03-05"]]`, false, false},
		{`[["a", "1.5", null], ["b", 200000000, "1995-03-05"]]`, false, false},
		{`[["a", 1.5, null], ["b", 200000000, "1995-03-06"]]`, true, false},
		{`[["a", 1.5], ["b", 200000000, "1995-03-05"]]`, false, false},
		{`[["a", 1.5, null]]`, true, false},
		{`[["b", 200000000, "1995-03-05"], ["a", 1.5, null]]`, false, false},
		{`[["b", 200000000, "1995-03-05"], ["a", 1.5, null]]`, true, true},
	} {
		if text := differs(rows(c.got), rows(want), c.ties); (text == "") != c.same {
			t.Errorf("%s, ties %v: %q", c.got, c.ties, text)
		}
	}
	// Any order of rows is one answer where there are ties, and no other number is.
	r := rand.New(rand.NewPCG(7, 0))
	var many [][]any
	for i := range 50 {
		many = append(many, []any{float64(i), r.Float64()})
	}
	mixed := slices.Clone(many)
	r.Shuffle(len(mixed), func(i, k int) { mixed[i], mixed[k] = mixed[k], mixed[i] })
	if text := differs(mixed, many, true); text != "" {
		t.Error(text)
	}
	mixed[7] = []any{mixed[7][0], 2.0}
	if differs(mixed, many, true) == "" {
		t.Error("another number is no difference")
	}
}
