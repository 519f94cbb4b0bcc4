// Package admission decides what an application gets that comes, and answers what it would
// get.
//
//	Known      the application that a repeated registration means
//	Elsewhere  that it runs for another planner
//	Decide     mode, seats and verdict of a new one
//	WhatIf     what a deadline would mean for a profile
//
// All functions are pure: they read a ledger.View and return what they want. Errors have
// kinds (api.Error): transient ones may pass by themselves.
package admission
