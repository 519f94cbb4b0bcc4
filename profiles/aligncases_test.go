package profiles_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
)

// What adaptive execution does from day to day, and what programs and their data do, stage by stage. A want is
// who each stage is, "-" for new, and what is gone at the end.
func TestWhoAStageIs(t *testing.T) {
	scan, dim := of("scan", 800), of("dim", 4)
	// A join of two tables, sorted: the exchanges 0 to 2, and the result.
	join := sequence(in("join", 0, 0, scan), in("join", 0, 1, dim), in("join", 0, 2, of("smj", 90, 0, 1)),
		in("join", 0, -1, of("sort", 9, 2)), of("write", 70))
	planned := func(s api.ProfileStage) api.ProfileStage {
		s.Signature, s.Lineage = "aqe "+s.Signature, "aqe "+s.Lineage
		return s
	}
	tasks := func(n int, s api.ProfileStage) api.ProfileStage { s.Tasks = n; return s }
	without := func(s api.ProfileStage) api.ProfileStage { s.Bytes, s.Records = api.Unknown, api.Unknown; return s }
	bare := func(stages []api.ProfileStage) []api.ProfileStage { // As a driver of before tells them.
		stages = slices.Clone(stages)
		for i := range stages {
			stages[i].Query = nil
		}
		return stages
	}
	month := sequence(in("month", 0, 0, of("parquet 2026-10", 300)), in("month", 0, -1, of("sum 2026-10", 5, 0)),
		of("write", 70))
	november := sequence(in("month", 0, 0, of("parquet 2026-11", 310)), in("month", 0, -1, of("sum 2026-11", 5, 0)),
		of("write", 70))
	take := sequence(in("take", 0, -1, tasks(1, of("take", 1))), in("take", 0, -1, tasks(4, of("take", 4))), of("write",
		70))
	self := sequence(in("self", 0, 0, of("facts", 500)), in("self", 0, 1, of("facts", 500)),
		in("self", 0, -1, of("join", 80, 0, 1)), of("write", 70))
	pruned := sequence(in("star", 0, 0, of("days", 2)), in("star", 0, 1, of("facts", 600)), in("star", 0, -1, of("join",
		60, 0, 1)))
	commits := sequence(of("append", 40), of("log", 1), of("append", 41), of("log", 1), of("append", 40), of("log", 1))
	cached := sequence(in("fill", 0, -1, of("fill", 300)), in("use", 0, -1, of("memory", 120)), in("use", 1, -1,
		of("memory", 120)))
	for _, c := range []struct {
		name        string
		known, seen []api.ProfileStage
		want, gone  string
	}{
		{"partitions are merged", join,
			sequence(join[0], join[1], tasks(2, planned(join[2])), tasks(1, planned(join[3])), join[4]), "0 1 2 3 4", "[]"},
		{"a skewed partition is split", join,
			sequence(join[0], join[1], tasks(40, without(planned(join[2]))), join[3], join[4]), "0 1 2 3 4", "[]"},
		{"the join is broadcast", join,
			sequence(join[1], join[0], planned(in("join", 0, 2, of("bhj", 90, 1))), planned(join[3]), join[4]),
			"1 0 2 3 4", "[]"},
		{"a side is empty", join,
			sequence(join[1], planned(in("join", 0, -1, of("empty", 0))), join[4]), "1 3 4", "[0 2]"},
		{"an exchange is used again", self,
			sequence(self[0], in("self", 0, -1, of("join", 80, 0)), self[3]), "0 2 3", "[1]"},
		{"partitions are pruned", pruned,
			sequence(pruned[0], in("star", 0, 1, of("facts", 20)), in("star", 0, -1, of("join", 2, 0, 1))), "0 1 2", "[]"},
		{"a limit tries more partitions", take,
			sequence(take[0], take[1], in("take", 0, -1, tasks(16, of("take", 16))), take[2]), "0 1 - 2", "[]"},
		{"a limit has enough at once", take,
			sequence(take[0], take[2]), "0 2", "[1]"},
		{"a table is evicted from the cache", cached,
			sequence(cached[0], cached[1], of("read again", 300), cached[2]), "0 1 - 2", "[]"},
		{"a table is in the cache already", cached,
			sequence(cached[1], cached[2]), "1 2", "[0]"},
		{"the 33rd directory brings a listing job", join,
			sequence(tasks(33, without(of("list", 0))), join[0], join[1], in("join", 0, 2, of("smj", 90, 1, 2)),
				in("join", 0, -1, of("sort", 9, 3)), join[4]), "- 0 1 2 3 4", "[]"},
		{"the tenth commit writes a checkpoint", commits,
			sequence(commits[0], commits[1], commits[2], commits[3], of("checkpoint", 7), commits[4],
				commits[5]), "0 1 2 3 - 4 5", "[]"},
		{"a name has a date", month, november, "0 1 2", "[]"},
		{"a profile of before is known by its lineage", bare(join),
			sequence(join[0], join[1], join[2], join[3], join[4]), "0 1 2 3 4", "[]"},
		{"and by its place", bare(join),
			sequence(join[0], join[1], planned(join[2]), planned(join[3]), join[4]), "0 1 2 3 4", "[]"},
	} {
		if got := profiles.Align(c.known, c.seen); who(got) != c.want || fmt.Sprint(got.Gone) != c.gone {
			t.Errorf("%s: %s, %v gone, want %s, %s", c.name, who(got), got.Gone, c.want, c.gone)
		}
		m := profiles.NewMatcher(api.Profile{Stages: c.known})
		for i := range c.seen {
			ready := readyOf(&c.seen[i])
			if ready.Query != nil {
				q := *ready.Query
				q.Execution = int64(len(q.Shape)*100 + q.Nth)
				ready.Query = &q
			}
			m.Match(ready)
			m.Ended(ready.Stage)
		}
		for i := range c.seen {
			if q := c.seen[i].Query; q != nil {
				m.QueryEnded(int64(len(q.Shape)*100 + q.Nth))
			}
		}
		if m.Gone() == nil && (c.gone == "[]" || c.name == "a table is in the cache already") {
			continue // The first of two jobs: one that comes says little of their order.
		}
		if got := fmt.Sprint(m.Gone()); got != c.gone {
			t.Errorf("%s: while it ran %s were gone, want %s", c.name, got, c.gone)
		}
	}
}
