package experiment

import (
	"cmp"
	"fmt"
	"slices"
)

// Claim is a figure of a source, and ours.
type Claim struct {
	// Table and Case are where the source has it, Measure what is compared, with its unit.
	Table   string  `json:"table"`
	Case    string  `json:"case"`
	Measure string  `json:"measure"`
	Theirs  float64 `json:"theirs"`
	Says    string  `json:"says,omitempty"` // The source's words, where these are not just the number.
	Band    Band    `json:"band"`
	// Ours is the mean over Seeds values, which range from Least to Most.
	Ours  float64 `json:"ours"`
	Seeds int     `json:"seeds"`
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
	Holds bool    `json:"holds"`
	// Why says why a claim differs, "" where it holds.
	Why string `json:"why,omitempty"`
}

// Band is where our figure has to lie, bounds included; nil is none.
type Band struct {
	Least  *float64 `json:"least,omitempty"`
	Most   *float64 `json:"most,omitempty"`
	Reason string   `json:"reason"`
}

// String has the bounds, "" without any.
func (b Band) String() string {
	switch {
	case b.Least == nil && b.Most == nil:
		return ""
	case b.Least == nil:
		return fmt.Sprintf("at most %.3g", *b.Most)
	case b.Most == nil:
		return fmt.Sprintf("at least %.3g", *b.Least)
	}
	return fmt.Sprintf("%.3g to %.3g", *b.Least, *b.Most)
}

// Tried is c with what was measured, one value a seed; c.Why goes where the claim holds, or has no band. A claim that
// no value tries is as it was.
func (c Claim) Tried(values []float64) Claim {
	if len(values) == 0 {
		return c
	}
	c.Ours, c.Seeds, c.Least, c.Most = Mean(values), len(values), slices.Min(values), slices.Max(values)
	wanted := c.Band.String() != ""
	c.Holds = wanted && (c.Band.Least == nil || c.Ours >= *c.Band.Least) && (c.Band.Most == nil || c.Ours <= *c.Band.Most)
	if c.Why = cmp.Or(c.Why, "not known"); c.Holds || !wanted {
		c.Why = ""
	}
	return c
}

// AtLeast, AtMost and Within are bands with their reason.
func AtLeast(least float64, reason string) Band { return Band{Least: &least, Reason: reason} }

// AtMost is a band with an upper bound alone.
func AtMost(most float64, reason string) Band { return Band{Most: &most, Reason: reason} }

// Within is a band from least to most.
func Within(least, most float64, reason string) Band {
	return Band{Least: &least, Most: &most, Reason: reason}
}

// Around is the band of what differs from theirs by at most that much.
func Around(theirs, by float64, reason string) Band { return Within(theirs-by, theirs+by, reason) }

// Figure is a number of an experiment, seed by seed, and what is claimed of it.
type Figure struct {
	// Name is its name among the figures of the bench.
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"`
	Claim
	// InCells says that the table's cells have it already.
	InCells bool `json:"-"`
}

// NewFigure is a figure with values, one a seed, that a claim is tried with.
func NewFigure(name, unit string, values []float64, c Claim) Figure {
	return Figure{Name: name, Unit: unit, Values: values, Claim: c.Tried(values)}
}

// Claims are those of figures: a source has them, and they have a band.
func Claims(figures []Figure) (all []Claim) {
	for _, f := range figures {
		if f.Table != "" && f.Band.String() != "" {
			all = append(all, f.Claim)
		}
	}
	return all
}

// Held counts the claims that hold.
func Held(claims []Claim) int {
	return len(slices.DeleteFunc(slices.Clone(claims), func(c Claim) bool { return !c.Holds }))
}
