package api

import "github.com/sparkpacer/pacer/units"

// Acquaintance says what the profile of an application knows of a stage.
type Acquaintance string

// The evidence that a profile has of a stage.
const (
	StageKnown     Acquaintance = "known"     // The profile has it.
	StageEstimated Acquaintance = "estimated" // The profile lacks it: what it takes is estimated.
	StageNew       Acquaintance = "new"       // The profile lacks it: its own tasks say what it takes.
	StageGone      Acquaintance = "gone"      // The profile has it, and it does not come.
)

// StageMatch is what the profile of its application knows of a stage.
type StageMatch struct {
	Known Acquaintance `json:"known"`
	// Stage is which stage of the profile it is, -1 for one that the profile lacks.
	Stage int `json:"stage"`
	// By is what it is recognised by ("query", "signature", "lineage", "place"), or what its work is
	// estimated from ("kind", "run", "task").
	By string `json:"by,omitempty"`
	// Sure is how likely it is that stage of the profile; 0 for one that the profile lacks, or that is gone.
	Sure units.Fraction `json:"sure,omitempty"`
}
