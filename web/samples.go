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
// sums. Request is not known where it is 0, Grant while an executor has no quota. SetPoint and Progress are not known
// where nothing controls the stage, as of an application that records or is released: both are 0 then.
type stageColumns struct {
	api.StageKey
	At       []units.Seconds `json:"at_s"`
	SetPoint api.Column      `json:"set_point"`
	Progress api.Column      `json:"progress"`
	Request  api.Column      `json:"request_cores"`
	Grant    api.Column      `json:"grant_cores"`
	Used     api.Column      `json:"used_cores"`
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

// columns puts samples of several executors, which ticked at different moments, on one grid. The last sample of an
// executor counts until its next one; what is done stays done after its last one, and it has no cores then.
func columns(key api.StageKey, list []api.AppSample) *stageColumns {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b api.AppSample) int { return cmp.Compare(a.At, b.At) })
	first, last := list[0].At, map[api.ExecutorID]units.Seconds{}
	for _, s := range list {
		last[s.Executor] = s.At
	}
	width := max(tick, (list[len(list)-1].At-first)/(mostPoints-1))
	slot := func(at units.Seconds) int { return int((at - first) / width) }
	c, shown := &stageColumns{StageKey: key}, map[api.ExecutorID]look{}
	for i, s := range list {
		now := look{s, s.SetPoint != 0 || s.Progress != 0}
		if !now.controlled {
			now.SetPoint, now.Progress = shown[s.Executor].SetPoint, shown[s.Executor].Progress
		}
		shown[s.Executor] = now
		if i+1 == len(list) || slot(list[i+1].At) != slot(s.At) {
			at := first + width*units.Seconds(slot(s.At))
			c.add(s.At, shown, func(x api.ExecutorID) bool { return last[x] >= at })
		}
	}
	return c
}

// look is what an executor has shown last, with the newest set point and progress that are known.
type look struct {
	api.AppSample
	controlled bool
}

// add adds a point: what executors have shown last, of which some are still at work.
func (c *stageColumns) add(at units.Seconds, shown map[api.ExecutorID]look, works func(api.ExecutorID) bool) {
	var setPoint, progress units.Fraction
	var request, grant, used units.Cores
	controlled := false
	for x, s := range shown {
		setPoint += s.SetPoint / units.Fraction(len(shown))
		progress += s.Progress / units.Fraction(len(shown))
		if !works(x) {
			continue
		}
		controlled = controlled || s.controlled
		request, used = request+s.Request, used+s.Used
		if grant += s.Grant; s.Grant < 0 {
			grant = units.Cores(math.NaN())
		}
	}
	if request == 0 {
		request = units.Cores(math.NaN())
	}
	if !controlled {
		setPoint, progress = units.Fraction(math.NaN()), units.Fraction(math.NaN())
	}
	c.At = append(c.At, at)
	c.SetPoint, c.Progress = append(c.SetPoint, float32(setPoint)), append(c.Progress, float32(progress))
	c.Request, c.Grant = append(c.Request, float32(request)), append(c.Grant, float32(grant))
	c.Used = append(c.Used, float32(used))
}
