package sparklog

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// AtOnce is how many executors ran tasks of one stage at a time at most, of the stage with most. Tasks
// cannot be counted so: the driver takes note of an end when the next one has the slot already.
func (l Log) AtOnce() (most int) {
	type change struct {
		at       int64
		more     int // 1 for a launch, -1 for an end.
		executor api.ExecutorID
	}
	stages := map[int][]change{}
	for _, t := range l.Tasks {
		stages[t.Stage] = append(stages[t.Stage], change{t.Launch, 1, t.Executor}, change{t.Finish, -1, t.Executor})
	}
	for _, changes := range stages {
		// An executor that ends when another is launched makes room for it.
		slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), a.more-b.more) })
		running, busy := map[api.ExecutorID]int{}, 0
		for _, c := range changes {
			before := running[c.executor] > 0
			running[c.executor] += c.more
			switch now := running[c.executor] > 0; {
			case now && !before:
				busy++
			case before && !now:
				busy--
			}
			most = max(most, busy)
		}
	}
	return most
}
