// Package web tests a planner's page in a browser: real daemons of package testenv in real time, and a chromium. Tests
// wait for states of the planner, which are numbered, and for what is shown, never for a time.
package web
