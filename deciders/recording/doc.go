// Package recording makes a profile of a run, or folds a run into the profile that there
// is.
//
// A run teaches something only if its exit code is known to be 0, its machine was not
// suspended and all its stages are known. What became of single jobs does not matter: a stage
// that failed in a program that goes on without it is a stage of what the application does, and
// takes what it took until then, once. A run at all cores teaches times; one that was
// paced teaches work; one beside others teaches work, however it ran (profiles.Merge,
// MergePaced, MergeContended). One that was capped, or whose nodes came or went, teaches
// work as a paced one does. Its start and its exit are judged by who ran beside them alone,
// and what it waited in the queue is in none of its times. A run that is not like its
// profile replaces it where no deadline was missed for that (profiles.Replace).
//
// Record is pure: it reads a ledger.View and returns the profile to store. CPU time is in
// core-seconds.
package recording
