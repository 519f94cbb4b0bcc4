// Package driver is an application's driver as values: what Pacer's jar decides in
// Spark's driver. The simulator and the tests that run daemons in one process play
// drivers with it.
//
// [Bindings] decides which executor runs which stage's tasks, and how many:
//
//   - - Gated, a stage that is ready gets idle executors of each node, those with most of its cached blocks. It is one,
//     or as many as the planner says where executors have fewer cores than their node (api.DirectiveExecutor.PerStage).
//     An executor belongs to one stage at a time. A stage that finds none waits, and is served first, in order of job
//     and stage, when one comes free. Others get the executors of a stage whose place was taken at once, beside its
//     tasks that still run (zombies), and those that run nothing of a stage whose tasks are all launched after [Rest].
//   - While a stage runs it takes executors that come free on a node where it misses some. A stage that waits gets one
//     of a stage that has several on a node: an idle one at once. Else the one with the fewest tasks starts no more,
//     and the first that is idle goes over.
//   - Shares: the weight of the stage's tasks is divided over its executors by their
//     nodes' capacity. An executor is admitted to another task while the weight launched
//     there is below its share. An executor that is through with its share while others
//     have tasks left gets a part of the rest. The planner may divide the rest otherwise, each
//     time by a new revision (api.StageShares).
//   - Executors that leave launch nothing more: their rest goes to others, and they are
//     unbound when nothing of the stage runs on them.
//   - Copies: a stage's last task is copied if it runs alone, three times as long as its weight says by the others, and
//     its stage is late for it. The planner's word says that (shares that leave nothing to divide, and any while the
//     task runs alone). The copy goes to an executor that runs nothing, on another node if there is one ([Task.Copy]);
//     that has its weight as well.
//   - Ungated, all stages run on the first (lowest ids) executors of each node, as many as one
//     stage has there, as in stock Spark, without shares.
//   - A stage of another fair scheduler's pool than the planner names is bound to all executors, beside the
//     stages that own them, without shares: which task is next Spark's pools say.
//   - A stage that gets nothing to run for [Stall] although it could has its gate opened.
//
// Weights are whole millionths of the stage's mean task ([MeanWeight]). A stage with
// weights w and launched tasks L has the rest r = sum(w) - sum(w of L). Dividing gives
// executor e with capacity c(e) the share launched(e) + r c(e) / sum(c), each within a
// millionth, together all of it ([Apportion]).
//
// The caller tells what happens to executors, stages and tasks, asks Admits for each task that it could start and
// Task.Copy for each that runs alone. It sends what TakeChanges returns to the planner, and offers executors again when
// TakeFreed says so. It decides itself which task of a stage is next and ends executors that leave once they are idle.
//
// [Conversation] is what driver and planner say to each other. It is a registration, which is repeated when the
// connection came back or the planner knows the application no more. Then come events in order with numbers from 1, one
// request at a time, sent again until they are acknowledged, and heartbeats until the last word. Requests name the
// planner that has answered the last registration: the numbers are between these two. A planner that answers with
// another application id, or asks to recall, has lost its state or is another one: its epochs begin again, and it is
// told what is true. The caller carries requests and answers; times are an argument, and Wake says when Next may have
// something by itself.
//
// StageBindings.scala and PlannerClient.scala are the same in the driver. The transcripts
// in testdata have calls and their results line by line, and both sides replay them:
// `go test ./driver -rewrite` writes them anew, StageBindingsTranscriptTest and
// ConversationTranscriptTest hold the Scala against them. How long PlannerClient waits is
// its own: a heartbeat comes after a second of silence there.
package driver
