package config

// release is Pacer's version; the linker sets it for a release.
var release = "0.1.0-dev"

// Release returns Pacer's version as the planner and `pacer version` say it.
func Release() string { return release }
