package ledger

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
)

// PutBehind: an application comes after the others of its band on its nodes, for Why, or no more, with "".
type PutBehind struct {
	App api.AppID
	Why string
}

func (f PutBehind) apply(l *Ledger) error {
	a, err := l.app(f.App, partTargets)
	if err == nil && f.Why != "" && a.Band() != api.BandPromised {
		return fmt.Errorf("application %s shares what others leave: it is behind them", a.ID)
	}
	if err == nil {
		a.Marks.Behind = f.Why != ""
	}
	return err
}
