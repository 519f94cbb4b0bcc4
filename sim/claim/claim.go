package claim

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

// String has the bounds.
func (b Band) String() string {
	switch {
	case b.Least == nil:
		return fmt.Sprintf("at most %.3g", *b.Most)
	case b.Most == nil:
		return fmt.Sprintf("at least %.3g", *b.Least)
	}
	return fmt.Sprintf("%.3g to %.3g", *b.Least, *b.Most)
}

// Tried is c with what was measured, one value a seed; c.Why goes where the claim holds.
func (c Claim) Tried(values []float64) Claim {
	c.Ours, c.Seeds, c.Least, c.Most = 0, len(values), slices.Min(values), slices.Max(values)
	for _, v := range values {
		c.Ours += v
	}
	c.Ours /= float64(len(values))
	c.Holds = (c.Band.Least == nil || c.Ours >= *c.Band.Least) && (c.Band.Most == nil || c.Ours <= *c.Band.Most)
	if c.Why = cmp.Or(c.Why, "not known"); c.Holds {
		c.Why = ""
	}
	return c
}

// Held counts the claims that hold.
func Held(claims []Claim) int {
	return len(slices.DeleteFunc(slices.Clone(claims), func(c Claim) bool { return !c.Holds }))
}
