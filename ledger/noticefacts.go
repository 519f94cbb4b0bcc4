package ledger

import (
	"fmt"
	"strings"

	"github.com/sparkpacer/pacer/api"
)

// NoticeTold: a reply has carried the application's notice.
type NoticeTold struct{ App api.AppID }

func (f NoticeTold) apply(l *Ledger) error {
	a := l.apps[f.App]
	if a == nil {
		return fmt.Errorf("application %s is not there", f.App)
	}
	a.told = true // Nothing is to be saved or told for that.
	return nil
}

// Noticed: there is a line for the application's user. Passing ones are not kept.
type Noticed struct {
	App     api.AppID
	Text    string
	Passing bool
}

func (f Noticed) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	notice(l, a, f.Text, f.Passing)
	return nil
}

// notice has a's user told a line, below those that no reply has carried yet.
func notice(l *Ledger, a *App, text string, passing bool) {
	said := text
	if !a.told && a.Notice != "" && strings.Count(a.Notice, "\n") < maxNotices {
		said = a.Notice + "\n" + text
	}
	a.Notice, a.told = said, false
	if !passing && len(a.Notices) < maxNotices {
		a.Notices = append(a.Notices, text)
	}
	l.batch.change(a, partState)
}

// NodeShrunk: a node gives less than is promised there: What says what it gives, Means what
// that means to the applications for which what is left does not reach, those last in the
// queue's order (Hit). Their users are told; the others keep theirs.
type NodeShrunk struct {
	Node, What, Means string
	Hit               []api.AppID
}

func (f NodeShrunk) apply(l *Ledger) error {
	for _, id := range f.Hit {
		if l.apps[id] == nil {
			return fmt.Errorf("application %s is not there", id)
		}
	}
	for _, id := range f.Hit {
		notice(l, l.apps[id], fmt.Sprintf("node %s %s: %s", f.Node, f.What, f.Means), false)
	}
	return nil
}
