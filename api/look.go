package api

import (
	"time"

	"github.com/sparkpacer/pacer/units"
)

// Changes are what has changed of what a planner knows since a version, for somebody who goes on looking. They stay in
// the planner's process.
type Changes struct {
	Error *Error
	// At is when it is so, Version what to ask with the next time.
	At      time.Time
	Version uint64
	Release string
	// IDs are all applications that there are: those that wait, run and end, and the newest ones of those that have
	// ended. Apps are those of them that have changed, without their submissions, Nodes all nodes.
	IDs   []AppID
	Apps  []AppSummary
	Nodes []NodeSummary
	// Cores is who had the cores in the newest seconds, nil where nobody knows.
	Cores *CoresHistory
}

// TokenRequest says which token is wanted (VerbToken): for how long, 0 for the usual time, and whether it is for
// scrapes, which look only.
type TokenRequest struct {
	For    units.Seconds `json:"for_s,omitempty"`
	Scrape bool          `json:"scrape,omitempty"`
	// Hash is that of a token which a daemon was shown, in hexadecimal: the only part of VerbProve.
	Hash string `json:"hash,omitempty"`
}

// HTTPToken lets whoever has it ask by HTTP as its user may, until a moment, the end of the planner that gave it, or of
// its user's credentials (`pacer auth token`).
type HTTPToken struct {
	Token string    `json:"token"`
	Until time.Time `json:"until"`
	// URL is where the planner answers, as it knows that itself.
	URL string `json:"url"`
}

// How long a token is good: the usual time and the longest one, of those for scrapes too.
const (
	TokenFor, MostTokenFor   = units.Seconds(3600), units.Seconds(24 * 3600)
	ScrapeFor, MostScrapeFor = units.Seconds(90 * 24 * 3600), units.Seconds(400 * 24 * 3600)
)

// WebCode lets whoever has it begin a session on the planner's page, once and within two minutes (`pacer web`).
type WebCode struct {
	Code string `json:"code"`
	// URL is where the page is, as the planner itself knows it.
	URL string `json:"url"`
}
