// Package planner decides for the cluster: it takes applications in, judges
// their deadlines, gives them executors, and gives each of their stages a
// deadline and cores when it becomes ready.
//
// # Concepts
//
// An Engine is a value with one method, Step(now, Event) []Action. Events are
// what drivers, nodes and the command line say, and the passing of time (Tick);
// Actions are what has to be saved, published, answered and logged. It has no
// clock, goroutine or I/O. A Loop is the goroutine around it.
//
// A Plan is a node's whole truth, a Directive a driver's: each with an epoch. The
// engine works out what they should say after every event and gives them a new
// epoch only when that has changed. Times left are counted at the moment of
// sending, which the Plan says, and do not count as a change: a node anchors them on
// its own clock when it first sees a target's Rev. One counter serves all epochs, so
// they grow whatever happens to a node's or an application's own record.
//
// A Plan names the planner's store and the start on it (Config.Identity, term), and a
// node with executors obeys no planner but theirs: one that has lost its state, or a
// second one on the bus, stops nothing. It puts nothing there either until they have
// ended.
//
// # How an application runs
//
//	paced      gated: each running stage owns its executors and has a target
//	recording  ungated, all cores: no deadline, or no profile yet
//	released   ungated, all cores: by `pacer release`, or because the run left
//	           its profile
//	unpaced    ungated, all cores: a streaming application
//	off        ungated, all cores, no profile read or made: spark.pacer.mode=off
//
// With spark.pacer.mode=observe an application is judged, scheduled and given
// targets like a paced one (gated, so that a grant means a stage), but its nodes
// hold nothing back: it has all cores, its run counts as one at all cores in its
// profile, and the grants that the nodes report are what it would have had.
//
// Released and unpaced applications stay so. A paced one whose deadline is infeasible,
// has passed or leaves no room for turns has no gate and no targets, so all cores, and
// its stages run side by side; a new deadline (`pacer deadline`) may bring both back,
// and so may work that is done faster than the profile says: 3 % of the time left have
// to be spare at all cores, 5 % for turns. `pacer apps` calls that released, too.
//
// # Planning
//
// Equations are those of Baresi, Guinea, Leva and Quattrocchi, "Fine-grained
// Dynamic Resource Allocation for Big-Data Applications" (IEEE TSE), section 4,
// as package dag has them. When a stage becomes ready it is matched to its
// annotation (package profiles) and
//
//	deadline_s   Eq 1-3 with the time really spent, driver gaps and tail taken off
//	work, records  the annotation scaled to what the parents really wrote
//	estdCores_s  Eq 6;  initCores per executor: Eq 7 on its share of the tasks,
//	             never more than its node offers
//
// Stages of one batch are planned in order of id; each event plans with the time
// that is really left. Before the last stage alpha of the deadline is planned with,
// which leaves a reserve; the last stage gets all that is left until just before
// the deadline (Config.Aim, package dag); one too short to be steered starts with all
// cores. A running stage keeps its deadline, and its targets their Revs, unless its
// bindings or the application's deadline change: then what is left of it is planned
// like a stage, from the progress that the nodes report.
//
// A further attempt of a stage counts for the part of the tasks that it repeats, in
// deadlines, cores and the predicted end alike (course). A stage that failed, or that
// reads what is being repeated, is still to come with what it has not done. A stage
// that the driver has skipped is not: what runs after it is ready.
//
// The verdict at registration is dag's forecast over all that the live nodes
// offer, whatever else runs: contention is the supervisors' business.
//
// Step response (`pacer identify`): on request a running stage's targets hold its
// executors at two levels, one after the other, for the samples to show its plant. A
// hold ends by itself 2 s after its level, should no Plan end it.
//
// Hand-over (design 10.7): every tick the executors of a running paced stage are
// looked at. How fast each could be is what it does for a core-second times the
// cores it uses and could use: its node's free ones, none if it gets less than it
// asks for. If one cannot finish its share in time and others can do more,
// handOver divides the rest anew; the Directive tells the driver (StageShares),
// whose EventStageBound gives the nodes new targets. At most once in 4 s for a
// stage, and not for less than a task or 0.5 % of the stage.
//
// Pool: executors on every live node or, with MaxNodes, on so many of the least
// committed ones (leastCommitted): those whose memory has room beside the others'
// executors, then those with the most cores for each of their applications. Per
// node as many executors as the DAG is wide, at most MaxPool, when paced; else one.
// With Config.Branches they may be fewer (shape), decided once, at registration: then
// stages that could run side by side take turns. Each executor beside the first one
// costs its start and what the first stage on it compiles, which dag.Choose weighs
// against the deadline. Where turns leave no room the gate opens, at registration or as
// soon as turns would miss the deadline (loosen); once there is room and one stage is
// open it closes (tighten). Verdict, deadlines and cores are
// worked out for the executors that there are (params): a stage that is ready and
// finds none free has a deadline and no target, keeps its part of the time in those of
// the others, and is planned anew when the driver binds it to the next one freed.
// An executor that exits is replaced on its node when the driver speaks next (executors also exit when their driver dies), at most Replacements
// times the pool in ReplacementWindow.
//
// # Nodes that come and go
//
// A node that joins gets executors of running applications, as many as they
// would have got there at their registration, when their drivers speak next; with
// MaxNodes only of those that are on fewer nodes than that. A
// node that drains gets no new ones, and those that it has are told to leave
// (Directive) once their application has others that are up elsewhere: until then
// they stay, so that nothing is lost. The driver binds no stage to an executor
// that leaves, Spark ends it after its tasks with its blocks moved, and it is not
// replaced; after a minute without a stage its node stops it. A task that reads from it
// at that moment is run again: Spark tells running tasks no new places.
//
// # The end
//
// A deadline is the caller's: it is kept when pacer submit, or the driver without it,
// has exited. A driver says when its context stops; its executors are stopped then, and
// its exit is waited for (exit.go): pacer submit's report, else the last word of the
// driver's shutdown hook. With neither, after ExitSilent of silence or ExitWait in all, the
// application ended at its stop, and EndedBy says so. What passes between the two is the
// profile's Exit, which is planned like the tail.
//
// # Recording
//
// A run whose exit code is known to be 0 (pacer submit reports it, or its driver's last
// word proves it) becomes the profile of its name if there is none, provided it had all
// cores all the time and no node joined or drained. Later
// ones at all cores are merged, or replace the profile if they have another shape
// and no deadline was missed because of it. A clean paced run that matched its
// profile to the end merges what does not depend on the cores: records, CPU time,
// gaps (a throttled run uses the same CPU time per record, design 10.6); not if its
// CPU time is more than twice off, which tells of another application under the
// name.
// Times count only if the run was alone (contended): beside applications that used more
// than 5 % of its cores' time it teaches its work and sizes. Executors teach what their
// start takes, and those that a stage found cold what warming up does.
//
// # Trouble
//
// A driver that is silent for DriverSilent with no executor alive, or for
// DriverLost in any case, has failed. A node that is silent for NodeLost gets no
// new executors; those that it has count until their driver says otherwise, but
// no hand-over counts on them, and such as no driver has seen are given up. A
// second incarnation of a node's name is told to try again while the first one
// may still be there, and refused once that has spoken. Silence is counted in
// ticks of at most a second, so a planner that was stopped accuses nobody.
//
// # Units
//
// Instants are nanoseconds since the Unix epoch, as a clock that does not step
// shows them; they are saved, so the clock has to survive a restart. Durations of
// an application are seconds on its deadline clock, which started Elapsed before
// it registered. Work is core-seconds.
//
// # What the caller must do
//
//   - carry out a step's Save before anything else of that step (Loop does);
//   - hand New all records under Prefixes;
//   - send a Tick every 250 ms;
//   - send NodeStatuses in order, and let a node retry a hello refused with
//     KindTransient.
//
// # What it does not do
//
// It steers no core while a stage runs (package node does), starts no process and
// knows no network. It does not move what is placed: who came first stays where
// it is.
//
// # Cost
//
// A driver's events cost what their application has executors and open stages, a
// status what its node has: neither walks all nodes nor all applications (tenant.go
// keeps who is where). A tick, a registration and a request of the command line may.
package planner
