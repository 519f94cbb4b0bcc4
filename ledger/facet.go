package ledger

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"reflect"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Subject is what a ledger keeps facets of: an application that is not history, a node, or a stored profile.
type Subject interface{ *App | *Node | *Profile }

// Facet is what one capability keeps of each T: a value of type S, the zero value of which says nothing. It is
// registered once, in the package of the capability, where the facts stand that change it. The ledger versions, saves,
// restores and audits values, and its snapshots have them.
//
// A value is never changed: of what is new another one is made, with slices and maps of its own. It is saved as JSON.
type Facet[T Subject, S any] struct {
	// Name is that of its records in the store: lower-case letters.
	Name string
	// Check says what cannot be true of a value at any time; nil for nothing. A fact that would make such a value is
	// impossible, and a record that has one is set aside.
	Check func(S) error
	// After is the value after a fact of this package about x, and whether it is another one; nil where none changes
	// it. The fact has been applied to the rest of the ledger.
	After func(s S, v View, x T, f Fact) (S, bool)
	// Cores are those that the value of an application reserves for it: it comes first on them. nil for none.
	Cores func(S) units.Cores
	// Drains reports of a node that it gets no executors while it has the value; nil for never.
	Drains func(S) bool
	// Pacing is the word for how an application runs that is paced and has the value (App.Pacing), "" for another one.
	Pacing func(S) string
	// Observed is why none of an application's executors is held back (App.Observed), "" where they may be.
	Observed func(S) string
	// Wants is how many executors the driver of an application is to ask another cluster manager for, and on which
	// hosts; 0 are as many as its user has said. nil where the value does not say.
	Wants func(S) (executors int, on []string)
	// Holds are the executors of an application that are held at some cores while they work for a stage, in the order of
	// Hold.Compare; nil for none. One facet alone has it.
	Holds func(S) []Hold
	// Instead is the profile that is planned with instead of the one that has the value, nil for none; nil where that is
	// never so.
	Instead func(S) *Profile
	// Part is the part of all that a planner knows which changes when another value comes (PartReserved), 0 for none; nil
	// where that is never so.
	Part func(was, is S) Part
	// Passing says that values are not saved: a planner that starts finds them anew.
	Passing bool
	// Queued is where an application waits that has the value, nil where it does not wait.
	Queued func(S, *App) *api.Queue
	// Lodges are the components that nodes run for an application that has the value, and Awaits whether its executors are
	// to be started when one of these has registered; nil for none.
	Lodges func(S) []Lodging
	Awaits func(S) bool
	// Was reads the value from a record of x itself, where the release before kept it; nil where it kept none.
	Was func(record []byte) (S, error)

	place int
}

// Member reads a value that the release before kept as the member of that name of a record (Facet.Was).
func Member[S any](name string) func(record []byte) (S, error) {
	return func(record []byte) (s S, err error) {
		var members map[string]json.RawMessage
		if err = json.Unmarshal(record, &members); err == nil && members[name] != nil {
			err = json.Unmarshal(members[name], &s)
		}
		return s, err
	}
}

// Register returns a facet that every ledger has. It is for variables of packages.
func Register[T Subject, S any](f Facet[T, S]) *Facet[T, S] {
	all := kindsOf[T]()
	f.place = len(*all)
	plans := f.Cores != nil || f.Drains != nil || f.Pacing != nil || f.Observed != nil || f.Wants != nil ||
		f.Holds != nil || f.Queued != nil || f.Lodges != nil || f.Awaits != nil
	*all = append(*all, &kind{name: f.Name, take: f.take, read: f.read, check: f.check, was: f.was, adds: f.adds,
		part: f.part, queued: f.queued, passing: f.Passing, plans: plans})
	return &f
}

// Of is the value that x has.
func (f *Facet[T, S]) Of(x T) S {
	s, _ := facetsOf(x).at(f.place).value.(S)
	return s
}

// With is x, which no ledger has, with that value.
func (f *Facet[T, S]) With(x T, s S) T {
	*facetsOf(x) = facetsOf(x).with(f.place, held{value: some(s)})
	return x
}

// Version is that of the ledger when x's value changed last (App.Version), 0 for not since the planner's start.
func (f *Facet[T, S]) Version(x T) uint64 { return facetsOf(x).at(f.place).batch }

// kind is a Facet without its types.
type kind struct {
	name string
	// take is the value after a fact about x, and whether it is another one; an error where the fact is the facet's own
	// and cannot be true.
	take  func(v View, x any, f Fact, was any) (value any, changed bool, err error)
	read  func(body []byte) (any, error)
	check func(value any) error
	was   func(record []byte) (any, error)
	// adds has e say what a value says.
	adds   func(value any, e *effect)
	part   func(was, is any) Part
	queued func(value any, a *App) *api.Queue
	// passing says that values are not saved, plans that Plans and Directives are made of them.
	passing, plans bool
}

// The facets that are registered, in their places.
var appKinds, nodeKinds, profileKinds []*kind

// kindsOf are the facets of all T.
func kindsOf[T Subject]() *[]*kind {
	switch any(T(nil)).(type) {
	case *App:
		return &appKinds
	case *Node:
		return &nodeKinds
	default:
		return &profileKinds
	}
}

// facetsOf is what facets keep of x.
func facetsOf[T Subject](x T) *facets {
	switch x := any(x).(type) {
	case *App:
		return &x.held
	case *Node:
		return &x.book.held
	case *Profile:
		return &x.held
	}
	return nil
}

func (f *Facet[T, S]) take(v View, x any, fact Fact, was any) (any, bool, error) {
	s, _ := was.(S)
	if own, ok := fact.(interface{ Apply(View, T, *S) error }); ok {
		if err := own.Apply(v, x.(T), &s); err != nil {
			return nil, false, err
		}
		return some(s), true, f.check(some(s))
	}
	if f.After == nil {
		return nil, false, nil
	}
	s, changed := f.After(s, v, x.(T), fact)
	return some(s), changed, nil
}

// some is s, nil for the zero value.
func some[S any](s S) any {
	if reflect.ValueOf(&s).Elem().IsZero() {
		return nil
	}
	return s
}

func (f *Facet[T, S]) read(body []byte) (any, error) {
	var s S
	if err := json.Unmarshal(body, &s); err != nil {
		return nil, err
	}
	return some(s), f.check(some(s))
}

func (f *Facet[T, S]) check(value any) error {
	s, _ := value.(S)
	if f.Check == nil {
		return nil
	}
	if err := f.Check(s); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return nil
}

func (f *Facet[T, S]) was(record []byte) (any, error) {
	if f.Was == nil {
		return nil, nil
	}
	s, err := f.Was(record)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return some(s), nil
}

func (f *Facet[T, S]) adds(value any, e *effect) {
	s, held := value.(S)
	if !held {
		return
	}
	if f.Cores != nil {
		e.cores += f.Cores(s)
	}
	if f.Drains != nil {
		e.drains = e.drains || f.Drains(s)
	}
	if f.Pacing != nil {
		e.pacing = cmp.Or(e.pacing, f.Pacing(s))
	}
	if f.Observed != nil {
		e.observed = cmp.Or(e.observed, f.Observed(s))
	}
	if f.Wants != nil {
		e.wanted, e.on = f.Wants(s)
	}
	if f.Holds != nil {
		e.holds = f.Holds(s)
	}
	if f.Lodges != nil {
		e.lodges = append(e.lodges, f.Lodges(s)...)
	}
	if f.Awaits != nil {
		e.awaits = e.awaits || f.Awaits(s)
	}
	if f.Instead != nil {
		if p := f.Instead(s); p != nil {
			e.instead = p
		}
	}
}

func (f *Facet[T, S]) part(was, is any) Part {
	if f.Part == nil {
		return 0
	}
	before, _ := was.(S)
	now, _ := is.(S)
	return f.Part(before, now)
}

func (f *Facet[T, S]) queued(value any, a *App) *api.Queue {
	if s, held := value.(S); held && f.Queued != nil {
		return f.Queued(s, a)
	}
	return nil
}

// Queue is where a waits, as its driver and its user are told (Facet.Queued); nil where it does not.
func (a *App) Queue() *api.Queue {
	for place, h := range a.held.list {
		if q := appKinds[place].queued(h.value, a); q != nil {
			return q
		}
	}
	return nil
}

// count takes in anew what facets of those kinds say of f together.
func (f *facets) count(kinds []*kind) {
	f.effect = effect{}
	for place, h := range f.list {
		kinds[place].adds(h.value, &f.effect)
		f.bytes += h.bytes
	}
}

// facetRecord is the record of a value.
type facetRecord struct {
	V     int `json:"v"`
	Value any `json:"value"`
}

// encodeFacet is the record of a value, and its sum.
func encodeFacet(value any) (body []byte, sum uint64, err error) {
	body, err = json.Marshal(facetRecord{Layout, value})
	h := fnv.New64a()
	h.Write(body)
	return body, h.Sum64(), err
}
