// Package webtest holds a planner's HTTP API against its description, openapi.yaml: which routes it documents, and
// whether an answer is what it says. It has a network in memory, too. Tests and benches use both.
package webtest
