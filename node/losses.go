package node

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// losses are what applications asked for and were not granted, and who had it instead.
type losses struct {
	list []api.Loss // In order of App and To.
	// short are the applications with a deadline that can be kept that are short of cores.
	short []shortage
}

// shortage is that of an application, which has had what it asks for in the last calm ticks.
type shortage struct {
	api.Shortage
	calm int
}

// calmAgain is for how many ticks an application has to have what it asks for until its
// shortage is over.
const calmAgain = 4

// mostLosses bounds the list: what comes beyond is not told.
const mostLosses = 512

// add counts what app lost to another.
func (l *losses) add(app, to api.AppID, work units.Work) {
	at, found := slices.BinarySearchFunc(l.list, api.Loss{App: app, To: to}, compareLosses)
	switch {
	case found:
		l.list[at].CoreSeconds += work
	case len(l.list) < mostLosses:
		l.list = slices.Insert(l.list, at, api.Loss{App: app, To: to, CoreSeconds: work})
	}
}

func compareLosses(a, b api.Loss) int {
	return cmp.Or(cmp.Compare(a.App, b.App), cmp.Compare(a.To, b.To))
}

// forget drops the applications that are gone.
func (l *losses) forget(gone func(api.AppID) bool) {
	l.list = slices.DeleteFunc(l.list, func(x api.Loss) bool { return gone(x.App) })
	l.short = slices.DeleteFunc(l.short, func(x shortage) bool { return gone(x.App) })
}

// goOn notes that an application is short still, and reports whether it was, and whether it is
// given up only now.
func (l *losses) goOn(s api.Shortage) (was, yields bool) {
	for i := range l.short {
		if of := &l.short[i]; of.App == s.App {
			yields = s.GivenUp && !of.GivenUp
			of.Shortage, of.calm = s, 0
			return true, yields
		}
	}
	return false, s.GivenUp
}

// begin notes that an application is short, which it was not.
func (l *losses) begin(s api.Shortage) { l.short = append(l.short, shortage{Shortage: s}) }

// pass lets a tick go by in which an application is not short, and reports whether its
// shortage is over by that.
func (l *losses) pass(app api.AppID) bool {
	for i := range l.short {
		if s := &l.short[i]; s.App == app {
			if s.calm++; s.calm < calmAgain {
				return false
			}
			l.short = slices.Delete(l.short, i, i+1)
			return true
		}
	}
	return false
}
