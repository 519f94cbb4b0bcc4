package daemon

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/web"
)

// serving answers for a planner: of each token it knows until when that is good.
type serving struct {
	good  map[string]time.Time
	asked int
	down  bool
}

func (s *serving) proves(_ context.Context, verb api.Verb, r api.ControlRequest) (api.ControlReply, error) {
	s.asked++
	until, ok := s.good[r.Query.Token.Hash]
	switch {
	case verb != api.VerbProve || s.down:
		return api.ControlReply{}, api.Errorf(api.KindTransient, "no planner answers")
	case !ok:
		return api.ControlReply{}, api.Errorf(api.KindDenied, "no such token is known")
	}
	return api.ControlReply{Token: &api.HTTPToken{Until: until}}, nil
}

// The planner's answer about a token is remembered for a minute, a good one for as long as no planner answers.
func TestAnswersAboutTokensAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		token := "t"
		s := &serving{good: map[string]time.Time{web.Hash(token): time.Now().Add(time.Hour)}}
		p := newProofs(s.proves)
		for i, c := range []struct {
			wait    time.Duration
			down    bool
			revoked bool
			token   string
			asked   int
			refused bool
			kind    api.Kind
		}{
			{token: token, asked: 1},
			{token: token, asked: 1},
			{token: "other", asked: 2, refused: true, kind: api.KindDenied},
			{token: "other", asked: 2, refused: true, kind: api.KindDenied},
			{wait: 61 * time.Second, token: token, asked: 3},
			{wait: 61 * time.Second, down: true, token: token, asked: 4},
			{token: "unknown", down: true, asked: 5, refused: true, kind: api.KindTransient},
			{wait: 61 * time.Second, revoked: true, token: token, asked: 6, refused: true, kind: api.KindDenied},
			{wait: 61 * time.Second, token: token, asked: 7},
			{wait: time.Hour, down: true, token: token, asked: 8, refused: true, kind: api.KindDenied}, // It has ended.
		} {
			time.Sleep(c.wait)
			s.down = c.down
			had := s.good
			if c.revoked {
				s.good = nil
			}
			err := p.scrapes(c.token)
			s.good = had
			if s.asked != c.asked || (err != nil) != c.refused || err != nil && api.KindOf(err) != c.kind {
				t.Errorf("step %d: %v after %d questions, want %v after %d", i, err, s.asked, c.kind, c.asked)
			}
		}
	})
}

// Made-up tokens cost the planner five questions a second, and push no good one out.
func TestAttackMadeUpTokensAtANode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &serving{good: map[string]time.Time{web.Hash("t"): time.Now().Add(time.Hour)}}
		p := newProofs(s.proves)
		if err := p.scrapes("t"); err != nil {
			t.Fatal(err)
		}
		for i := range 30_000 {
			_ = p.scrapes(fmt.Sprint("made-up-", i))
			time.Sleep(time.Millisecond)
		}
		if s.asked > 30*proofsSecond+proofsSecond+1 || len(p.known) > mostProofs {
			t.Errorf("30,000 made-up tokens in 30 s: %d questions, %d answers remembered", s.asked, len(p.known))
		}
		before := s.asked
		if err := p.scrapes("t"); err != nil || s.asked != before {
			t.Errorf("the good token: %v after %d questions more", err, s.asked-before)
		}
	})
}
