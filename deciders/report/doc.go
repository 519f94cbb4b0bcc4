// Package report says how applications and nodes are, in the values that `pacer apps` and
// `pacer nodes` print, and in words.
//
//	Summary, Detail  an application's row, and all there is to say of it
//	Why, WhyEnded    where its time goes, or went
//	Account, Line    what the line about its end is made of, and that line
//	Taught, Untaught what a run has taught its profile, or why nothing
//	Shadow           what an observed application would have been granted
//	Node             a node's row
//	Run, Runs        what is kept of a run that has ended, and what runs came to (`pacer report`)
//
// All functions are pure: they read what a ledger.View returns and change nothing.
package report
