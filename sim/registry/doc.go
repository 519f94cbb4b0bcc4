// Package registry has the one list of experiments that run on the simulators, and the publications whose claims they
// try: `pacer simulate`, `pacer repro`, the tables of the documents and the bench read it.
package registry
