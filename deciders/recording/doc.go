// Package recording makes a profile of a run, or folds a run into the profile that there
// is.
//
// A run teaches something only if its exit code is known to be 0, its machine was not
// suspended and all its stages are known. The end of a single job does not matter. A stage that failed in a program
// that goes on without it is a stage of what the application does, and takes what it took until then, once. Each stage
// that had all cores all the time teaches its times, each one that was held back its work. A run beside others teaches
// work alone, and so does one that was capped, or whose nodes came or went. Its start and its exit are judged by who
// ran beside them alone, and what it waited in the queue is in none of its times. A run that is like no variant of its
// profile becomes one (profiles.Learn).
//
// A run that fails teaches nothing of what its stages take. But a paced one that fails by itself, while something in it
// took longer than at all cores, is suspected to have failed by pacing. Its program may give a part of its work less
// time than its deadline allows. The next run has all cores, and confirms that or clears it (failed.go).
//
// Record is pure: it reads a ledger.View and returns the profile to store. CPU time is in
// core-seconds.
package recording
