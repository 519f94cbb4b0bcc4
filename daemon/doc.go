// Package daemon wires Pacer's parts into running daemons: Planner, Node, and Up, which is
// both in one process. It decides nothing: engines do.
//
// # The actors
//
// A planner (cmd/planner), where [n] is how many there are:
//
//	 drivers [n]   nodes [n]   CLI [n]            Prometheus
//	     |            |          |                    |
//	+----v------------v----------v----+        +------v------+
//	|  NATS server, embedded [1]      |        | HTTP [1]    | /metrics /healthz
//	+----------------+----------------+        +------+------+
//	                 | in process                     | asks for a view
//	+----------------v----------------+               |
//	|  subscriptions of bus [6]       |               |
//	+----------------+----------------+               |
//	                 | queue                          |
//	+----------------v--------------------------------v-----+
//	|  planner.Loop [1]: steps the engine, syncs the store,  |---> planner.db
//	|  then publishes Plans and Directives and replies       |
//	+-------------------------------------------------------+
//
// All that serves is a term (term.go). On a NATS server of one's own the store is a bucket that planners share in its
// JetStream (standby.go). A planner has a term while it holds the lease, and looks at that every 200 ms while it has
// none.
//
// A node controller (cmd/nodecontroller):
//
//	             planner
//	          ^    |    ^ hello, statuses            Prometheus
//	    plans |    v    |                                 |
//	+---------+---------+----+   +-----------+      +-----v-----+
//	|  connection of bus [1] |   | greet [1] |      | HTTP [1]  |
//	+---------+--------------+   +-----+-----+      +-----------+
//	          | newest plan            | asks for a status, brings the first plan
//	+---------v------------------------v----+      +-----------+
//	|  node.Loop [1]: ticks every 0.5 s      |      | prune [1] | old logs
//	+--+----------+-----------+----------+---+      +-----------+
//	   |          |           |          |
//	executor   cgroup      progress    node.db
//	runtime    files       pages
//	(starts and stops beside the loop, one goroutine per executor at work)
//
// In Up the node's connection is inside the planner's process.
//
// # Stopping
//
// A daemon stops when its context ends (SIGTERM, SIGINT, and up by SIGHUP) or one of its actors
// fails, and takes less than 5 s. Actors are interrupted in the order in which they were added, and those that
// others need are waited for.
//
//	planner   stops, and gives the lease back; drivers and nodes go on and come back to the next one
//	node      sends its last status, lifts all quotas but those it yields to, and leaves
//	          its executors running; the next node controller takes them over
//	up        ends the applications' executors and removes its cgroups
//
// # The guard
//
// A node controller starts two guards: the same binary with GuardCommand, each in a session of
// its own, reading a pipe whose other end the node controller holds. Either does the whole work,
// so that quotas are lifted although the node controller and one guard are killed in one moment. A node controller that
// has lifted its quotas says so and the guard ends. When the pipe closes without that (kill -9, a
// crash), the guard waits NodeConfig.Guard for a successor, which holds STATE/node.lock.
// Without one it lifts all quotas below the node's cgroup parent (docs/decisions/011), and puts back what
// was found of other managers' executors (docs/decisions/050).
// In a container all of these end with the node controller. The chart starts the same binary in a container beside
// it, as a guard that watches STATE/node.lock.
//
// A successor's guard replaces its predecessor's (STATE/guard.lock and guard-2.lock have the pids). A guard that
// ends by itself is started again. SIGTERM ends a guard only when its node controller is dead,
// and then it lifts at once. STATE/guard.log has a line where quotas were lifted, could not be, or are a successor's. A
// service manager that kills a unit's other processes kills the guard too: there its restart takes the guard's place.
//
// # State
//
//	STATE/planner.db, node.db  package store; NAME.lock has the daemon's pid and keeps a
//	                           second one out
//	STATE/planner.shared       says that the planner's state is in a bucket, and in which
//	STATE/work                 executors' files and logs (package executor)
//	STATE/attached             what is to be put back of executors that were found
//	STATE/jar                  the jar that this binary carries
//	STATE/archive              class-data archives
//
// STATE is /var/lib/pacer for root, else $XDG_STATE_HOME/pacer or ~/.local/state/pacer.
// NodeConfig.History gets all that the node's engine is told and answers (package replay).
//
// # Configuration
//
// PlannerConfig, NodeConfig and UpConfig are plain structs with a Default and a Validate that
// reports every fault at once. At SIGHUP PlannerDaemon.Reload and NodeDaemon.Reload take what of
// it may change live, which is what With takes.
//
// # Trust
//
// Everything binds loopback. Another NATS or HTTP address needs a credentials file (package
// bus); HTTP then asks for the operator's password. NodeConfig.Users says whom executors run as:
// never root unless it is named; a line says so then. Package executor says what else is taken
// from executors.
//
// # Logs
//
// One line per decision, with component, node, app, executor and stage. Lines of one kind are
// limited to 20 at once and 5 a second; the next one counts those left out. Quotas are logged
// at debug level.
package daemon
