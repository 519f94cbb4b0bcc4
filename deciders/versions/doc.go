// Package versions keeps the versions of stored profiles: each run that teaches a profile, and each profile that a user
// puts, makes one (profiles.History). It is a facet of profiles, so that versions are saved, restored and removed with
// them, and count for the bounds of the store.
//
// # Concepts
//
//	version  a body that a profile had, with its number, its day, and what made it; the newest is the profile itself
//	pinned   the version that runs are planned with; they go on teaching the newest
//	packed   of a version: in few bytes. The planner's shell packs and no step of its loop does (Packed); until then the
//	         body of a version that has been replaced is kept whole
//
// That a paced run failed, or a run at all cores after it, changes the newest version and makes none.
package versions
