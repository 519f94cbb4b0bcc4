// Package bus carries Pacer's messages over NATS: the only place that knows
// subjects, codecs and who may use them.
//
// # Subjects
//
//	pacer.v1.app.register          request  driver -> planner   api.RegisterRequest / RegisterReply
//	pacer.v1.app.APP.events        request  driver -> planner   api.Events / EventsReply
//	pacer.v1.app.APP.directive     publish  planner -> driver   api.Directive
//	pacer.v1.node.NODE.hello       request  node -> planner     api.NodeStatus / HelloReply
//	pacer.v1.node.NODE.status      publish  node -> planner     api.NodeStatus
//	pacer.v1.node.NODE.plan        publish  planner -> node     api.Plan
//	pacer.v1.node.NODE.logs        request  cli -> node         api.LogRequest / LogReply
//	pacer.v1.control.VERB          request  cli -> planner      api.ControlRequest / ControlReply
//	pacer.v1.control.plan          request  cli -> planner      api.PlanRequest / PlanReply
//
// VERB is one of apps, app, release, deadline, profiles, profile, profile-put,
// profile-rm, nodes, ping. APP and NODE are single tokens.
//
// Bodies are JSON. A message is at most MaxPayload bytes.
package bus
