package placement

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Attachment is how an application stands whose executors another cluster manager starts.
type Attachment struct {
	// Observed says why nothing is held back, "" where it is.
	Observed string `json:"observed,omitempty"`
	// Wanted is how many executors its driver asks for in all, 0 for as many as its user has said, and On hosts where
	// they would be best.
	Wanted int      `json:"wanted,omitempty"`
	On     []string `json:"wanted_on,omitempty"`
	// Asked is when Wanted was last another number, Spare since when fewer would do, 0 where they would not; both on
	// the deadline clock.
	Asked units.Seconds `json:"asked_s,omitempty"`
	Spare units.Seconds `json:"spare_since_s,omitempty"`
}

var attachment = ledger.Register(ledger.Facet[*ledger.App, Attachment]{Name: "attachment",
	Observed: Attachment.observed, Wants: Attachment.wants, After: Attachment.after,
	Was: ledger.Member[Attachment]("attachment")})

// AttachmentOf is a's.
func AttachmentOf(a *ledger.App) Attachment { return attachment.Of(a) }

func (t Attachment) observed() string       { return t.Observed }
func (t Attachment) wants() (int, []string) { return t.Wanted, t.On }

// after is t after a fact: another run has another clock.
func (t Attachment) after(_ ledger.View, _ *ledger.App, fact ledger.Fact) (Attachment, bool) {
	f, begun := fact.(ledger.RunBegan)
	if begun {
		t.Asked, t.Spare = t.Asked-f.By, 0
	}
	return t, begun
}

// ExecutorsWanted: the driver of an application is to ask another cluster manager for so many executors in all, on
// these hosts if it can, or with 0 for as many as its user has said. Spare says that fewer would do. Says is told its
// user, "" for nothing.
type ExecutorsWanted struct {
	ledger.OfApp
	ledger.Pulled
	Count int
	On    []string
	Spare bool
	Says  string
}

// Line is what it says.
func (f ExecutorsWanted) Line() ledger.Line {
	if f.Says == "" {
		return ledger.Line{Name: "executors wanted"}
	}
	return f.OfApp.Says("executors wanted", "%s: %s", f.App, f.Says)
}

// leastMoment stands for the moment 0, which says that there is none.
const leastMoment units.Seconds = 1e-9

// Apply says what is asked for from now on.
func (f ExecutorsWanted) Apply(v ledger.View, a *ledger.App, t *Attachment) error {
	attach := a.Tenant.Launch.Attach
	switch {
	case attach == nil || !a.Running():
		return fmt.Errorf("application %s is %s, attached: %v", a.ID, a.Outcome.State, attach != nil)
	case f.Count < 0 || f.Count > api.MostExecutorID,
		f.Count > 0 && (f.Count < attach.Least || attach.Most > 0 && f.Count > attach.Most):
		return fmt.Errorf("%s wants %d executors, of at least %d and at most %d", a.ID, f.Count, attach.Least, attach.Most)
	}
	now := max(0, a.At(v.Now()))
	if f.Count != t.Wanted {
		t.Wanted, t.Asked = f.Count, now
	}
	if !f.Spare {
		t.Spare = 0
	} else if t.Spare == 0 {
		t.Spare = max(now, leastMoment)
	}
	t.On = f.On
	return nil
}

// AttachedObserved: of an application whose executors another cluster manager starts nothing is held back from now on,
// for that reason, or with "" it is again.
type AttachedObserved struct {
	ledger.OfApp
	Because string
}

// Line is what it says.
func (f AttachedObserved) Line() ledger.Line {
	if f.Because == "" {
		return f.Says("application held back", "%s is not observed any more: its executors can be held back", f.App)
	}
	line := f.Says("application observed", "%s is observed: %s", f.App, f.Because)
	line.Trouble = true
	return line
}

// Apply says whether a is observed.
func (f AttachedObserved) Apply(_ ledger.View, a *ledger.App, t *Attachment) error {
	if a.Tenant.Launch.Attach == nil {
		return fmt.Errorf("application %s has executors that nodes start", a.ID)
	}
	t.Observed = f.Because
	return nil
}
