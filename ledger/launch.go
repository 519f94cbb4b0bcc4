package ledger

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
)

// keptLaunch is the launch of an application as it is saved, made once. Of it count what secrets
// may be in, and what is withheld.
func (a *App) keptLaunch() *api.Launch {
	if a.kept == nil {
		a.kept = a.Tenant.Launch.Kept()
	}
	return a.kept
}

// stored is a's tenant as it is saved: without secrets.
func (a *App) stored() Tenant {
	t, kept := a.Tenant, a.keptLaunch()
	t.Launch.JavaOptions, t.Launch.Env, t.Launch.Withheld = kept.JavaOptions, kept.Env, kept.Withheld
	t.Launch.Attach = kept.Attach
	return t
}

// LaunchTold: the driver of an application has told again how its executors are started, of
// which the store had kept all but the secrets.
type LaunchTold struct {
	App    api.AppID
	Launch api.Launch
}

func (f LaunchTold) apply(l *Ledger) error {
	a, err := l.app(f.App, partRecord)
	if err != nil {
		return err
	}
	if a.Tenant.Launch.Withheld == 0 || f.Launch.Withheld > 0 {
		return fmt.Errorf("of the launch of %s %d bytes are withheld, and told with %d", a.ID, a.Tenant.Launch.Withheld,
			f.Launch.Withheld)
	}
	a.Tenant.Launch, a.kept = *a.Tenant.Launch.Complete(&f.Launch), nil
	for _, node := range a.Seats() {
		l.batch.retell(l.nodes[node], l.View().Allocation(a, node))
	}
	return nil
}

// retell has n told by a new Plan how t's executors are started.
func (b *batch) retell(n *Node, t *Allocation) {
	if n == nil || t == nil {
		return
	}
	t.since, t.launch, t.bytes = 0, nil, 0
	b.changeNode(n, nodeAnew)
}
