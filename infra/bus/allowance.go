package bus

import (
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"

	"github.com/sparkpacer/pacer/api"
)

// sending is how many messages of a kind a principal may send in a second, and how many at once
// after a rest: far more than anybody needs who means well, far fewer than keep a planner busy.
type sending struct {
	second rate.Limit
	burst  int
}

// What a principal may send. A driver sends what has happened since its last batch was taken.
var (
	mostRegisters = sending{100, 1000}
	mostEvents    = sending{500, 2000}
	mostStatuses  = sending{50, 500}
	mostRequests  = sending{100, 1000}
)

// allowance keeps principals to what they may send. It is safe for concurrent use.
type allowance struct {
	most sending

	mu    sync.Mutex
	of    map[string]*rate.Limiter // By login.
	sweep int                      // How many there may be until those are dropped that have rested.
}

// leastSweep is how many limiters are kept in any case.
const leastSweep = 1024

func newAllowance(most sending) *allowance {
	return &allowance{most: most, of: make(map[string]*rate.Limiter), sweep: leastSweep}
}

// take counts a message of a login, or says with KindTransient that it is too many.
func (a *allowance) take(login string, now time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	of := a.of[login]
	if of == nil {
		a.forget(now)
		of = rate.NewLimiter(a.most.second, a.most.burst)
		a.of[login] = of
	}
	if !of.AllowN(now, 1) {
		return api.Errorf(api.KindTransient, "%s sends more than %v messages of this kind in a second: try again in a moment",
			login, a.most.second)
	}
	return nil
}

// forget drops those who have rested for so long that they are as new.
func (a *allowance) forget(now time.Time) {
	if len(a.of) < a.sweep {
		return
	}
	for login, of := range a.of {
		if of.TokensAt(now) >= float64(a.most.burst) {
			delete(a.of, login)
		}
	}
	a.sweep = max(leastSweep, 2*len(a.of))
}

// within is admit for those who send no more than that; it is looked at before a message is decoded.
func within(most sending, admit func(m *nats.Msg) (api.Principal, error)) func(m *nats.Msg) (api.Principal, error) {
	a := newAllowance(most)
	return func(m *nats.Msg) (api.Principal, error) {
		by, err := admit(m)
		if err == nil {
			err = a.take(from(m.Subject), time.Now())
		}
		return by, err
	}
}
