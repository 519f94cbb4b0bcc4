// Package access says what a principal may ask of a planner.
//
// # Concepts
//
// A principal (api.Principal) is who has a credential; the bus tells the planner with each
// request who it is from. A user has one of three roles: view sees everything that is listed,
// submit also registers applications and commands its own ones, operate may do everything. An
// application registers again and says what happens in its driver, a node speaks for itself;
// both are held to that by the bus already.
//
// An application belongs to the user that registered it.
//
// # What the caller must do
//
// Verb comes before anything is looked up; Own once it is known whose application a request is
// about. Both are functions of their arguments.
package access
