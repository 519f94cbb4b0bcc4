// Package planner decides for the cluster: it takes applications in, judges
// their deadlines, gives them executors, and gives each of their stages a
// deadline and cores when it becomes ready.
//
// # Concepts
//
//	Engine      a value with one method, Step(now, Event) []Action
//	Event       what drivers, nodes and people say, and the passing of time (Tick)
//	Action      what has to be saved, published and answered
//	Change      a fact that was recorded: what logs and counters read
//	Turn        actions of one or more steps, in the order in which they take effect
//	Loop        the goroutine around an Engine
//
// # The way of an event
//
//	intake    the event becomes facts of the ledger.Ledger, which holds all that an engine knows; nothing is decided
//	agenda    the table in agenda.go says which deciders are asked: in which order, on which occasion, about which
//	          applications. Their levers become facts, too, with all that follows from these
//	close     the ledger makes what has to be saved and sent of the facts
//
// Deciders read the ledger's View and import nothing of this package. The table is the one place where it
// stands when they are asked:
//
//	of nodes            silent nodes, leaving, machines
//	of an application   hold, judge, heard again, driver to come, driver lost, components lost, part over, conclude,
//	                    driver gone, unheard, killed, pace again, ready, estimated, step response, late, expel,
//	                    unstarted, replace
//	of all there is     shares of news
//	of an application   grow
//	of all there is     fairness, stayed, moved, queue, elastic, shares
//	of attached ones    seek, follow, fewest, granted
//	of all there is     wake, sleep, behind, vacate, lend, lent places, tails, due, reservation, forget
//
// Admission is decided as an application registers, for its reply says that.
//
// # How an application runs
//
//	paced      gated: each running stage owns its executors and has a target
//	recording  ungated, all cores: no deadline, or no profile yet
//	released   ungated, all cores: somebody let it go, or the run left its profile
//	unpaced    ungated, all cores: a streaming application
//	off        ungated, all cores, no profile read or made
//
// A paced one whose deadline is infeasible, has passed or leaves no room for turns has
// neither gate nor targets for as long as that is so. An observed one (api.ModeObserve) is
// planned like a paced one, and its nodes hold nothing back.
//
// # Epochs
//
// A Plan is a node's whole truth, a Directive a driver's. Each has an epoch of one counter,
// and gets a new one only when its content has changed; times left are counted at the moment
// of sending and are no change. A Plan names the planner's store and the start on it: a node
// with executors obeys no planner but theirs.
//
// # The end
//
// A deadline is kept when pacer submit, or the driver without it, has exited. The time
// between the context's stop and that exit is the profile's Exit (endings.go).
//
// # Trouble
//
// Silence ends nothing that works. A driver failed that is silent for DriverSilent after its
// executors have exited by themselves, or for DriverLost while nothing of them moves; while
// something does, its application has all cores until it speaks. An executor on a node that is
// away counts as moving for DriverAway. A node that is silent for NodeLost gets no new executors; those that
// its driver has not seen are given up once that has nothing left to tell. An executor that exits is replaced when its
// driver speaks next, at most Replacing.Most times the pool Within so long, those not counted that nobody
// has started. An executor that its node still starts is not gone by its driver's word: while two planners
// serve, that may mean another one's of the same id. An executor that was asked to leave is stopped once its
// node, which is here, has told of no task of it for a minute. Silence is counted in
// ticks of at most a second in which the planner could be heard, so one that was stopped, or
// cut off from the bus, accuses nobody.
//
// # Other planners
//
// One planner serves on a bus, the one that holds the lease of its state (Lease). It finds what
// planners with another state have left (takeover.go) and follows them on their nodes, by Plans
// that leave out what runs there and is not known here, for a Plan ends what it does not name. An
// application keeps its id, and its executors theirs: those that its nodes tell of are its own,
// those that its driver alone tells of run on a node that is away.
// The numbers of events are between a driver and the planner that has answered its last
// registration; one that comes from another planner says anew what is true, and its application
// goes on unpaced.
//
// # Units
//
// Instants are nanoseconds since the Unix epoch, as a clock that does not step
// shows them; they are saved. Durations of an application are seconds on its deadline
// clock, which started Elapsed before it registered and is the driver's: where the
// planner's clock was set while it was down, what drivers say puts that right (clock.go).
//
// # What the caller must do
//
//   - carry out a step's Save before anything else of that step (Turn does);
//   - hand New all pairs under Prefixes;
//   - send a Tick every TickInterval;
//   - send NodeStatuses in order, and let a node retry a hello refused with
//     KindTransient.
//
// # What it does not do
//
// It steers no core while a stage runs (package node does) and moves nothing that is
// placed.
package planner
