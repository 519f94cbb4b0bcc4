// Package repro has the list of the sources whose claims the simulators try, for `pacer repro` and the bench.
package repro
