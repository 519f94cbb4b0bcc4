package planner_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
)

func user(name string) api.Principal {
	return api.Principal{Kind: api.PrincipalUser, Name: name, Role: api.RoleOperate}
}

// While a question is worked on, however long that takes, the loop takes registrations, answers
// other questions, and lives.
func TestTheLoopGoesOnBesideAQuestion(t *testing.T) {
	withLoop(t, func(l *planner.Loop, p *ports, stop func()) {
		l.Hello(nodeStatus(1), func(api.HelloReply) {})
		gate := make(chan struct{})
		l.Plan(user("ann"), api.PlanRequest{V: api.Version, Profile: "none"}, func(api.PlanReply) { <-gate; p.note("planned") })
		synctest.Wait()
		p.take()
		l.Register(user("bob"), registration("p", 0), func(r api.RegisterReply) { p.note("registered %v", r.Error) })
		synctest.Wait()
		l.Control(user("ann"), api.VerbApps, api.ControlRequest{V: api.Version}, func(r api.ControlReply) { p.note("%d applications", len(r.Apps)) })
		time.Sleep(20 * time.Second)
		synctest.Wait()
		journal := p.take()
		if !slices.Contains(journal, "registered <nil>") || !slices.Contains(journal, "1 applications") || slices.Contains(journal, "planned") {
			t.Errorf("beside a question: %v", journal)
		}
		if err := l.Alive(); err != nil {
			t.Error(err)
		}
		close(gate)
		synctest.Wait()
		if got := p.take(); !slices.Equal(got, []string{"planned"}) {
			t.Errorf("then: %v", got)
		}
	})
}

// A principal has few questions under way; what it asks beside them is refused at once, to be
// asked again. Others' are answered in turn, and who has waited for long is told.
func TestQuestionsArePerPrincipal(t *testing.T) {
	withLoop(t, func(l *planner.Loop, p *ports, stop func()) {
		plan := func(by string, gate chan struct{}) {
			l.Plan(user(by), api.PlanRequest{V: api.Version, Profile: "none"}, func(r api.PlanReply) {
				if gate != nil {
					<-gate
				}
				p.note("%s %s", by, r.Error.Kind)
			})
			synctest.Wait()
		}
		for _, c := range []struct {
			long time.Duration
			want []string
		}{
			{time.Second, []string{"ann transient", "cat not found", "ann not found", "bob not found", "ann not found", "ann not found", "ann not found"}},
			{11 * time.Second, []string{"ann transient", "cat not found", "ann transient", "bob transient", "ann transient", "ann transient", "ann transient"}},
		} {
			gate := make(chan struct{})
			plan("cat", gate)
			for range 4 {
				plan("ann", nil)
			}
			plan("bob", nil)
			plan("ann", nil)
			time.Sleep(c.long)
			close(gate)
			synctest.Wait()
			if got := p.take(); !slices.Equal(got, c.want) {
				t.Errorf("beside one that takes %v: %v", c.long, got)
			}
		}
	})
}

// A loop that ends answers each question that it has taken.
func TestQuestionsAreAnsweredAtTheEnd(t *testing.T) {
	withLoop(t, func(l *planner.Loop, p *ports, stop func()) {
		gate := make(chan struct{})
		for range 3 {
			l.Plan(user("ann"), api.PlanRequest{V: api.Version, Profile: "none"}, func(r api.PlanReply) { <-gate; p.note("%s", r.Error.Kind) })
			synctest.Wait()
		}
		go close(gate)
		stop()
		if got := p.take(); len(got) != 3 {
			t.Errorf("three are asked: %v", got)
		}
	})
}
