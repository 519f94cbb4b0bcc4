package api

import "time"

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

// WebCode lets whoever has it begin a session on the planner's page, once and within two minutes (`pacer web`).
type WebCode struct {
	Code string `json:"code"`
	// URL is where the page is, as the planner itself knows it.
	URL string `json:"url"`
}
