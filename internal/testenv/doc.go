// Package testenv is a whole Pacer in one process and in virtual time, for
// tests: a planner with its bus and store, node controllers on fake cgroup trees,
// and drivers that speak the real protocol.
//
//	testenv.Run(t, func(e *testenv.Env) {
//		e.StartPlanner()
//		e.StartNode(testenv.NodeSpec{Name: "n1", Cores: 2})
//		d := e.Submit(testenv.Chain("wordcount", 3, 20))
//		d.Wait()
//	})
//
// # What is real and what is not
//
// Real: package daemon with all it wires: engines, loops, NATS server and
// clients, stores and their files, quota and usage files, progress pages, the
// executor runtime's directories and handles.
//
// Not real: the clock (testing/synctest: a minute passes as fast as its work is
// done), the network (connections inside the process), the machine (Machine: cores
// shared by what wants them, up to each group's quota), the JVMs (executors of
// the fake runtime whose tasks burn core-seconds on the Machine) and Spark
// (Driver: stages, tasks, bindings and events as the scheduler in spark/ makes
// them).
//
// # The plant
//
// One goroutine moves the world in steps of 20 ms. In a step a machine gives its
// cores to the groups that want some, equally (max-min), none more than its quota
// allows; a group's share goes to its running tasks, at most one core each. Pages
// and usage files are written every 100 ms, as the JVM does. An executor takes
// StartWork core-seconds until it registers with its driver.
//
// Quantities: core-seconds, seconds of virtual time, cores.
//
// The package is for tests of other packages: everything that fails ends the
// test.
package testenv
