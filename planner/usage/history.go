package usage

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// history is what r has after a moment.
func (r *ring) history(after time.Time) api.CoresHistory {
	from := max(r.first, r.at-r.size)
	if !after.IsZero() {
		from = min(max(from, after.Unix()/r.step+1), r.at)
	}
	n := int(r.at - from)
	d := api.CoresHistory{V: api.Version, Step: units.Seconds(r.step), From: time.Unix(from*r.step, 0).UTC(), Points: n,
		Offered: r.cut(r.offered, from), Others: r.cut(r.others, from), Apps: []api.AppCores{},
		Rest: r.shown(r.rest, from), Promised: []api.PromisedCores{}}
	sums := make(map[api.AppID]float64)
	apps := make(map[api.AppID]api.AppCores)
	for id, c := range r.columns {
		a := r.shown(c, from)
		for i, used := range a.Used {
			if used > 0 || a.Granted[i] > 0 { // And is known.
				sums[id] += float64(used)
				apps[id] = a
			}
		}
	}
	order := slices.SortedFunc(maps.Keys(apps), func(a, b api.AppID) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b))
	})
	for i, id := range order {
		a := apps[id]
		if a.App = id; i < api.MostCoresApps {
			d.Apps = append(d.Apps, a)
			continue
		}
		for k := range a.Used {
			d.Rest.Used[k] += a.Used[k]
			d.Rest.Granted[k] += a.Granted[k]
		}
	}
	return d
}

// shown is c from a point on.
func (r *ring) shown(c *column, from int64) api.AppCores {
	a := api.AppCores{Used: r.cut(c.used, from), Granted: r.cut(c.granted, from)}
	for i := range a.Used {
		if offered := r.offered[(from+int64(i))%r.size]; math.IsNaN(float64(offered)) {
			a.Used[i], a.Granted[i] = offered, offered
		}
	}
	return a
}

// cut is a column from a point on.
func (r *ring) cut(column []float32, from int64) api.Column {
	c := make(api.Column, r.at-from)
	for i := range c {
		c[i] = column[(from+int64(i))%r.size]
	}
	return c
}
