package bus

import (
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"

	"github.com/sparkpacer/pacer/api"
)

// sending is what a principal may send of a kind: how many messages and bytes in a second, and how
// many at once after a rest. That is far more than anybody needs who means well, far less than keeps a
// planner busy.
type sending struct {
	second rate.Limit
	burst  int
	bytes  rate.Limit
	full   int
}

// Bounds of what a principal may send. A driver sends what has happened since its last batch was taken.
var (
	mostRegisters = sending{100, 1000, 4 << 20, 8 << 20}
	mostEvents    = sending{500, 2000, 4 << 20, 8 << 20}
	mostStatuses  = sending{50, 500, 8 << 20, 32 << 20}
	mostRequests  = sending{100, 1000, 4 << 20, 16 << 20}
	mostScrapes   = sending{20, 200, 1 << 20, 16 << 20} // For all tokens of a user's together.
)

// A principal may send so many bytes of refused messages before its connections are cut, and each message takes so much
// beside its own bytes.
const (
	mercySecond = 1 << 20
	mercyBurst  = 32 << 20
	perMessage  = 1 << 10
	// mostSize is what a message counts as at most: more than any allowance has, so that it is refused.
	mostSize = 1 << 30
)

// allowance keeps principals to what they may send. It is safe for concurrent use.
type allowance struct {
	most sending
	// cut is called with the login of a principal that goes on and on beyond it; nil does nothing.
	cut func(login string)

	mu    sync.Mutex
	of    map[string]*spending // By login.
	sweep int                  // How many there may be until those are dropped that have rested.
}

// spending is what a principal has left of an allowance.
type spending struct{ messages, bytes, mercy *rate.Limiter }

// leastSweep is how many limiters are kept in any case.
const leastSweep = 1024

func newAllowance(most sending) *allowance {
	a := &allowance{}
	a.begin(most)
	return a
}

func (a *allowance) begin(most sending) {
	a.most, a.of, a.sweep = most, make(map[string]*spending), leastSweep
}

// Ask counts a request of size bytes that comes by another way than the bus, or says with KindTransient that it is too
// much: there is one allowance for all ways.
func (k *Keyring) Ask(login string, size int) error { return k.requests.take(login, size, time.Now()) }

// Scrape is Ask for what looks at metrics: it takes nothing of a user's own allowance, and has no connections to cut.
func (k *Keyring) Scrape(login string, size int) error {
	return k.scrapes.take(login, size, time.Now())
}

// take counts a message of a login, or says with KindTransient that it is too much.
func (a *allowance) take(login string, size int, now time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	of := a.spending(login, now)
	size = min(max(0, size), mostSize) + perMessage
	messages := of.messages.AllowN(now, 1)
	if messages && of.bytes.AllowN(now, size) {
		return nil
	}
	a.beyond(login, of, size, now)
	if !messages {
		return api.Errorf(api.KindTransient, "%s sends more than %v messages of this kind in a second: try again in a moment",
			login, a.most.second)
	}
	return api.Errorf(api.KindTransient, "%s sends more than %d bytes of this kind in a second: try again in a moment",
		login, int(a.most.bytes))
}

// has reports whether a message of a login, of which most bytes may come, would be taken, and counts it only if not.
func (a *allowance) has(login string, size, most int, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	of := a.spending(login, now)
	size = min(max(0, size), mostSize)
	if size <= most && of.bytes.TokensAt(now) >= float64(size) {
		return true
	}
	a.beyond(login, of, size, now)
	return false
}

// beyond counts what a login has sent in vain.
func (a *allowance) beyond(login string, of *spending, size int, now time.Time) {
	if !of.mercy.AllowN(now, size) && a.cut != nil {
		a.cut(login)
	}
}

// spending is what a login has left.
func (a *allowance) spending(login string, now time.Time) *spending {
	of := a.of[login]
	if of == nil {
		a.forget(now)
		of = &spending{rate.NewLimiter(a.most.second, a.most.burst), rate.NewLimiter(a.most.bytes, a.most.full),
			rate.NewLimiter(mercySecond, mercyBurst)}
		a.of[login] = of
	}
	return of
}

// forget drops those who have rested for so long that they are as new.
func (a *allowance) forget(now time.Time) {
	if len(a.of) < a.sweep {
		return
	}
	for login, of := range a.of {
		if of.messages.TokensAt(now) >= float64(a.most.burst) && of.bytes.TokensAt(now) >= float64(a.most.full) &&
			of.mercy.TokensAt(now) >= mercyBurst {
			delete(a.of, login)
		}
	}
	a.sweep = max(leastSweep, 2*len(a.of))
}

// within is admit for those who send no more than that; it is looked at before a message is decoded.
func (a *allowance) within(admit func(m *nats.Msg) (api.Principal, error)) func(m *nats.Msg) (api.Principal, error) {
	return func(m *nats.Msg) (api.Principal, error) {
		by, err := admit(m)
		if err == nil {
			err = a.take(from(m.Subject), len(m.Data), time.Now())
		}
		return by, err
	}
}
