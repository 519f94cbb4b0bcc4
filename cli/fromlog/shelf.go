package fromlog

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/eventlog"
	"github.com/sparkpacer/pacer/profiles"
)

// Log is a log on its way into a profile.
type Log struct {
	// Path is where it is, "-" for standard input.
	Path string
	// Fault is why it could not be read, nil where it was.
	Fault error
	eventlog.Application
}

// Became says what came of a log.
type Became struct {
	Path, Name string
	// As is New, Merged, Variant, Known or Skipped; Why is why it is one of the last two.
	As, Why string
}

// Values of Became.As.
const (
	New     = "new"
	Merged  = "merged"
	Variant = "variant"
	Known   = "known"
	Skipped = "skipped"
)

// Shelve makes profiles of logs, the oldest first: by name, or all by one where that is not "". known has what is
// stored under a name, nil for nothing, and is asked once for each. The profiles are in order of their names.
func Shelve(logs []Log, name string, known func(name string) (*api.Profile, error)) ([]api.Profile, []Became, error) {
	slices.SortStableFunc(logs, func(a, b Log) int { return cmp.Compare(a.Start, b.Start) })
	shelf, taught := map[string]*api.Profile{}, map[string]bool{}
	var all []Became
	for i := range logs {
		log := &logs[i]
		b := Became{Path: log.Path, As: Skipped}
		if log.Fault != nil {
			b.Why = log.Fault.Error()
			all = append(all, b)
			continue
		}
		b.Name = cmp.Or(name, Name(&log.Application))
		old, asked := shelf[b.Name]
		if !asked {
			var err error
			if old, err = known(b.Name); err != nil {
				return nil, nil, err
			}
		}
		learnt, as, err := learn(&log.Application, b.Name, old)
		if err != nil {
			b.As, b.Why = cmp.Or(as, Skipped), err.Error()
		} else {
			b.As, old, taught[b.Name] = as, &learnt, true
		}
		shelf[b.Name] = old
		all = append(all, b)
	}
	var made []api.Profile
	for name := range taught {
		made = append(made, *shelf[name])
	}
	slices.SortFunc(made, func(a, b api.Profile) int { return cmp.Compare(a.Name, b.Name) })
	return made, all, nil
}

// learn folds the run of a log into old, nil for none, and says what came of it. A run that old knows teaches it
// nothing.
func learn(app *eventlog.Application, name string, old *api.Profile) (learnt api.Profile, as string, err error) {
	this := fnv.New32a()
	fmt.Fprint(this, app.ID, " ", app.Start)
	run := fmt.Sprintf("%08x", this.Sum32())
	var logs []string
	if old != nil {
		logs = old.Habit.Logs
	}
	if slices.Contains(logs, run) {
		return api.Profile{}, Known, errors.New("a log of this run has taught the profile before")
	}
	p, terms, err := Run(app, name, old)
	if err != nil {
		return api.Profile{}, "", err
	}
	if as = New; old == nil {
		p = profiles.First(p, terms)
	} else {
		founded := false
		if p, founded, err = profiles.Learn(*old, p, terms); err != nil {
			return p, "", err
		}
		as = map[bool]string{true: Variant, false: Merged}[founded]
	}
	p.Habit.Logs = append(slices.Clone(logs[max(0, len(logs)+1-api.MostLogs):]), run)
	return p, as, nil
}
