package daemon

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/web"
)

// proofs says whether a token that the planner has given may look at this daemon's metrics. The planner that serves is
// asked, with the token's hash, and its answer is remembered for a minute. A token that was good is taken on while no
// planner answers, at most until it ends: metrics matter most then. It is safe for concurrent use.
type proofs struct {
	ask func(ctx context.Context, hash string) (until time.Time, err error)

	mu    sync.Mutex
	known map[string]proof // By hash.
	most  *rate.Limiter
}

// proof is what the planner has said of a token, and when.
type proof struct {
	at, until time.Time
	err       error
}

// How long an answer is remembered, how many are, how many questions are asked in a second and how long one takes.
const (
	proofFor     = time.Minute
	mostProofs   = 64
	proofsSecond = 5
	proofTimeout = 2 * time.Second
)

// newProofs asks a planner by control requests.
func newProofs(control func(context.Context, api.Verb, api.ControlRequest) (api.ControlReply, error)) *proofs {
	return &proofs{known: map[string]proof{}, most: rate.NewLimiter(proofsSecond, proofsSecond),
		ask: func(ctx context.Context, hash string) (time.Time, error) {
			r, err := control(ctx, api.VerbProve, api.ControlRequest{Query: &api.Query{Token: api.TokenRequest{Hash: hash}}})
			if err != nil || r.Token == nil {
				return time.Time{}, err
			}
			return r.Token.Until, nil
		}}
}

// scrapes refuses a token that may not look.
func (p *proofs) scrapes(token string) error {
	hash, now := web.Hash(token), time.Now()
	p.mu.Lock()
	had, asked := p.known[hash]
	had.err = had.ended(now)
	full := !asked && !p.most.AllowN(now, 1) // A token that was good is asked about in any case.
	p.mu.Unlock()
	switch {
	case full:
		return api.Errorf(api.KindTransient, "too many tokens are shown: try again in a moment")
	case asked && now.Sub(had.at) < proofFor:
		return had.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), proofTimeout)
	defer cancel()
	got := proof{at: now}
	if got.until, got.err = p.ask(ctx, hash); got.err != nil && api.KindOf(got.err) != api.KindDenied {
		if asked {
			return had.err
		}
		return api.Errorf(api.KindTransient, "the planner cannot be asked about a token: %v", got.err)
	}
	p.keep(hash, got, now)
	return got.err
}

// keep remembers an answer. Where it has many, the oldest of those goes that refuse, or of all.
func (p *proofs) keep(hash string, got proof, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, hash)
	maps.DeleteFunc(p.known, func(_ string, old proof) bool {
		return old.ended(now) != nil && now.Sub(old.at) >= proofFor
	})
	if len(p.known) >= mostProofs {
		delete(p.known, slices.MinFunc(slices.Collect(maps.Keys(p.known)), func(a, b string) int {
			switch x, y := p.known[a], p.known[b]; {
			case x.err != nil && y.err == nil:
				return -1
			case x.err == nil && y.err != nil:
				return 1
			default:
				return x.at.Compare(y.at)
			}
		}))
	}
	p.known[hash] = got
}

// ended is why a token may not look at a moment.
func (p proof) ended(now time.Time) error {
	if p.err == nil && !now.Before(p.until) {
		return api.Errorf(api.KindDenied, "the token has ended")
	}
	return p.err
}
