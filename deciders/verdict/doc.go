// Package verdict says what is thought of a deadline, and whether an application is held
// back for it.
//
//	Judge       an application that comes
//	Again       one whose deadline has changed, from where it stands
//	Repace      a running one: paced again, or let go where turns would make it late
//	Late        one whose deadline has passed
//	Unheard     one whose driver is silent
//
//	feasible    all cores would end it well before its deadline
//	tight       all cores would need more than 0.9 of the time
//	infeasible  even all cores would end it late
//	unknown     there is no profile, or it does not hold
//
// The forecast is for all that the nodes of the application offer. Levers are returned for a change in how an
// application runs. All functions are pure.
package verdict
