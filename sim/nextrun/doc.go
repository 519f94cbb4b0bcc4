// Package nextrun draws an application, the profile of its run, and its next run, which differs from
// that by named changes. As it has made the changes, it knows who is whom: how well stages are
// recognised, and what a deadline is worth to an application that has changed, is measured by it.
//
// # Concepts
//
//	program   what an application does: steps, one after another, each of them of actions that run
//	          in threads beside each other
//	action    a SQL query or a job of RDDs: a few stages, the last of which is its result
//	code      what an action is recognised by: actions of one code look the same
//	variant   actions of one code that read the same, as the rounds of a loop do
//	change    what the next run's program has otherwise: Insert, Drop, ...
//	truth     for each stage of the next run the one of the profile that it is, or New
//
// # Who is whom
//
// Nothing tells the actions of one variant apart. The first of them that come are the ones that
// the profile knows, and any annotation of the same stage of the variant is right.
//
// # Units and use
//
// Bytes, core-seconds, seconds. Draw is a function of its source of random numbers.
package nextrun
