package planner

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// slowPlans sends Plans and Directives, each of which takes a time.
type slowPlans struct{ each time.Duration }

func (p slowPlans) PublishPlan(api.Plan) error                      { time.Sleep(p.each); return nil }
func (p slowPlans) PublishDirective(api.AppID, api.Directive) error { time.Sleep(p.each); return nil }
func (slowPlans) Deaf() bool                                        { return false }

type noStore struct{}

func (noStore) Apply([]api.Pair) error { return nil }

// attackedLoop runs a loop in a bubble until attack returns.
func attackedLoop(t *testing.T, pub Publisher, attack func(t *testing.T, l *Loop)) {
	synctest.Test(t, func(t *testing.T) {
		e, err := New(Default(), nil)
		if err != nil {
			t.Fatal(err)
		}
		l := NewLoop(e, pub, noStore{}, nil)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- l.Run(ctx) }()
		attack(t, l)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Answers that take long are charged to the login that they are for: it is not urgent any more, and another's
// request, whenever it comes, waits for a few of them.
func TestAttackTheTimeOfAnswers(t *testing.T) {
	attackedLoop(t, slowPlans{}, func(t *testing.T, l *Loop) {
		const each = 5 * time.Millisecond
		answered := 0
		for round := range 100 {
			for range min(100, 1+100*round) {
				l.Events(api.Events{AppID: "mallory's"}, func(api.EventsReply) { time.Sleep(each); answered++ })
			}
			for range 100 {
				time.Sleep(time.Millisecond) // The loop is in the midst of an answer.
				heard := make(chan struct{})
				at := time.Now()
				l.Events(api.Events{AppID: "ann's"}, func(api.EventsReply) { close(heard) })
				<-heard
				if took := time.Since(at); took > turnLimit+2*each {
					t.Fatalf("in round %d ann waits %v for hers", round, took)
				}
			}
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		evil := l.line.of[api.Principal{Kind: api.PrincipalApplication, Name: "mallory's"}.Login()]
		if evil.due(l.elapsed()) > 0 {
			t.Errorf("%d answers have left mallory's a credit of %v", answered, evil.credit)
		}
	})
}

// What the end of a turn takes beside its answers is charged by what its logins had of it.
func TestAttackTheEndOfATurn(t *testing.T) {
	l := newLine()
	l.charge(map[string]part{"mallory": {took: 99 * time.Millisecond}, "node": {took: time.Millisecond}, own: {took: 100 * time.Millisecond},
		"ann": {took: 10 * time.Millisecond, answers: 10 * time.Millisecond, answer: 6 * time.Millisecond}}, 0, 210*time.Millisecond)
	for login, want := range map[string]time.Duration{"mallory": 99 * time.Millisecond, "node": time.Millisecond, "ann": 20 * time.Millisecond} {
		if got := shareBurst - l.of[login].credit; (got - want).Abs() > 10*time.Microsecond {
			t.Errorf("%s is charged %v, want %v", login, got, want)
		}
	}
	if l.of[own] != nil || l.of["ann"].answer != 6*time.Millisecond {
		t.Errorf("the planner's own is charged, or an answer to ann takes %v", l.of["ann"].answer)
	}
}
