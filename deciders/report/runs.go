package report

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Run is what is kept of a, of which s is the summary at its end.
func Run(p estimate.Policy, v ledger.View, a *ledger.App, s *api.AppSummary) ledger.Run {
	r := ledger.Run{App: a.ID, Profile: s.Profile, User: s.User, Class: cmp.Or(a.Tenant.Class, api.ClassDeadline),
		State: s.State, Killed: a.Outcome.Killed != "", Duration: s.Duration, Deadline: s.Deadline, Work: s.CoreSeconds,
		Mean: s.MeanCores, Offered: a.Tenant.Cores}
	if a.Profile != nil && a.Profile.Match != nil && s.State == api.AppFinished {
		if r.Compared = compared(a); r.Compared > 0 {
			r.Profiled = a.Profile.Body.Work()
		}
		if kept := reserve(p, v, a); kept != nil {
			r.Kept = kept.Time
			r.Unforeseen, _ = estimate.Unforeseen(a)
		}
	}
	return r
}

// Runs are what the runs came to that sees lets through, by what q asks for.
func Runs(v ledger.View, q api.Query, sees func(*ledger.Run) bool) api.Report {
	by := cmp.Or(q.By, api.ByProfile)
	until := time.Unix(0, int64(v.Now())).UTC()
	since := time.Time{}
	if q.Since > 0 && q.Since < units.FromDuration(time.Duration(v.Now())) {
		since = until.Add(-q.Since.Duration())
	}
	zone := time.FixedZone("", q.UTCOffset)
	total, rows := sum{ended: map[ledger.Result]int{}}, make(map[string]*sum)
	for r := range v.Runs() {
		at := time.Unix(0, int64(r.At))
		if at.Before(since) || !sees(r) {
			continue
		}
		key := r.Profile
		switch by {
		case api.ByUser:
			key = r.User
		case api.ByClass:
			key = string(r.Class)
		case api.ByDay:
			key = at.In(zone).Format(time.DateOnly)
		}
		if rows[key] == nil {
			rows[key] = &sum{row: api.ReportRow{Key: key}, ended: map[ledger.Result]int{}}
		}
		rows[key].add(r)
		total.add(r)
	}
	d := api.Report{V: api.Version, By: by, Since: since.UTC(), Until: until, Rows: []api.ReportRow{}, Total: total.end()}
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		d.Rows = append(d.Rows, rows[key].end())
	}
	return d
}

// sum is a row under way.
type sum struct {
	row                api.ReportRow
	ended              map[ledger.Result]int
	margins            []units.Seconds
	shares             []float64
	work               units.Work
	compared, profiled units.Work
	ran                units.Seconds
	held, offered      float64 // Cores times seconds.
}

func (s *sum) add(r *ledger.Run) {
	s.row.Runs++
	s.ended[r.Result()]++
	if r.State == api.AppFinished && !r.Killed && r.Deadline > 0 {
		s.margins = append(s.margins, r.Deadline-r.Duration)
		s.shares = append(s.shares, float64((r.Deadline-r.Duration)/r.Deadline*100))
	}
	if r.Kept > 0 {
		s.row.Kept++
		if r.Unforeseen <= r.Kept {
			s.row.Within++
		}
	}
	s.work += r.Work
	s.compared += r.Compared
	s.profiled += r.Profiled
	if r.Mean > 0 && r.Offered > 0 {
		s.ran += r.Duration
		s.held += float64(r.Mean) * float64(r.Duration)
		s.offered += float64(r.Offered) * float64(r.Duration)
	}
}

func (s *sum) end() api.ReportRow {
	const hour = 3600
	r, c := s.row, s.ended
	r.Met, r.Late, r.Unbound = c[ledger.ResultMet], c[ledger.ResultLate], c[ledger.ResultUnbound]
	r.Failed, r.Killed = c[ledger.ResultFailed], c[ledger.ResultKilled]
	r.Refused, r.Unknown = c[ledger.ResultRefused], c[ledger.ResultUnknown]
	r.CoreHours = float64(s.work) / hour
	r.Margin, r.MarginPct = median(s.margins), median(s.shares)
	if s.profiled > 0 {
		paced, profiled := float64(s.compared)/hour, float64(s.profiled)/hour
		r.PacedCoreHours, r.ProfileCoreHours = &paced, &profiled
	}
	if s.ran > 0 {
		held, offered := units.Cores(s.held/float64(s.ran)), units.Cores(s.offered/float64(s.ran))
		freed := max(0, s.offered-s.held) / hour
		r.Held, r.Offered, r.FreedCoreHours = &held, &offered, &freed
	}
	return r
}

// median is that of values, which it puts in order; nil of none.
func median[T ~float64](values []T) *T {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	m := values[len(values)/2]
	if len(values)%2 == 0 {
		m = (m + values[len(values)/2-1]) / 2
	}
	return &m
}
