// Package config is the configuration of all of Pacer's programs: where it comes from,
// how its keys are spelled, and what holds without it.
//
// # Concepts
//
// A YAML file (--config, or PACER_CONFIG, or the user's or the machine's default
// file) < environment (PACER_PLANNER_HISTORY for planner.history) < flags. A preset that is
// named in any of them is where the other keys begin. One table (table.go) has the keys with their
// fields, ranges, and whether another value holds live; checks, what a reload takes
// (Config.With), what is printed and the table of docs/configuration.md are made from it.
//
// # Units
//
// Durations and sizes parse in Spark's notation ("90s", "15m", "512m"); a bare number
// is in seconds or bytes.
//
// # What the caller must do
//
// Load reports every fault at once, unknown keys included, and checks the sections
// that every command needs. The sections of the daemons depend on the machine and the
// user: who runs a daemon calls their Validate.
package config
