package api

import (
	"time"

	"github.com/sparkpacer/pacer/units"
)

// ProfileSummary is a row of `pacer profiles list`: a profile without its body.
type ProfileSummary struct {
	Name      string        `json:"name"`
	Owner     string        `json:"owner,omitempty"`
	Shared    bool          `json:"shared,omitempty"`
	Taught    bool          `json:"taught,omitempty"`
	Contended bool          `json:"contended,omitempty"`
	Runs      int           `json:"runs"`
	Variants  int           `json:"variants"`
	Stages    int           `json:"stages"`
	Duration  units.Seconds `json:"duration_s"`
	Cores     units.Cores   `json:"cores"`
	Work      units.Work    `json:"core_seconds"`
	// Version is the number of the newest version, 0 where nobody has counted; Pinned that of the one that is planned
	// with instead, 0 for none.
	Version int `json:"version,omitempty"`
	Pinned  int `json:"pinned_version,omitempty"`
}

// Summary is p without its body.
func (p *Profile) Summary() ProfileSummary {
	return ProfileSummary{Name: p.Name, Owner: p.Owner, Shared: p.Shared, Taught: p.Taught, Contended: p.Contended,
		Runs: p.Runs, Variants: 1 + len(p.Variants), Stages: len(p.Stages), Duration: p.Duration, Cores: p.Cores,
		Work: p.Work()}
}

// ProfileHistory are the versions of a profile that are kept, the newest first (`pacer profiles history`).
type ProfileHistory struct {
	V        int              `json:"v"`
	Name     string           `json:"name"`
	Owner    string           `json:"owner,omitempty"`
	Versions []ProfileVersion `json:"versions"`
	// Diff says in words what has changed between two of them, From and To, where that was asked (`pacer profiles diff`).
	Diff *ProfileDiff `json:"diff,omitempty"`
}

// ProfileVersion is one version of a profile.
type ProfileVersion struct {
	Number int `json:"number"`
	// Since is when it became the newest, By the application whose run, or the user who, made it so, and How the word
	// for that.
	Since  time.Time `json:"since,omitzero"`
	How    string    `json:"how,omitempty"`
	By     string    `json:"by,omitempty"`
	Pinned bool      `json:"pinned,omitempty"`
	// Figures of its body.
	Runs     int           `json:"runs"`
	Stages   int           `json:"stages"`
	Duration units.Seconds `json:"duration_s"`
	Work     units.Work    `json:"core_seconds"`
}

// ProfileDiff is what has changed from one version of a profile to another one.
type ProfileDiff struct {
	From int      `json:"from"`
	To   int      `json:"to"`
	Said []string `json:"said"`
}
