package daemon

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/async"
	"github.com/sparkpacer/pacer/infra/bus"
)

// audit is the file that says who has changed what, and what was refused to whom: one JSON
// object a line. It is safe for concurrent use.
type audit struct {
	path string
	now  func() time.Time

	mu   sync.Mutex
	file *os.File
	size int64
	// pending are the lines, or the rest of one, that could not be written yet.
	pending []byte
	// refusals bounds the lines about what was refused, by what it was: whoever tries for ever to
	// connect must not have the lines of others rotated away.
	refusals *quiet
	// apart writes what is not to hold up whoever refuses.
	apart async.Jobs[string]
	// failed is called when lines cannot be written, failing says that it was and none was written since.
	failed  func(error)
	failing bool
}

// auditLine is a line of the audit log.
type auditLine struct {
	At time.Time `json:"at"`
	// Login of the asker, From where its connection comes from, as far as that is known.
	Who  string `json:"who"`
	From string `json:"from,omitempty"`
	// Verb is what was asked for, What what it is about.
	Verb string `json:"verb"`
	What string `json:"what,omitempty"`
	// Result is "ok", or why not.
	Result string `json:"result"`
	// LeftOut is how many lines of this kind are not here, since the one before.
	LeftOut int `json:"left_out,omitempty"`
}

// mostAudit is the size of the audit log at which it becomes the old one, in bytes.
const mostAudit = 16 << 20

// mostPending bounds the lines that wait until the log can be written again, in bytes.
const mostPending = 1 << 20

// openAudit opens the audit log of a state directory.
func openAudit(state string, failed func(error)) (*audit, error) {
	a := &audit{path: filepath.Join(state, "audit.log"), now: time.Now, failed: failed, refusals: newQuiet()}
	return a, a.open()
}

func (a *audit) open() error {
	f, err := os.OpenFile(a.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(fmt.Errorf("audit log: %w", err), f.Close())
	}
	a.file, a.size = f, info.Size()
	return nil
}

// rotate begins another file, once there is one: where that cannot be made, on a full disk, lines go on in this one.
func (a *audit) rotate() {
	next, err := os.OpenFile(a.path+".next", os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return
	}
	if os.Rename(a.path, a.path+".1") != nil || os.Rename(a.path+".next", a.path) != nil {
		_ = next.Close()
		return
	}
	_ = a.file.Close() // All of it has been written.
	a.file, a.size = next, 0
}

// line appends a line. A text of others' in it is cut to a name's length.
func (a *audit) line(l auditLine) {
	l.At = a.now().UTC().Truncate(time.Millisecond)
	l.Who, l.What, l.Result = api.Clip(l.Who, api.MostName), api.Clip(l.What, api.MostName),
		api.Clip(l.Result, api.MostName)
	body, _ := json.Marshal(l) // Texts and a number.
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.pending)+len(body) < mostPending {
		a.pending = append(append(a.pending, body...), '\n')
	}
	if a.size > mostAudit {
		a.rotate()
	}
	n, err := a.file.Write(a.pending)
	a.size, a.pending = a.size+int64(n), a.pending[n:]
	if had := a.failing; err == nil {
		a.failing, a.pending = false, nil
	} else if a.failing = true; !had {
		a.failed(err)
	}
}

// refused notes what the bus has refused: of connections 20 at once and 5 a second, of messages as
// many.
func (a *audit) refused(r bus.Refusal) {
	kind := "message"
	if r.What == bus.RefusedConnect {
		kind = r.What
	}
	if ok, left := a.refusals.pass(kind); ok {
		a.apart.Run("", func() {
			a.line(auditLine{Who: r.Login, From: r.From, Verb: r.What, Result: r.Why.Error(), LeftOut: left})
		})
	}
}

// asked notes what came of a request. A change is noted at once, before its answer, a refusal apart from whoever
// refuses. No more are noted of one login's, or of all applications' or tickets', than are read: 20 at once and 5 a
// second.
func (a *audit) asked(by api.Principal, l auditLine, err *api.Error) {
	l.Who, l.Result = cmp.Or(l.Who, by.Login()), result(err)
	if err == nil {
		a.line(l)
		return
	}
	kind := l.Verb + " of " + l.Who
	switch {
	case by.Kind == api.PrincipalApplication:
		kind = l.Verb + " of an application"
	case by.Kind == api.PrincipalTicket || by.Ticket: // A user makes as many as it likes.
		kind = l.Verb + " of a ticket"
	}
	if ok, left := a.refusals.pass(kind); ok {
		l.LeftOut = left
		a.apart.Run("", func() { a.line(l) })
	}
}

// session notes that a session of the page has begun, or that somebody was not let in.
func (a *audit) session(login, from string, err error) {
	if err != nil {
		a.refused(bus.Refusal{Login: login, From: from, What: bus.RefusedConnect, Why: err})
		return
	}
	a.line(auditLine{Who: login, From: from, Verb: "session", Result: result(nil)})
}

func (a *audit) close() error {
	a.apart.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.file.Close()
}
