package ledger

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// ClockRead: the driver of an application has shown its deadline clock, which is Ahead of what
// was made of it here: the planner's own clock was set while it was down.
type ClockRead struct {
	App   api.AppID
	Ahead units.Seconds
}

func (f ClockRead) apply(l *Ledger) error {
	a, err := l.app(f.App, partNone)
	if err != nil {
		return err
	}
	if err := units.Finite("ahead", max(f.Ahead, -f.Ahead)); err != nil {
		return err
	}
	a.Clocks.Read = true
	if f.Ahead != 0 {
		by := -f.Ahead.Duration()
		a.Promise.Start = a.Promise.Start.Add(by)
		l.batch.change(a, partState)
	}
	return nil
}
