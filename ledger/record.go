package ledger

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
)

// Record records a fact, unless that cannot be true: its error is an *ImpossibleError.
func (l *Ledger) Record(f Fact) error {
	err := f.apply(l)
	s := l.batch.subject
	l.batch.subject = subject{}
	if err == nil {
		err = s.takeIn(l, f)
	}
	if err != nil {
		return &ImpossibleError{f, err}
	}
	s.changes(l)
	l.changed.seq++
	l.batch.changes = append(l.batch.changes, Change{Seq: l.changed.seq, At: l.now, Fact: f})
	return nil
}

// ImpossibleError is the error of Record: the fact cannot be true, so who decided it is
// wrong. The ledger is as it was.
type ImpossibleError struct {
	Fact Fact
	Err  error
}

func (e *ImpossibleError) Error() string { return fmt.Sprintf("record %T: %v", e.Fact, e.Err) }

// Unwrap returns what cannot be true.
func (e *ImpossibleError) Unwrap() error { return e.Err }

// takeIn has the facets of what f is about take it in. They may refuse a fact of their own, of which nothing has been
// applied yet.
func (s *subject) takeIn(l *Ledger, f Fact) (err error) {
	changed := false
	switch {
	case s.app != nil:
		observed, lodged := s.app.held.observed, s.app.held.lodges
		if changed, err = takeIn(s.app, l, f); changed {
			s.parts |= partPlans
		}
		lodge(lodged, s.app, l)
		if observed != s.app.held.observed {
			for _, node := range s.app.Seats() {
				l.batch.retell(l.nodes[node], l.View().Allocation(s.app, node))
			}
		}
	case s.node != nil:
		drained := s.node.Draining()
		if changed, err = takeIn(s.node, l, f); changed {
			s.of |= nodePlan
		}
		if drained != s.node.Draining() {
			l.relist()
			l.changed.touch(PartGrowth)
		}
	case l.profiles.stored[s.profile] != nil:
		_, err = takeIn(l.profiles.renew(s.profile), l, f)
	}
	if s.why != "" && err == nil {
		s.app.Promise.Reason = s.why
		s.parts |= partRecord
	}
	return err
}

// takeIn has the facets of x take a fact about it in, and reports whether one keeps another value now of which Plans
// are made.
func takeIn[T Subject](x T, l *Ledger, f Fact) (changed bool, err error) {
	kinds, now, news := *kindsOf[T](), *facetsOf(x), false
	for place, k := range kinds {
		was := now.at(place).value
		value, other, err := k.take(l.View(), x, f, was)
		if err != nil {
			return false, err
		}
		if other {
			now, news, changed = now.with(place, held{value: value, batch: l.batch.number}), true, changed || k.plans
			l.changed.touch(k.part(was, value))
		}
	}
	if !news {
		return false, nil
	}
	for place, k := range kinds {
		if h := now.at(place); h.batch == l.batch.number {
			now.list[place] = k.keep(&l.batch, facetKey(k, x), h.value)
		}
	}
	now.count(kinds)
	*facetsOf(x) = now
	return changed, nil
}

// changes gives what the fact is about the version of the batch.
func (s *subject) changes(l *Ledger) {
	if s.app != nil {
		l.batch.change(s.app, s.parts)
	}
	if s.stage != nil {
		l.batch.changeStage(s.stage)
	}
	if s.of != 0 {
		l.batch.changeNode(s.node, s.of)
	}
	if n := s.node; n != nil {
		switch gives := n.gives(); {
		case gives < n.book.gave:
			l.changed.touch(PartOffer | PartLess)
		case gives > n.book.gave:
			l.changed.touch(PartOffer)
		}
		n.book.gave = n.gives()
	}
}

// OfApp is embedded in facts of facets of applications: the application that the fact is about. Why tells its user why
// it runs as it does from now on; with "" the reason before stands.
type OfApp struct {
	App api.AppID
	Why string
}

func (f OfApp) apply(l *Ledger) error {
	_, err := l.app(f.App, partNone)
	l.batch.subject.why = f.Why
	return err
}

// Says is a line about the application.
func (f OfApp) Says(name, format string, args ...any) Line {
	return usual(name, ofApp(f.App), format, args...)
}

// OfNode is embedded in facts of facets of nodes: the node that it is about.
type OfNode struct{ Node string }

func (f OfNode) apply(l *Ledger) error {
	_, err := l.node(f.Node, 0)
	return err
}

// Says is a line about the node.
func (f OfNode) Says(name, format string, args ...any) Line {
	return usual(name, ofNode(f.Node), format, args...)
}

// OfProfile is embedded in facts of facets of stored profiles: the name and owner of the profile that it is about.
type OfProfile struct{ Name, Owner string }

func (f OfProfile) apply(l *Ledger) error {
	id := profileID{f.Name, f.Owner}
	if l.profiles.stored[id] == nil {
		return fmt.Errorf("profile %s is not there", f.Name)
	}
	l.batch.subject.profile = id
	return nil
}

// Says is a line about the profile.
func (f OfProfile) Says(name, format string, args ...any) Line {
	return usual(name, ofProfile(f.Name), format, args...)
}

// Pulled is embedded in a fact of a facet that deciders ask for: it is a Lever.
type Pulled struct{}

func (Pulled) lever() {}
