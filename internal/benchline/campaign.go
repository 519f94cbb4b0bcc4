package benchline

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Campaign is a set of lines that belong together, as far as it is there.
type Campaign struct {
	// ID is when it began, Seed that of its order of runs.
	ID   string
	Seed uint64
	// Lines are those that are there.
	Lines []Line
}

// Resume returns the newest campaign of an origin among lines. It is false where
// there is none.
func Resume(lines []Line, origin Origin) (Campaign, bool) {
	var c Campaign
	for _, l := range lines {
		// Ids are times in a form that sorts.
		if l.mixes(origin) && l.Campaign > c.ID {
			c = Campaign{ID: l.Campaign, Seed: l.Seed}
		}
	}
	if c.ID == "" {
		return c, false
	}
	for _, l := range lines {
		if l.mixes(origin) && l.Campaign == c.ID && l.Seed == c.Seed {
			c.Lines = append(c.Lines, l)
		}
	}
	return c, true
}

// Elsewhere are the campaigns of an origin's sources on other machines, the newest of each,
// by falling id. They have the same version of Spark and as many cores.
func Elsewhere(lines []Line, origin Origin) []Campaign {
	var found []Campaign
	seen := []Origin{origin}
	for _, l := range lines {
		there := l.Origin
		if slices.Contains(seen, there) || there.Sources != origin.Sources || there.Spark != origin.Spark || there.Cores != origin.Cores {
			continue
		}
		seen = append(seen, there)
		if c, ok := Resume(lines, there); ok {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b Campaign) int { return strings.Compare(b.ID, a.ID) })
	return found
}

// Begin is a campaign of which nothing is there yet.
func Begin(now time.Time, seed uint64) Campaign {
	return Campaign{ID: now.UTC().Format("2006-01-02T15:04:05Z"), Seed: seed}
}

// Has reports whether a cell's lines are there.
func (c Campaign) Has(cell string) bool {
	return slices.ContainsFunc(c.Lines, func(l Line) bool { return l.Cell == cell })
}

// Runs are the runs of a workload in a variant, in order.
func (c Campaign) Runs(workload, variant string) []Run {
	var out []Run
	for _, l := range c.Lines {
		if l.Run != nil && l.Run.Workload == workload && l.Run.Variant == variant {
			out = append(out, *l.Run)
		}
	}
	return out
}

// Others says which lines of a file are kept and not mixed with those of an origin:
// of other sources, of another machine or Spark, and what is no figure. It is empty
// where there are none.
func Others(lines []Line, faults []Fault, origin Origin) []string {
	older, foreign := 0, map[Origin]int{}
	for _, l := range lines {
		where := l.Origin
		where.Sources = origin.Sources
		switch {
		case !where.mixes(origin):
			foreign[where]++
		case l.Sources != origin.Sources:
			older++
		}
	}
	var out []string
	if older > 0 {
		out = append(out, fmt.Sprintf("%d lines are of other sources than %s: kept, not mixed", older, origin.Sources))
	}
	var from []string
	for where, n := range foreign {
		from = append(from, fmt.Sprintf("%d lines are from elsewhere (%s): kept, not mixed", n, where.Place()))
	}
	slices.Sort(from)
	out = append(out, from...)
	for _, f := range faults {
		out = append(out, fmt.Sprintf("line %d is no figure: %v: kept, not read", f.Number, f.Err))
	}
	return out
}

// None is the version of a Spark or a Java that is not there.
const None = "none"

// mixes reports whether figures of two origins may stand in one campaign. Where one of
// them has no Spark its figures need none.
func (o Origin) mixes(other Origin) bool {
	if o.Spark == None || other.Spark == None {
		o.Spark, other.Spark = None, None
	}
	return o == other
}

// Place is where figures of an origin were measured, sources aside.
func (o Origin) Place() string {
	return fmt.Sprintf("Spark %s, Java %s, Linux %s, %d cores", o.Spark, o.Java, o.Kernel, o.Cores)
}
