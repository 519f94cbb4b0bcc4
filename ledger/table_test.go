package ledger_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// row says of a fact, which may follow in a busy ledger, what that shows before and after, and when it is impossible.
type row struct {
	fact          ledger.Fact
	before, after string
	// shows is nil of a fact of which nothing can be asked.
	shows      func(v ledger.View) any
	impossible never
}

// never are facts that cannot follow in a busy ledger, by why.
type never map[string]ledger.Fact

// inApp shows something of an application, that of a stage or of an executor of it.
func inApp(id api.AppID, shows func(a *ledger.App) any) func(ledger.View) any {
	return func(v ledger.View) any { return shows(v.App(id)) }
}

func inStage(id api.AppID, shows func(s *ledger.Stage) any) func(ledger.View) any {
	return func(v ledger.View) any { return shows(v.App(id).Stages[key]) }
}

func inExecutor(id api.AppID, x api.ExecutorID, shows func(x *ledger.Executor) any) func(ledger.View) any {
	return func(v ledger.View) any { return shows(v.App(id).Executor(x)) }
}

func inNode(name string, shows func(n *ledger.Node) any) func(ledger.View) any {
	return func(v ledger.View) any { return shows(v.Node(name)) }
}

func gone(x *ledger.Executor) any  { return x.Gone }
func there(x *ledger.Executor) any { return x != nil && !x.Gone }
func targets(s *ledger.Stage) any  { return len(s.Targets) }
func targetOf(s *ledger.Stage) any { return s.Targets[0].Executor }
func stateOf(a *ledger.App) any    { return a.Outcome.State }
func pending(a *ledger.App) any    { return fmt.Sprintf("%q", a.Tenant.Pending) }
func detail(id api.AppID, state api.AppState) api.AppDetail {
	return api.AppDetail{AppSummary: api.AppSummary{ID: id, State: state}}
}

// rows are those of all facts, in the order of the files that have them.
func rows() []row {
	const second, third, attachedApp = api.AppID("app-2"), api.AppID("app-3"), api.AppID("app-10")
	nan, tight := math.NaN(), ledger.Judgement{Verdict: api.VerdictTight}
	perhaps := ledger.Judgement{Verdict: "perhaps"}
	target := func(executor api.ExecutorID, node string) []ledger.Target {
		return []ledger.Target{{Node: node, StageTarget: api.StageTarget{Executor: executor, Weight: 4, Tasks: 4, Work: 9}}}
	}
	attach := func(id api.AppID, x api.ExecutorID, node string) ledger.ExecutorAttached {
		return ledger.ExecutorAttached{App: id, ID: x, Node: node, Attached: ledger.Attached{Host: "h", Cores: 2}}
	}
	otherExtra, noExtra := extra(), extra()
	otherExtra.Stage.ID, noExtra.Stage.CoreSeconds = 9, 0
	return []row{
		{ledger.Registered{ID: "app-4", Serial: 11}, "false", "true", func(v ledger.View) any { return v.App("app-4") != nil }, never{
			"it has no id":                      ledger.Registered{Serial: 11},
			"it is there":                       ledger.Registered{ID: app, Serial: 11},
			"the number was given":              ledger.Registered{ID: "app-4", Serial: 10},
			"there is no such profile":          ledger.Registered{ID: "app-4", Serial: 11, Promise: ledger.Promise{Profile: "none"}, Matched: true},
			"its heap is less than none":        ledger.Registered{ID: "app-4", Serial: 11, Tenant: ledger.Tenant{Launch: api.Launch{Heap: -1}}},
			"its deadline is no number":         ledger.Registered{ID: "app-4", Serial: 11, Promise: ledger.Promise{Deadline: units.Seconds(nan)}},
			"its seats are on no node":          ledger.Registered{ID: "app-4", Serial: 11, Seats: &ledger.Seats{Nodes: []string{"z"}}},
			"another manager has its executors": ledger.Registered{ID: "app-4", Serial: 11, Tenant: ledger.Tenant{Launch: api.Launch{Attach: &api.Attach{}}}, Seats: &ledger.Seats{Nodes: []string{"a"}}},
		}},
		{ledger.SerialTaken{Serial: 11}, "10", "11", func(v ledger.View) any { return v.Serial() }, never{
			"the number was given": ledger.SerialTaken{Serial: 10}}},
		{ledger.Heard{App: app}, "1s", "0s", inApp(app, func(a *ledger.App) any { return a.Clocks.Silent }), nil},
		{ledger.EventTaken{App: app, Seq: 9}, "0", "9", inApp(app, func(a *ledger.App) any { return a.Marks.AckedSeq }), nil},
		{ledger.Judged{App: app, Judgement: tight}, "", "tight", inApp(app, func(a *ledger.App) any { return a.Promise.Verdict }), never{
			"there is no such verdict":  ledger.Judged{App: app, Judgement: perhaps},
			"it ends at no time at all": ledger.Judged{App: app, Judgement: ledger.Judgement{Verdict: api.VerdictTight, Earliest: units.Seconds(nan)}}}},
		{ledger.DeadlineGiven{App: app, Deadline: 50}, "100", "50", inApp(app, func(a *ledger.App) any { return float64(a.Promise.Deadline) }), never{
			"it is nothing": ledger.DeadlineGiven{App: app}}},
		{ledger.GateSet{App: app, Gate: ledger.Gate{Late: true}}, "false", "true", inApp(app, func(a *ledger.App) any { return a.Promise.Late }), nil},
		{ledger.ModeSet{App: app, Mode: ledger.Released}, "true", "false", inApp(app, func(a *ledger.App) any { return a.Paced() }), nil},
		{ledger.Capped{App: app, Cores: 2}, "0", "2", inApp(app, func(a *ledger.App) any { return float64(a.Tenant.Cap) }), never{
			"it is less than none": ledger.Capped{App: app, Cores: -1}}},
		{ledger.PacingChanged{App: app, Pacing: "paced", Why: "it has to be"}, "", "", nil, never{
			"it runs otherwise": ledger.PacingChanged{App: app, Pacing: "observed"}}},
		{ledger.TargetsDropped{App: app}, "1", "0", inStage(app, targets), nil},

		{attach(attachedApp, "2", "attaching"), "0", "1", func(v ledger.View) any { return len(v.Allocations("attaching")) }, never{
			"the application is not there":   attach("nobody", "2", "attaching"),
			"nodes serve it":                 attach(app, "3", "attaching"),
			"the node starts executors":      attach(attachedApp, "2", "a"),
			"there is no such node":          attach(attachedApp, "2", "z"),
			"it is no number":                attach(attachedApp, "driver", "attaching"),
			"it is beyond all":               attach(attachedApp, "999999", "attaching"),
			"it is far beyond those known":   attach(attachedApp, "90000", "attaching"),
			"it has less than no cores":      ledger.ExecutorAttached{App: attachedApp, ID: "2", Attached: ledger.Attached{Cores: -1}},
			"it is observed though served":   placement.AttachedObserved{OfApp: ledger.OfApp{App: app}, Because: "so"},
			"another manager replaces those": ledger.ReplacementSent{App: attachedApp, ID: "1", Lost: "attaching", Node: "attaching"}}},
		{ledger.RunBegan{App: second, By: 1, Promise: ledger.Promise{Profile: "q", Deadline: 30, Mode: ledger.Paced}, Matched: true}, "p 100 1", "q 30 0", inApp(second, func(a *ledger.App) any {
			return fmt.Sprint(a.Promise.Profile, " ", float64(a.Promise.Deadline), " ", len(a.Order))
		}), never{
			"it is over":                ledger.RunBegan{App: third},
			"there is no such profile":  ledger.RunBegan{App: app, Promise: ledger.Promise{Profile: "none"}, Matched: true},
			"its deadline is no number": ledger.RunBegan{App: app, Promise: ledger.Promise{Deadline: units.Seconds(nan)}}}},
		{ledger.RunArchived{App: app, Detail: detail("app-9", api.AppFinished)}, "false", "true", func(v ledger.View) any { return v.EndedApp("app-9") != nil }, never{
			"it is not there":      ledger.RunArchived{App: "nobody", Detail: detail("app-9", api.AppFinished)},
			"it is one that runs":  ledger.RunArchived{App: app, Detail: detail(second, api.AppFinished)},
			"its detail runs":      ledger.RunArchived{App: app, Detail: detail("app-9", api.AppRunning)},
			"the run is another's": ledger.RunArchived{App: app, Detail: detail("app-9", api.AppFinished), Run: ledger.Run{App: app}}}},
		{ledger.ClockRead{App: app, Ahead: 7}, "3", "10", func(v ledger.View) any { return float64(v.App(app).At(v.Now())) }, never{
			"it is ahead for ever": ledger.ClockRead{App: app, Ahead: units.Seconds(math.Inf(1))}}},

		{ledger.Refused{Detail: detail("app-9", api.AppRefused)}, "false", "true", func(v ledger.View) any { return v.EndedApp("app-9") != nil }, never{
			"it runs":              ledger.Refused{Detail: detail(app, api.AppRefused)},
			"it has failed":        ledger.Refused{Detail: detail("app-9", api.AppFailed)},
			"the run is another's": ledger.Refused{Detail: detail("app-9", api.AppRefused), Run: ledger.Run{App: app}}}},
		{ledger.Archived{App: third, Detail: detail(third, api.AppFinished)}, "true", "false", func(v ledger.View) any { return v.App(third) != nil }, never{
			"it runs":                 ledger.Archived{App: app, Detail: detail(app, api.AppFinished)},
			"the detail is another's": ledger.Archived{App: third, Detail: detail(app, api.AppFinished)},
			"its detail runs":         ledger.Archived{App: third, Detail: detail(third, api.AppRunning)},
			"the run is another's":    ledger.Archived{App: third, Detail: detail(third, api.AppFinished), Run: ledger.Run{App: app}}}},
		{ledger.EndedAmended{Detail: detail("app-0", api.AppFailed)}, "refused", "failed", func(v ledger.View) any { return v.EndedApp("app-0").Detail.State }, never{
			"it is no history": ledger.EndedAmended{Detail: detail(app, api.AppFailed)}}},
		{ledger.Anew{App: "app-12"}, "false", "true", inExecutor("app-12", "1", gone), never{
			"its driver is no component": ledger.Anew{App: app}, "it is over": ledger.Anew{App: third}}},
		{ledger.DriverCame{App: "app-12", Name: "q", Promise: ledger.Promise{Mode: ledger.Recording}}, "p", "q", inApp("app-12", func(a *ledger.App) any { return a.Name }), never{
			"no driver is to come":     ledger.DriverCame{App: app},
			"there is no such profile": ledger.DriverCame{App: "app-12", Promise: ledger.Promise{Profile: "none"}, Matched: true},
			"there is no room":         ledger.DriverCame{App: "app-12", Tenant: ledger.Tenant{Launch: api.Launch{Heap: 1 << 40}}}}},
		{ledger.PutBehind{App: second, Why: "not all can be in time"}, "false", "true", inApp(second, func(a *ledger.App) any { return a.Marks.Behind }), never{
			"it is behind all": ledger.PutBehind{App: "app-11", Why: "so"}}},

		{ledger.ExecutorUp{App: app, ID: "2"}, "false", "true", inExecutor(app, "2", func(x *ledger.Executor) any { return x.Registered }), nil},
		{ledger.ExecutorUnseen{App: app, ID: "1"}, "true", "false", inExecutor(app, "1", func(x *ledger.Executor) any { return x.Registered }), never{
			"it is gone": ledger.ExecutorUnseen{App: "app-6", ID: "1"}}},
		{ledger.ExecutorLost{App: app, ID: "1", Reason: "it exited"}, `[]`, `["a"]`, inApp(app, pending), never{
			"it is gone": ledger.ExecutorLost{App: "app-6", ID: "1"}}},
		{ledger.ExecutorLeaving{App: app, ID: "1"}, "false", "true", inExecutor(app, "1", func(x *ledger.Executor) any { return x.Leaving }), never{
			"nobody waits for it":     ledger.ExecutorLeaving{App: app, ID: "1", For: app, Node: "a"},
			"it is elsewhere":         ledger.ExecutorLeaving{App: app, ID: "1", For: "app-5", Node: "b"},
			"it is the last that can": ledger.ExecutorLeaving{App: "app-8", ID: "1", For: "app-5", Node: "a"},
			"it leaves":               ledger.ExecutorLeaving{App: "app-8", ID: "2", For: "app-5", Node: "b"}}},
		{ledger.ExecutorIdle{App: app, ID: "1", For: time.Second}, "0s", "1s", inExecutor(app, "1", func(x *ledger.Executor) any { return x.Idle }), nil},
		{ledger.StageAdded{App: second, Stage: key, Extra: extra()}, "false", "true", inStage(second, func(s *ledger.Stage) any { return s.Estimated() }), never{
			"it has no profile":   ledger.StageAdded{App: app, Stage: key, Extra: extra()},
			"its id is another's": ledger.StageAdded{App: second, Stage: key, Extra: otherExtra},
			"it has no work":      ledger.StageAdded{App: second, Stage: key, Extra: noExtra}}},
		{ledger.StagesFolded{App: app, Into: &profiles.Recorder{Name: "p"}}, "false", "true", inApp(app, func(a *ledger.App) any { return a.Partial() }), never{
			"a stage runs": ledger.StagesFolded{App: app, Stages: []api.StageKey{key}}}},
		{ledger.ExecutorTaken{App: "app-11", ID: "1", Node: "a", Why: "it is needed"}, "false", "true", inExecutor("app-11", "1", func(x *ledger.Executor) any { return x.Taken() }), never{
			"it is promised its memory": ledger.ExecutorTaken{App: app, ID: "1", Node: "a"},
			"it is elsewhere":           ledger.ExecutorTaken{App: "app-11", ID: "1", Node: "b"}}},
		{ledger.ClaimKept{App: "app-11", ID: "2", Node: "b"}, "true", "false", inExecutor("app-11", "2", func(x *ledger.Executor) any { return x.Lent() }), never{
			"it is promised its memory": ledger.ClaimKept{App: app, ID: "1", Node: "a"},
			"it is elsewhere":           ledger.ClaimKept{App: "app-11", ID: "2", Node: "a"}}},

		{ledger.StageMatched{App: second, Stage: key}, "true", "false", inStage(second, func(s *ledger.Stage) any { return s.Annotation == ledger.Unmatched }), never{
			"it has no profile": ledger.StageMatched{App: app, Stage: key}}},
		{ledger.QueryEnded{App: second, Execution: 3, Left: true}, "[]", "[3]", inApp(second, func(a *ledger.App) any { return a.Promise.Queries }), never{
			"it has no profile": ledger.QueryEnded{App: app, Execution: 3}}},
		{ledger.VariantTaken{App: second, Stage: key}, "read", "left", inApp(second, func(a *ledger.App) any { return a.Profile.Body.Stages[0].Signature }), never{
			"it has no profile":        ledger.VariantTaken{App: app, Stage: key},
			"there is no such variant": ledger.VariantTaken{App: second, Stage: key, Place: 2},
			"it is no place":           ledger.VariantTaken{App: second, Stage: key, Place: -1}}},

		{ledger.NodeJoined{Node: "c", Incarnation: "c-1"}, "false", "true", func(v ledger.View) any { return v.Node("c") != nil }, nil},
		{ledger.NodeSaid{Status: status(2, 1)}, "1", "2", inNode("a", func(n *ledger.Node) any { return n.Seq }), never{
			"it is not there": ledger.NodeSaid{Status: &api.NodeStatus{Node: "z"}}}},
		{ledger.NodeChallenged{Node: "a", Incarnation: "a-2"}, "", "a-2", inNode("a", func(n *ledger.Node) any { return n.Clash.Challenger }), nil},
		{ledger.NodeDrained{Node: "a", Draining: true}, "false", "true", inNode("a", func(n *ledger.Node) any { return n.Draining() }), nil},
		{ledger.NodeForgotten{Node: "empty"}, "true", "false", func(v ledger.View) any { return v.Node("empty") != nil }, never{
			"it has applications": ledger.NodeForgotten{Node: "a"}}},
		{ledger.NodeSilent{Node: "a", For: time.Minute}, "0s", "-59s", inNode("a", func(n *ledger.Node) any { return n.Heard }), never{
			"it is silent for less than no time": ledger.NodeSilent{Node: "a", For: -1}}},
		{ledger.NodeLost{Node: "a"}, "true", "false", inNode("a", func(n *ledger.Node) any { return n.Here() }), nil},
		{ledger.NodeClaimed{Node: "theirs", From: "another"}, "", "another", inNode("theirs", func(n *ledger.Node) any { return n.Allegiance.Succeeds }), never{
			"it follows another one": ledger.NodeClaimed{Node: "theirs", From: "a third"},
			"it follows this one":    ledger.NodeClaimed{Node: "a"}}},
		{ledger.NodeCleared{Node: "b", App: "app-0"}, "[]", "[app-0]", inNode("b", func(n *ledger.Node) any { return n.Over }), never{
			"it has executors there": ledger.NodeCleared{Node: "b", App: second}}},
		{ledger.DivisionSet{Node: "b", Division: &api.Division{Strategy: "speed", Gamma: 1}}, "false", "true", inNode("b", func(n *ledger.Node) any { return n.Division != nil }), never{
			"it is not there": ledger.DivisionSet{Node: "z"}}},
		{ledger.PlanRepeated{Node: "a"}, "", "", nil, never{"it is not there": ledger.PlanRepeated{Node: "z"}}},
		{ledger.Passed{For: time.Second}, "1s", "2s", func(v ledger.View) any { return v.Uptime() }, never{
			"time goes back": ledger.Passed{For: -1}}},
		{ledger.Waited{For: time.Second}, "1s", "2s", inApp(app, func(a *ledger.App) any { return a.Clocks.Silent }), nil},

		{ledger.NoticeTold{App: app}, "", "", nil, never{"it is not there": ledger.NoticeTold{App: "nobody"}}},
		{ledger.Noticed{App: app, Text: "another"}, "a notice", "a notice\nanother", inApp(app, func(a *ledger.App) any { return a.Notice }), nil},
		{ledger.NodeShrunk{Node: "a", What: "gives 1 GiB", Means: "it waits", Hit: []api.AppID{app}}, "a notice", "a notice\nnode a gives 1 GiB: it waits", inApp(app, func(a *ledger.App) any { return a.Notice }), never{
			"it hits nobody that is there": ledger.NodeShrunk{Node: "a", Hit: []api.AppID{"nobody"}}}},
		{ledger.TurnedDown{App: "app-5", Err: errors.New("no"), Judgement: tight}, "queued", "refused", inApp("app-5", stateOf), never{
			"it runs":                  ledger.TurnedDown{App: app, Err: errors.New("no"), Judgement: tight},
			"for nothing":              ledger.TurnedDown{App: "app-5", Judgement: tight},
			"there is no such verdict": ledger.TurnedDown{App: "app-5", Err: errors.New("no"), Judgement: perhaps}}},

		{ledger.ContextStopped{App: app, At: 5}, "running", "unknown", inApp(app, stateOf), never{"it is over": ledger.ContextStopped{App: third, At: 9}}},
		{ledger.KillAsked{App: app, By: "somebody"}, "", "somebody", inApp(app, func(a *ledger.App) any { return a.Outcome.Killed }), never{
			"by nobody": ledger.KillAsked{App: app}, "it is over": ledger.KillAsked{App: third, By: "somebody"}}},
		{ledger.OwnerRevoked{App: app, Revoked: true}, "false", "true", inApp(app, func(a *ledger.App) any { return a.Outcome.Revoked > 0 }), never{
			"it is over": ledger.OwnerRevoked{App: third}}},
		{ledger.RunEnded{App: app, State: api.AppFailed, At: 4}, "running", "failed", inApp(app, stateOf), never{
			"it has finished without a word": ledger.RunEnded{App: app, State: api.AppFinished}, "it is over": ledger.RunEnded{App: third, State: api.AppFailed}}},
		{ledger.Exited{App: third, At: 3, By: api.EndedByExit}, "unknown", "finished", inApp(third, stateOf), never{"it runs": ledger.Exited{App: app}}},

		{ledger.ProfileSaved{Body: ledgertest.Chain("r")}, "false", "true", func(v ledger.View) any { return v.Profile("", "r") != nil }, never{
			"it is no profile": ledger.ProfileSaved{Body: api.Profile{Name: "x"}}}},
		{ledger.ProfileRemoved{Name: "p"}, "true", "false", func(v ledger.View) any { return v.Profile("", "p") != nil }, never{
			"it is not there": ledger.ProfileRemoved{Name: "none"}, "it is another's": ledger.ProfileRemoved{Name: "p", Owner: "somebody"}}},
		{ledger.RunTakenBack{Name: "q", App: app}, "true", "false", func(v ledger.View) any { return v.Profile("", "q") != nil }, never{
			"it taught nothing": ledger.RunTakenBack{Name: "p", App: app}, "another one's was newer": ledger.RunTakenBack{Name: "q", App: second}}},

		{ledger.Started{App: "app-5", Seats: ledger.Seats{Nodes: []string{"b"}, Cores: 4}, Judgement: tight}, "queued", "running", inApp("app-5", stateOf), never{
			"it runs":                  ledger.Started{App: app, Seats: ledger.Seats{Nodes: []string{"b"}}, Judgement: tight},
			"there is no such node":    ledger.Started{App: "app-5", Seats: ledger.Seats{Nodes: []string{"z"}}, Judgement: tight},
			"there is no such verdict": ledger.Started{App: "app-5", Seats: ledger.Seats{Nodes: []string{"b"}}, Judgement: perhaps}}},
		{ledger.QueueLearnt{Key: "p", State: []byte("something")}, "", "something", func(v ledger.View) any { return string(v.Learnt("p")) }, never{
			"it is nothing": ledger.QueueLearnt{Key: "p"}, "it is too much": ledger.QueueLearnt{Key: "p", State: make([]byte, 1<<24)}}},
		{ledger.QueuePolicySet{Policy: &api.QueuePolicy{Rule: "rigid"}}, "false", "true", func(v ledger.View) any { return v.QueuePolicy() != nil }, nil},

		{ledger.Resized{App: app, Cores: 9}, "0", "9", inApp(app, func(a *ledger.App) any { return float64(a.Tenant.Cores) }), never{
			"it is less than none": ledger.Resized{App: app, Cores: -1}}},
		{ledger.Seated{App: app, Nodes: []string{"b"}}, "2", "3", inApp(app, func(a *ledger.App) any { return len(a.Alive()) }), never{
			"it is over":                        ledger.Seated{App: third, Nodes: []string{"b"}},
			"there is no such node":             ledger.Seated{App: app, Nodes: []string{"z"}},
			"the node attaches":                 ledger.Seated{App: app, Nodes: []string{"attaching"}},
			"another manager has its executors": ledger.Seated{App: attachedApp, Nodes: []string{"a"}}}},
		{ledger.SeatsLooked{App: app, Crowded: true}, "false", "true", inApp(app, func(a *ledger.App) any { return a.Tenant.Crowded }), nil},
		{ledger.ReplacementSent{App: "app-6", ID: "2", Lost: "b", Node: "b"}, "false", "true", inExecutor("app-6", "2", there), never{
			"none was lost there":   ledger.ReplacementSent{App: "app-6", ID: "2", Lost: "a", Node: "b"},
			"it is not the next":    ledger.ReplacementSent{App: "app-6", ID: "9", Lost: "b", Node: "b"},
			"there is no such node": ledger.ReplacementSent{App: "app-6", ID: "2", Lost: "b", Node: "z"}}},
		{ledger.PlaceGivenBack{App: "app-6", Node: "b"}, `["b"]`, `[""]`, inApp("app-6", pending), never{
			"none was lost there": ledger.PlaceGivenBack{App: "app-6", Node: "a"}, "it is no node": ledger.PlaceGivenBack{App: "app-6"}}},
		{ledger.ReplacementStopped{App: app}, "false", "true", inApp(app, func(a *ledger.App) any { return a.Tenant.GaveUp }), nil},
		{ledger.Reclaimed{App: "app-7", Node: "b", Executors: []ledger.UnknownExecutor{{ID: "3", State: api.ExecutorRunning}}}, "false", "true", inExecutor("app-7", "3", there), never{
			"it is over":      ledger.Reclaimed{App: third, Node: "b"},
			"it is no number": ledger.Reclaimed{App: "app-7", Node: "b", Executors: []ledger.UnknownExecutor{{ID: "driver"}}},
			"it is known":     ledger.Reclaimed{App: app, Node: "a", Executors: []ledger.UnknownExecutor{{ID: "1"}}}}},
		{ledger.StateUnknown{App: second}, "false", "true", inApp(second, func(a *ledger.App) any { return a.Promise.Reclaimed }), never{
			"it is over": ledger.StateUnknown{App: third}}},
		{ledger.ExecutorNamed{App: "app-7", ID: "4"}, "false", "true", inApp("app-7", func(a *ledger.App) any { x := a.Executor("4"); return x != nil && x.Named }), never{
			"its state is known":           ledger.ExecutorNamed{App: app, ID: "4"},
			"it is no number":              ledger.ExecutorNamed{App: "app-7", ID: "driver"},
			"it is far beyond those known": ledger.ExecutorNamed{App: "app-7", ID: "90000"}}},
		{ledger.LaunchTold{App: "app-6"}, "1", "0", inApp("app-6", func(a *ledger.App) any { return a.Tenant.Launch.Withheld }), never{
			"nothing is withheld": ledger.LaunchTold{App: app},
			"it is withheld":      ledger.LaunchTold{App: "app-6", Launch: api.Launch{Withheld: 1}}}},

		{ledger.StageReady{App: app, Ready: api.StageReady{StageKey: api.StageKey{Stage: 4}, Tasks: 4}, At: 3, Seq: 2}, "1", "2", inApp(app, func(a *ledger.App) any { return len(a.Opened()) }), never{
			"it is there": ledger.StageReady{App: app, Ready: api.StageReady{StageKey: key}}}},
		{ledger.StageAimed{App: app, Stage: key, First: 9, Targets: target("2", "a")}, "40", "9", inStage(app, func(s *ledger.Stage) any { return float64(s.First) }), never{
			"the target is nobody's":    ledger.StageAimed{App: app, Stage: key, Targets: target("7", "a")},
			"its work is no number":     ledger.StageAimed{App: app, Stage: key, Aim: ledger.Aim{Work: units.Work(nan)}},
			"the executor is elsewhere": ledger.StageAimed{App: app, Stage: key, Targets: target("1", "b")}}},
		{ledger.StageTargeted{App: app, Stage: key, Targets: target("2", "a")}, "1", "2", inStage(app, targetOf), never{
			"the executor is elsewhere": ledger.StageTargeted{App: app, Stage: key, Targets: target("1", "b")},
			"the targets are unordered": ledger.StageTargeted{App: app, Stage: key, Targets: append(target("2", "a"), target("1", "a")...)}}},
		{ledger.StageRebound{App: app, Stage: key, Bindings: []api.Binding{{Executor: "2", Weight: 4, Tasks: 4}}}, "1", "2", inStage(app, func(s *ledger.Stage) any { return s.Ready.Bindings[0].Executor }), nil},
		{ledger.StageShared{App: app, Stage: key, Shares: []api.ExecutorShare{{Executor: "1", Weight: 4}}}, "0", "1", inStage(app, func(s *ledger.Stage) any { return len(s.Shares) }), never{
			"there are other targets": ledger.StageShared{App: app, Stage: key, Shares: make([]api.ExecutorShare, 2)}}},
		{ledger.StageEnded{App: app, Done: api.StageDone{StageKey: key, Tasks: 4}, At: 3}, "1", "0", inApp(app, func(a *ledger.App) any { return len(a.Opened()) }), nil},

		{ledger.DecisionRefused{}, "", "", nil, nil}, {ledger.MessageRefused{}, "", "", nil, nil},
		{ledger.MachineDisputed{Node: "a", Nodes: "a, b"}, "", "", nil, nil}, {ledger.NodeClash{}, "", "", nil, nil},
		{ledger.NodeForeign{}, "", "", nil, nil}, {ledger.RunNotRecorded{}, "", "", nil, nil},
		{ledger.NodesForgotten{Why: "it has another layout"}, "", "", nil, nil}, {ledger.ExecutorRefused{}, "", "", nil, nil},
		{ledger.PublishFailed{}, "", "", nil, nil}, {ledger.StoreFailed{}, "", "", nil, nil}, {ledger.StoreWorks{}, "", "", nil, nil},
		{ledger.RecordLost{}, "", "", nil, nil},
	}
}

// A fact changes what is shown, and what is stored of that, from before it to after it.
func TestWhatAFactSaysIsShown(t *testing.T) {
	for _, r := range rows() {
		if r.shows == nil {
			continue
		}
		name := reflect.TypeOf(r.fact).Name()
		l := busy(t)
		if got := fmt.Sprint(r.shows(l.View())); got != r.before {
			t.Errorf("%s: before it %q is shown, want %q", name, got, r.before)
		}
		if err := l.Record(r.fact); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := fmt.Sprint(r.shows(l.View())); got != r.after {
			t.Errorf("%s: after it %q is shown, want %q", name, got, r.after)
		}
		if l.Close(); l.Audit() != "" {
			t.Errorf("%s: %s", name, l.Audit())
		}
	}
}

// strangers are f of an application, a node, a stage and an executor that are not there, where it is of one.
func strangers(f ledger.Fact) (all []ledger.Fact) {
	for field, value := range map[string]any{"App": api.AppID("nobody"), "Stage": api.StageKey{Stage: 99}, "ID": api.ExecutorID("77")} {
		v := reflect.New(reflect.TypeOf(f)).Elem()
		v.Set(reflect.ValueOf(f))
		if has := v.FieldByName(field); has.IsValid() && has.Type() == reflect.TypeOf(value) {
			has.Set(reflect.ValueOf(value))
			all = append(all, v.Interface().(ledger.Fact))
		}
	}
	return all
}

// A fact that cannot be true is refused and changes nothing.
func TestImpossibleFactsChangeNothing(t *testing.T) {
	l := busy(t)
	try := func(why string, f ledger.Fact) {
		if l.Record(f) == nil {
			t.Errorf("%T is taken, though %s: %+v", f, why, f)
			l = busy(t)
		}
		if e := l.Close(); len(e.Changes)+len(e.Pairs)+len(e.Plans)+len(e.Directives) != 0 {
			t.Errorf("%T, where %s, has effects: %+v", f, why, e)
		}
		if fault := l.Audit(); fault != "" {
			t.Errorf("%T, where %s: %s", f, why, fault)
		}
	}
	for _, r := range rows() {
		for why, f := range r.impossible {
			try(why, f)
		}
		if r.shows == nil {
			continue
		}
		switch r.fact.(type) {
		case ledger.ExecutorAttached, ledger.ExecutorNamed, ledger.NodeCleared: // These may be strangers.
		default:
			for _, f := range strangers(r.fact) {
				try("it is of nothing that is there", f)
			}
		}
	}
	for _, r := range rows() {
		if r.shows != nil && fmt.Sprint(r.shows(l.View())) != r.before {
			t.Errorf("facts that are refused have changed what %T says: %v, want %v", r.fact, r.shows(l.View()), r.before)
		}
	}
}
