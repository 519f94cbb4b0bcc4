// Package config is the configuration of all of Pacer's programs: where it comes from,
// how its keys are spelled, and what holds without it.
//
// # Concepts
//
// A YAML file (--config, or PACER_CONFIG, or the user's or the machine's default
// file) < environment (PACER_PLANNER_ALPHA for planner.alpha) < flags. A preset that is
// named in any of them is where the other keys begin. The keys are the fields of
// Config in lower case with hyphens; docs/configuration.md lists them.
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
