package waiting

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Gift is an executor that an application was asked to give back for another one, which waited.
type Gift struct {
	ID  api.ExecutorID `json:"id"`
	For api.AppID      `json:"for"`
	// At is when that was asked, on the application's deadline clock; Stayed says that it took too long.
	At     units.Seconds `json:"asked_s,omitempty"`
	Stayed bool          `json:"stayed,omitempty"`
}

var giving = ledger.Register(ledger.Facet[*ledger.App, []Gift]{Name: "giving", After: given, Part: turns,
	Was: wasGiven})

// Gifts are those of a, in order of executor, those that have left included.
func Gifts(a *ledger.App) []Gift { return giving.Of(a) }

// GiftOf is that of an executor of a, if it is one: another one of its id may have come since.
func GiftOf(a *ledger.App, id api.ExecutorID) (Gift, bool) {
	i, found := find(Gifts(a), id)
	if !found || !leaves(a.Executor(id)) {
		return Gift{}, false
	}
	return Gifts(a)[i], true
}

func leaves(x *ledger.Executor) bool { return x.Leaving || x.Gone }

func find(all []Gift, id api.ExecutorID) (int, bool) {
	return slices.BinarySearchFunc(all, id, func(g Gift, id api.ExecutorID) int { return api.CompareExecutors(g.ID, id) })
}

// Giving is a gift with the application whose executor it is.
type Giving struct {
	Gift
	From *ledger.App
}

// Executor is the one that is to leave.
func (g Giving) Executor() *ledger.Executor { return g.From.Executor(g.ID) }

// Given are the executors that applications were asked to give back for those that wait, by these, in order of
// application and executor. Applications that are history give nothing.
func Given(v ledger.View) map[api.AppID][]Giving {
	if len(v.Waiting()) == 0 {
		return nil
	}
	all := make(map[api.AppID][]Giving)
	for _, a := range v.Apps() {
		for _, g := range Gifts(a) {
			if w := v.App(g.For); w != nil && w.Queued() && leaves(a.Executor(g.ID)) {
				all[w.ID] = append(all[w.ID], Giving{g, a})
			}
		}
	}
	return all
}

// given are the gifts of a after a fact.
func given(all []Gift, v ledger.View, a *ledger.App, fact ledger.Fact) ([]Gift, bool) {
	if f, begun := fact.(ledger.RunBegan); begun && len(all) > 0 {
		all = slices.Clone(all)
		for i := range all {
			all[i].At -= f.By
		}
		return all, true
	}
	f, leaves := fact.(ledger.ExecutorLeaving)
	if !leaves || f.For == "" {
		return all, false
	}
	at, found := find(all, f.ID)
	if all = slices.Clone(all); found {
		all = slices.Delete(all, at, at+1)
	}
	return slices.Insert(all, at, Gift{ID: f.ID, For: f.For, At: max(0, a.At(v.Now()))}), true
}

// turns says that it is the turn of others once one stays that was to leave.
func turns(was, is []Gift) ledger.Part {
	if len(was) == len(is) {
		return ledger.PartTurns
	}
	return 0
}

// wasGiven reads what the release before kept with each executor.
func wasGiven(record []byte) (all []Gift, err error) {
	var r struct {
		Tenant struct {
			Executors []Gift `json:"executors"` // In order of id.
		} `json:"tenant"`
	}
	err = json.Unmarshal(record, &r)
	for _, x := range r.Tenant.Executors {
		if x.For != "" {
			all = append(all, x)
		}
	}
	return all, err
}

// Stayed: an executor that was to be given back has not left in time.
type Stayed struct {
	ledger.OfApp
	ID   api.ExecutorID
	Node string
	For  api.AppID
	// After is for how long it was waited for.
	After time.Duration
}

// Line is what it says.
func (f Stayed) Line() ledger.Line {
	line := f.Says("executor stayed", "%s executor %s on %s has not left in %v: another one is given to %s", f.App, f.ID,
		f.Node, f.After, f.For)
	line.Trouble, line.Fields = true, append(line.Fields, "executor", string(f.ID), "node", f.Node)
	return line
}

// Apply says that a's executor stays.
func (f Stayed) Apply(_ ledger.View, a *ledger.App, all *[]Gift) error {
	i, found := find(*all, f.ID)
	if x := a.Executor(f.ID); !found || x == nil || x.Gone || (*all)[i].For != f.For {
		return fmt.Errorf("executor %s of %s is not to be given to %q", f.ID, f.App, f.For)
	}
	*all = slices.Clone(*all)
	(*all)[i].Stayed = true
	return nil
}
