package node

import "github.com/sparkpacer/pacer/api"

// takeComponent takes over what runs under a name in an executor's place: c, such as a driver. No executors are held
// back for it: what it uses of the node's cores is others'.
func takeComponent(a *app, r *roster, id api.ExecutorID, c *api.Component) {
	p := a.plan
	x := r.ensure(Key{p.ID, id})
	x.life.listed, x.life.component = true, c
	x.unmanaged, x.shares, x.hasDeadline, x.part = p.Launch.Mode.Unmanaged(), p.Band == api.BandShared, p.HasDeadline,
		p.Class.Weight()
	x.memory.take(c.Launch(p.Launch), x.life.started)
	a.components = append(a.components, x)
}

// keepComponents keeps the components of a that run, of which its planner knows nothing: it has lost its state, or is
// another one. An application that is over has none.
func keepComponents(a *app, r *roster) {
	for _, x := range r.execs {
		if x.key.App == a.plan.ID && x.key.ID.Component() && !x.life.listed && len(a.plan.Components) == 0 &&
			a.plan.Component == nil && x.life.state != api.ExecutorExited && (x.life.started || x.life.here) {
			x.life.listed = true
			a.components = append(a.components, x)
		}
	}
}
