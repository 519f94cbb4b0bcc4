// Package conformance is the suite that every executor runtime has to pass, the
// fake included: what the interface promises, in the order of an executor's
// life. A runtime's own test calls Run with a Harness, that of a runtime which starts nothing
// RunFound. Attacks is what an executor may not do to another application, the node controller and
// what is the node's, for runtimes with processes.
package conformance
