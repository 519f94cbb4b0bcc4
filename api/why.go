package api

import "github.com/sparkpacer/pacer/units"

// Risk says how an application stands with its deadline, "" where it has none or nothing is known.
type Risk string

const (
	// RiskOK is expected to be in time, or was.
	RiskOK Risk = "ok"
	// RiskTight is expected to be in time with hardly anything left.
	RiskTight Risk = "tight"
	// RiskLate is expected to be late, or was, or has failed.
	RiskLate Risk = "late"
)

// Part names what an application spent time with.
type Part string

// The parts of an application's time, in the order in which they are told. The parts from PartPlanned to PartStages are
// its stages' time.
const (
	PartQueued   Part = "queued"   // It waited for memory.
	PartStarting Part = "starting" // Its driver and executors started, until the first stage was ready.
	// PartPlanned is what its stages were planned to take.
	PartPlanned Part = "as planned"
	// PartHeld is that of these in which they were held back for longer than what came after them left: the
	// application, which is late, would have been in time without that.
	PartHeld Part = "held back too much"
	// PartShort is what they took longer without the cores that they asked for.
	PartShort Part = "short of cores"
	// PartMore is what they took longer because they had more work than in the profile.
	PartMore Part = "more work"
	// PartRepeated is that of repeated stage attempts.
	PartRepeated Part = "repeated attempts"
	// PartUnexplained is what they took longer and nothing that is known explains.
	PartUnexplained Part = "unexplained"
	// PartStages is that of stages of which neither a deadline nor a profile says what they should take.
	PartStages    Part = "stages"
	PartBetween   Part = "between stages"       // The driver was at work, and no stage ran.
	PartAfter     Part = "after the last stage" // Likewise, until the context stopped.
	PartExit      Part = "exit"                 // From the context's stop to the end of the driver's process.
	PartSuspended Part = "suspended"            // The driver's machine was.
)

// Why says where the time of an application went (`pacer why`).
type Why struct {
	V        int    `json:"v"`
	App      AppID  `json:"app"`
	Headline string `json:"headline"`
	Risk     Risk   `json:"risk,omitempty"`
	// Reserve is what it keeps for what nobody foresees; nil where that is nothing.
	Reserve *Reserve `json:"reserve,omitempty"`
	// Parts do not overlap and add up to the time since the submission; one of no time is left out. They are
	// empty where nobody has kept them.
	Parts []WhyPart `json:"parts"`
	// Causes are what made it slower than planned, the largest first, three at most.
	Causes []string `json:"causes,omitempty"`
}

// WhyPart is a part of an application's time.
type WhyPart struct {
	Part Part          `json:"part"`
	For  units.Seconds `json:"s"`
	// The applications that had the cores that it was short of, the most first, three at most (PartShort).
	Who []WhyWho `json:"who,omitempty"`
}

// WhyWho is who had cores that an application asked for; App is "" for what is not Pacer's.
type WhyWho struct {
	App         AppID      `json:"app,omitempty"`
	CoreSeconds units.Work `json:"core_seconds"`
}
