package ledger

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// View is a ledger to read. Its result is the ledger's own: nobody changes it, and
// it may be other after the next fact.
type View struct {
	l     *Ledger
	ahead []Run
}

// View returns what there is to read.
func (l *Ledger) View() View { return View{l: l} }

// Now is the moment at hand (Ledger.Begin).
func (v View) Now() units.Instant { return v.l.now }

// Uptime is how much time has passed since the planner's start, as far as anybody could
// be heard.
func (v View) Uptime() time.Duration { return v.l.uptime }

// Epoch is the newest one of Plans and Directives.
func (v View) Epoch() uint64 { return v.l.epoch }

// Serial is the newest number given to an application.
func (v View) Serial() uint64 { return v.l.serial }

// Version is the number of the fact that changed one of those parts last, 0 for none since the planner's start.
func (v View) Version(of Part) uint64 { return v.l.changed.version(of) }

// Identity is the name of the planner's store, "" for none.
func (v View) Identity() string { return v.l.identity }

// App is the application of that id that is not history yet, nil for none.
func (v View) App(id api.AppID) *App { return v.l.apps[id] }

// Apps returns the applications that are not history yet, in order of id.
func (v View) Apps() []*App {
	if v.l.lineup == nil {
		v.l.lineup = sorted(v.l.apps)
	}
	return v.l.lineup
}

// Ended returns the history, oldest first.
func (v View) Ended() []*Ended { return v.l.history.ended }

// Runs are the runs that are kept of those that are over, the oldest first.
func (v View) Runs() iter.Seq[*Run] {
	return func(yield func(*Run) bool) {
		for r := range v.l.history.runs.all() {
			if !yield(r) {
				return
			}
		}
		for k := range v.ahead {
			if !yield(&v.ahead[k]) {
				return
			}
		}
	}
}

// Foresight is profiles as they are about to become, and runs that are about to be history.
type Foresight struct {
	Profiles []api.Profile
	Runs     []Run
}

// Of is a view with what f foresees.
func (f Foresight) Of(v View) View {
	l := *v.l
	l.profiles = v.l.profiles.copy()
	for _, body := range f.Profiles {
		if p, err := NewProfile(body); err == nil {
			if before := l.profiles.stored[p.id()]; before != nil {
				p.held = before.held
			}
			l.profiles.stored[p.id()] = p
		}
	}
	return View{l: &l, ahead: f.Runs}
}

// EndedApp is the application of that id in the history, nil for none.
func (v View) EndedApp(id api.AppID) *Ended {
	for _, d := range v.l.history.ended {
		if d.Detail.ID == id {
			return d
		}
	}
	return nil
}

// Node is the node of that name, nil for none.
func (v View) Node(name string) *Node { return v.l.nodes[name] }

// Nodes returns all nodes in order of name.
func (v View) Nodes() []*Node {
	if l := v.l; l.ordered == nil {
		l.ordered = sorted(l.nodes)
		l.drains = slices.DeleteFunc(slices.Clone(l.ordered), func(n *Node) bool { return !n.Draining() })
	}
	return v.l.ordered
}

// Division is what an operator wants of n, nil for nothing.
func (v View) Division(n *Node) *api.Division { return cmp.Or(n.Division, v.l.wishes.division) }

// Draining returns the nodes that drain, in order of name.
func (v View) Draining() []*Node {
	v.Nodes() // Both are listed together.
	return v.l.drains
}

// Live returns the nodes that may get executors, in order of name.
func (v View) Live() []*Node {
	return slices.DeleteFunc(slices.Clone(v.Nodes()), func(n *Node) bool { return !n.Live() })
}

// Offered is what the node of that name offers, 0 where it is not known.
func (v View) Offered(name string) units.Cores {
	if n := v.l.nodes[name]; n != nil {
		return n.Offered
	}
	return 0
}

// Profile is the stored profile of that name that counts for a user: its own, else the one that is
// nobody's or shared; nil for none.
func (v View) Profile(user, name string) *Profile { return v.l.profiles.find(user, name) }

// ProfileOf is the stored profile of that name and owner, nil for none.
func (v View) ProfileOf(owner, name string) *Profile {
	return v.l.profiles.stored[profileID{name, owner}]
}

// Profiles returns the stored profiles in order of name and owner.
func (v View) Profiles() []*Profile { return sorted(v.l.profiles.stored) }

// ProfileNames returns the names of the stored profiles that a user sees: its own, and those that are
// nobody's or shared; in no order.
func (v View) ProfileNames(user string) iter.Seq[string] { return v.l.profiles.names(user) }

// Judged is the profile of that name as a user's run would have it, for a decider that judges by it and has nothing
// run, nil for none: it is made once for each version of a profile, and changed by nobody.
func (v View) Judged(user, name string) *Profile {
	p := v.l.profiles.find(user, name).Planned()
	if p != nil && p.judged == nil {
		p.judged = v.l.profiles.draw(p).forRun(v.l.cfg.Beta)
	}
	if p == nil {
		return nil
	}
	return p.judged
}

// Newest reports whether the newest run in the profile of that name, a user's own or everybody's, is
// that of the user's application, so that it can be taken back, and whose profile that is.
func (v View) Newest(user, profile string, id api.AppID) (owner string, newest bool) {
	slot, newest := v.l.profiles.newestOf(user, profile, id)
	return slot.owner, newest
}

// Allocation is what a has on the node, nil for nothing.
func (v View) Allocation(a *App, node string) *Allocation {
	if a == nil {
		return nil
	}
	here := v.l.allocations[node]
	if i, found := slices.BinarySearchFunc(here, a.ID, (*Allocation).compare); found {
		return here[i]
	}
	return nil
}

// Allocations are who has executors on the node, in order of application.
func (v View) Allocations(node string) []*Allocation { return v.l.allocations[node] }

// Running are the applications that have not ended, in order of id.
func (v View) Running() iter.Seq[*App] {
	return func(yield func(*App) bool) {
		for _, a := range v.Apps() {
			if a.Running() && !yield(a) {
				return
			}
		}
	}
}

// named is what sorted puts in order.
type named interface{ name() string }

func (a *App) name() string     { return string(a.ID) }
func (n *Node) name() string    { return n.Node }
func (p *Profile) name() string { return p.Body.Name + "\x00" + p.Body.Owner }

// sorted returns the values of m in order of name: maps are walked in one order
// only, so that the same facts give the same bytes.
func sorted[K comparable, V named](m map[K]V) []V {
	return slices.SortedFunc(maps.Values(m), func(a, b V) int { return cmp.Compare(a.name(), b.name()) })
}
