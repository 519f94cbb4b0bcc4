// Package waiting keeps where applications wait for memory, and which executors others were asked to give back for
// them. That an application is queued is its api.AppState, which everybody reads; View.Waiting has all that are.
//
// An application that comes and has to wait is last until package queue gives it a place (Placed). Its place ends with
// the fact by which it starts or ends, and leaves for how long it has waited.
//
//	waiting.Of(a).Place           // its place in the line
//	waiting.Of(a).Took(a, now)    // for how long it has waited
//	waiting.Given(view)[a.ID]     // the executors that others give back for it.
//
// The executors that an application gives back are kept with it (Gifts), as of ledger.ExecutorLeaving: they are known
// where it runs on, and where the application that waited has started. A walk finds the gifts for one that waits.
package waiting
