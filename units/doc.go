// Package units holds the quantities that Pacer plans, steers and reports, as
// types: a value says by its type what it counts, and a core never meets a
// byte by accident.
//
//	Cores     CPU capacity or consumption rate, in cores (1 = one core fully used)
//	Work      CPU time, in core-seconds (Cores integrated over time)
//	Bytes     memory or data size, in bytes
//	Records   data size, in records as Spark counts them
//	Rate      processing speed, in records per core-second (the paper's nomRate)
//	Fraction  share of a whole, 0 to 1 unless said otherwise
//	Seconds   a duration as it crosses the wire and appears in files, in seconds
//	Instant   a moment on one monotonic clock, in nanoseconds since its origin
//
// Durations inside the program are time.Duration. Sizes and durations parse and
// print in Spark's notation ("4g" is 4 GiB, "90s", "15m", "500ms", "1h").
//
// The package knows nothing of cgroups: conversion to quota and period happens
// in package cgroup only. All functions are pure and safe for concurrent use.
package units
