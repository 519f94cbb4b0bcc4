package web

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

const (
	// mostPoints is how many points a stage has at most.
	mostPoints = 2000
	// tick is the time between two samples of an executor.
	tick = units.Seconds(0.5)
)

// stageColumns are what a stage was to do and did over time, on all executors together: fractions are means, cores are
// sums. Request is not known where it is 0, Grant while an executor has no quota.
type stageColumns struct {
	api.StageKey
	At       []units.Seconds  `json:"at_s"`
	SetPoint []units.Fraction `json:"set_point"`
	Progress []units.Fraction `json:"progress"`
	Request  api.Column       `json:"request_cores"`
	Grant    api.Column       `json:"grant_cores"`
	Used     api.Column       `json:"used_cores"`
}

// samplesOf are those of an application's stages, in columns.
func samplesOf(r *api.ControlReply) any {
	stages := []*stageColumns{}
	for _, s := range r.App.Stages {
		if len(s.Samples) > 0 {
			stages = append(stages, columns(s.StageKey, s.Samples))
		}
	}
	return object{"v": api.Version, "app": r.App.ID, "stages": stages}
}

// columns puts samples of several executors, which ticked at different moments, on one grid. What an executor showed
// last counts until its next sample; what is done stays done after its last one, and it has no cores then.
func columns(key api.StageKey, list []api.AppSample) *stageColumns {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b api.AppSample) int { return cmp.Compare(a.At, b.At) })
	first, last := list[0].At, map[api.ExecutorID]units.Seconds{}
	for _, s := range list {
		last[s.Executor] = s.At
	}
	width := max(tick, (list[len(list)-1].At-first)/(mostPoints-1))
	slot := func(at units.Seconds) int { return int((at - first) / width) }
	c, shown := &stageColumns{StageKey: key}, map[api.ExecutorID]api.AppSample{}
	for i, s := range list {
		shown[s.Executor] = s
		if i+1 == len(list) || slot(list[i+1].At) != slot(s.At) {
			at := first + width*units.Seconds(slot(s.At))
			c.add(s.At, shown, func(x api.ExecutorID) bool { return last[x] >= at })
		}
	}
	return c
}

// add adds a point: what executors have shown last, of which some are still at work.
func (c *stageColumns) add(at units.Seconds, shown map[api.ExecutorID]api.AppSample, works func(api.ExecutorID) bool) {
	var setPoint, progress units.Fraction
	var request, grant, used units.Cores
	for x, s := range shown {
		setPoint += s.SetPoint / units.Fraction(len(shown))
		progress += s.Progress / units.Fraction(len(shown))
		if !works(x) {
			continue
		}
		request, used = request+s.Request, used+s.Used
		if grant += s.Grant; s.Grant < 0 {
			grant = units.Cores(math.NaN())
		}
	}
	if request == 0 {
		request = units.Cores(math.NaN())
	}
	c.At, c.SetPoint, c.Progress = append(c.At, at), append(c.SetPoint, setPoint), append(c.Progress, progress)
	c.Request, c.Grant = append(c.Request, float32(request)), append(c.Grant, float32(grant))
	c.Used = append(c.Used, float32(used))
}
