// Package torture has Pacer go on while everything around it is killed, cut, stopped and
// filled: `make torture` runs real daemons, a NATS server and real Spark in network
// namespaces of their own and disturbs them by a schedule that a seed draws. The server is
// secured by TLS and asks the planner whom it may let in; two planners share their state on it,
// and one stands by.
//
// # Concepts
//
// A Fault is one disturbance: what is done, to whom, for how long. Draw makes a schedule of
// them; the same seed gives the same schedule. What a fault hits at its moment, such as one
// of the executors that run then, is chosen by its Pick.
//
// A Run is all that is known of an application when it has ended. Judge says how it has ended
// and whether its deadline could have been met: for every fault, the work that was left after
// it has to fit the capacity that was left, with Recovery for each lost executor and Margin on
// top. A Tally counts a whole run of the torture; tallies add up over runs in a file.
//
// The cluster itself is in the tests: TestTorture runs for as long as its flag -minutes says,
// TestALostNodeIsLostToItsDriver is a slice of it for `make test`.
//
// # Units
//
// Times of a Run are seconds from the application's submission, CPU times core-seconds,
// capacities cores.
//
// # What the caller must do
//
// Only root can make the namespaces. The machine is otherwise idle, or deadlines are missed
// that could have been met.
package torture
