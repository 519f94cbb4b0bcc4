// Package daemon wires Pacer's parts into running daemons: Planner, Node, and Up,
// which is both in one process. It decides nothing: engines do.
//
// # The actors
//
// A planner (cmd/planner); all names are actors of one run group or belong to
// one, [n] is how many there are:
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
// Up adds the node to the planner's process; the node's connection is inside it.
//
// # Stopping
//
// A daemon stops when its context ends (cmd/* ends it at SIGTERM and SIGINT) or
// when one of its actors fails, and takes less than 5 s. Actors are interrupted
// in the order in which they were added and those that others need are waited
// for: a node's loop sends its last status while the connection is there, a
// planner outlives its node in Up.
//
//	planner   stops; drivers and nodes go on and come back to the next one
//	node      lifts all quotas but those it yields to and leaves its executors
//	          running; the next node controller takes them over
//	up        ends the applications' executors and removes its cgroups
//
// # The guard
//
// A node controller starts one guard (the same binary, GuardCommand, a session of
// its own; 20 MiB resident, of which all but 3 are the binary's pages) and holds
// the one end of a pipe whose other end the guard reads. A node controller that
// has lifted its quotas says so and the guard ends. When the pipe closes without that (kill -9,
// a crash, a start that failed half-way), the guard waits NodeConfig.Guard for a
// successor, which is whoever holds STATE/node.lock by then, and without one lifts
// the quotas of all groups below the node's cgroup parent: executors that nobody
// steers run at full speed. guardrule.go decides, guardmain.go does. The guard of
// a successor replaces that of its predecessor (STATE/guard.lock has its pid); a
// guard that ends by itself is started again; one line a case is in
// STATE/guard.log. SIGTERM ends a guard only when its node controller is dead, and
// then it lifts at once. A service manager that kills a unit's processes at the
// end of the main one kills the guard too: there the restart is the guard.
//
// # State
//
// STATE/planner.db and STATE/node.db (package store), each with a lock file
// NAME.lock that holds the daemon's pid: two daemons of a kind never share a
// directory. STATE/work has the executors' files and logs (package executor),
// STATE/jar the jar that this binary carries, STATE/archive class-data archives. STATE is /var/lib/pacer for root,
// else $XDG_STATE_HOME/pacer or ~/.local/state/pacer. NodeConfig.History, "" by default,
// gets all that the node's engine is told and answers, by a goroutine beside the
// loop (package replay).
//
// # Configuration
//
// PlannerConfig, NodeConfig and UpConfig are plain structs with a Default and a
// Validate that reports every fault at once. The unit of cores is one CPU, sizes
// are bytes.
//
// # Trust
//
// Everything binds loopback. Another NATS or HTTP address needs a credentials
// file (package bus); HTTP then asks for the operator's password. Executors run
// as NodeConfig.ExecutorUser: by default the user behind sudo, else the one who
// runs the daemon; that this is root is said in a line.
//
// # Logs
//
// One line per decision, with component, node, app, executor and stage; lines of
// one kind are limited to 20 at once and 5 a second, and the next one says how
// many were not logged. Quotas are logged at debug level.
package daemon
