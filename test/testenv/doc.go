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
// done), the network (connections inside the process), and machines, JVMs and Spark,
// which are those of package plant behind fake cgroups and the fake runtime.
//
// # The plant
//
// The plant's clock is brought to the test's time whenever somebody acts on it, and every
// 20 ms by a goroutine, which then has each executor go by the quota and the weight in its
// group's files. Pages and usage files are written every 100 ms, as the JVM does. An
// executor takes StartWork core-seconds until it registers with its driver, and a slot some
// milliseconds between two tasks; all else of it is ideal: as much work as cores, at once.
//
// Quantities: core-seconds, seconds of virtual time, cores.
//
// The package is for tests of other packages: everything that fails ends the
// test.
package testenv
