// Package session keeps which part of a session an application is in: the jobs of a group that has a deadline of its
// own (spark.pacer.group.deadline). A session is an application that runs no program to an end: a notebook, a server.
//
//	session.Of(a)     // the part that a is in, with an id of its own; none by the zero value
//	session.Run(v, a) // the part as an application that has ended, for its record and its profile
//	session.OnClock   // an event of the driver, on the clock of the part
//
// While an application is in a part its promise, its profile and its stages are the part's (ledger.RunBegan), so that
// each decider sees an application with a deadline. State has what it was promised as a session, for after the part.
//
// All functions are pure. Times are seconds of the deadline clock of the part, but for State.At.
package session
