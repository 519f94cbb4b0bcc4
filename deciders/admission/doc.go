// Package admission decides what an application is that comes, and answers what one would
// get. Whether it starts is for package queue.
//
//	Known      the application that a repeated registration means
//	Reclaim    the executors of one that another planner has named
//	Taken      what such a one is
//	Decide     mode and size of a new one, and what it would get if nothing else ran
//	WhatIf     what a deadline would mean for a profile
//
// All functions are pure: they read a ledger.View and return what they want. Errors have
// kinds (api.Error): transient ones may pass by themselves.
package admission
