package profiles

import "github.com/sparkpacer/pacer/units"

// Params are the numbers by which a stage is recognised, and by which is foretold what of a run still comes. Losses are
// nats: one annotation is exp(n) times as likely as another whose loss is n more. They are Pacer's own, and were chosen
// on a generator of changed runs (sim/nextrun), not measured on users' applications
// (docs/decisions/038-the-likeliest-annotation.md).
type Params struct {
	Losses Losses
	Sizes  Sizes
	Choice Choice
	Owed   Owed
}

// Losses are of what a stage of the run and an annotation do not have in common.
type Losses struct {
	// Code is of a stage of a SQL query that is planned otherwise than in the profile; 0.8: adaptive execution changes
	// that from day to day.
	Code float64
	// Lineage is of a stage that is known by its lineage, 1.5, and Site besides of one whose signature others have, 1.
	// Place is of one that is known by what it reads, 1.5. Surer keys come first.
	Lineage, Site, Place float64
	// Query is of a stage that comes in a query of another shape, 2.5. Nth is of a query that is another one of its shape,
	// 0.2: a loop over one query may be longer or shorter.
	Query, Nth float64
	// Name is of another call site, 1.5, and Line of a line that has moved, 0.3 by the logarithm of how far: files are
	// edited.
	Name, Line float64
	// Kind is of a stage of which only one side is of a query; 3.
	Kind float64
	// Parents is of a stage that reads what its annotation does not read, 3, half of it if it reads some of that, too.
	// NewParents is of one that reads what no annotation has written; 1.5.
	Parents, NewParents float64
	// Tasks is of another number of tasks outside of queries; 1.
	Tasks float64
	// Job is of a stage that is not in the job of the profile that others of its job are in; 1.
	Job float64
	// Back is of a stage that comes after what followed it; 1.5. Skip is of one before which others would be left out, 1,
	// and SkipEach by the logarithm of how many, 0.4, MostSkip at most, 3.
	Back, Skip, SkipEach, MostSkip float64
}

// Sizes are how far apart the sizes of a stage and of its annotation may be.
type Sizes struct {
	// Most bounds the loss by size, 6.5, and Only that of a stage whose key no other has, 4.5: its code says
	// enough.
	Most, Only float64
	// Scale is of a stage whose input has grown otherwise than that of the run; 1.
	Scale float64
	// LeastSpread is the least spread of sizes that is believed, 0.04, AtFirst what it is before any stage is known, 0.6,
	// and MostSpread that of most weight, 0.7. LeastWeight is what a new stage counts at least in it; 0.1.
	LeastSpread, AtFirst, MostSpread, LeastWeight float64
	// Ordinary is by which part two annotations may differ in work, and by half of it in size, for it not to matter which
	// of them a stage has; 0.3.
	Ordinary float64
}

// Choice is when a stage is given an annotation, and when it is taken from another one.
type Choice struct {
	// New and AtLast are the losses below which an annotation is likelier than none: while the run goes on, 3.5, and when
	// it is over, 6.2. Only is added where no other annotation has the key; 2.
	New, AtLast, Only float64
	// Change is how much likelier another owner must be than the one that is there; 1.5.
	Change float64
	// LeastSure is how sure a stage of a query must be while the run goes on; 0.6. The next stage of the query will say
	// which query it is, and a wrong one would have them all.
	LeastSure units.Fraction
	// Surely is how sure a match is that says where the run has come to; 0.7.
	Surely units.Fraction
}

// Owed are the shares of earlier runs by which is foretold what a run leaves out and moves
// (docs/decisions/072-what-is-left-out-and-what-is-moved.md).
type Owed struct {
	// LeftOut and Reordered are the least shares of runs that left a leg out, 0.02, and in which legs came in another
	// order, 0.01. Most bounds what earlier runs say, 0.9: the next one may differ. Learnt is a share that is as good as
	// none; 0.001.
	LeftOut, Reordered, Most float64
	Learnt                   units.Fraction
	// Shortened is how likely a run leaves more out than earlier ones did, 0.2, and Section how likely such a run leaves
	// out the leg before one that it has left out, too; 0.5.
	Shortened, Section float64
	// From is how likely it is at least that a leg still comes which counts with its whole work, 0.05: a wrong belief
	// ends a run early, and not late.
	From float64
}

// Numbers returns what planners use.
func Numbers() Params {
	return Params{
		Losses: Losses{Code: 0.8, Lineage: 1.5, Site: 1, Place: 1.5, Query: 2.5, Nth: 0.2, Name: 1.5, Line: 0.3, Kind: 3,
			Parents: 3, NewParents: 1.5, Tasks: 1, Job: 1, Back: 1.5, Skip: 1, SkipEach: 0.4, MostSkip: 3},
		Sizes: Sizes{Most: 6.5, Only: 4.5, Scale: 1, LeastSpread: 0.04, AtFirst: 0.6, MostSpread: 0.7, LeastWeight: 0.1,
			Ordinary: 0.3},
		Choice: Choice{New: 3.5, AtLast: 6.2, Only: 2, Change: 1.5, LeastSure: 0.6, Surely: 0.7},
		Owed:   Owed{LeftOut: 0.02, Reordered: 0.01, Most: 0.9, Learnt: 0.001, Shortened: 0.2, Section: 0.5, From: 0.05},
	}
}

var params = Numbers()
