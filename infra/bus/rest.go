package bus

import (
	"sync"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// restFor is for how long a login is kept out that has sent far more than it may.
const restFor = 10 * time.Second

// rests are the logins that are kept out for a while. It is safe for concurrent use.
type rests struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// begin keeps a login out from now on, and reports whether it was not.
func (r *rests) begin(login string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Before(r.until[login]) {
		return false
	}
	for l, until := range r.until {
		if !now.Before(until) {
			delete(r.until, l)
		}
	}
	if r.until == nil {
		r.until = make(map[string]time.Time)
	}
	r.until[login] = now.Add(restFor)
	return true
}

// resting says with KindTransient that a login is kept out.
func (r *rests) resting(login string, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Before(r.until[login]) {
		return api.Errorf(api.KindTransient, "%s has sent far more than it may: try again in %v", login, restFor)
	}
	return nil
}

// cut keeps a login out for a while, with a line, and has its connections cut. Where everybody is let in
// logins name nobody.
func (k *Keyring) cut(login string) {
	if k.open || !k.rests.begin(login, time.Now()) {
		return
	}
	k.refuse(Refusal{Login: login, What: RefusedConnect, Why: k.rests.resting(login, time.Now())})
	if k.OnFlood != nil {
		k.OnFlood(login)
	}
}
