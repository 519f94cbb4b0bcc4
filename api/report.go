package api

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// ReportBy is what a Report's rows are of.
type ReportBy string

// The values of ReportBy; "" counts as the first one.
const (
	ByProfile ReportBy = "profile"
	ByUser    ReportBy = "user"
	ByClass   ReportBy = "class"
	ByDay     ReportBy = "day"
)

// ReportBys are all of them.
func ReportBys() []ReportBy { return []ReportBy{ByProfile, ByUser, ByClass, ByDay} }

// Query says what is wanted of a Report (VerbReport) or of a CoresHistory (VerbCores).
type Query struct {
	// By is what the rows of the report are of, of the runs that ended in the last Since, 0 for all that are kept. Days
	// begin at midnight at UTCOffset, in seconds east of UTC.
	By        ReportBy      `json:"by,omitempty"`
	Since     units.Seconds `json:"since_s,omitempty"`
	UTCOffset int           `json:"utc_offset_s,omitempty"`
	// Step of the history is 1 for the last 15 minutes by the second, which 0 is too, 60 for the last 24 hours by the
	// minute. After leaves out the points until that moment; zero is none.
	Step  units.Seconds `json:"step_s,omitempty"`
	After time.Time     `json:"after,omitzero"`
	// From and To are numbers of versions of a profile, 0 for the one before To and the newest.
	From int `json:"from_version,omitempty"`
	To   int `json:"to_version,omitempty"`
	// Token is the one that is wanted.
	Token TokenRequest `json:"token,omitzero"`
	// Submit is a driver for a node to start, or a piece of a file of it.
	Submit *Submit `json:"submit,omitempty"`
}

func (q *Query) validate(f *faults) {
	if q.Submit != nil {
		q.Submit.validate(f)
	}
	f.check(q.By == "" || slices.Contains(ReportBys(), q.By), "by is %q, want one of %v", Clip(string(q.By), MostToken),
		ReportBys())
	f.finite("since_s", float64(q.Since))
	f.between("utc_offset_s", float64(q.UTCOffset), -86400, 86400)
	f.check(q.Step == 0 || q.Step == 1 || q.Step == 60, "step_s is %v, want 1 or 60", float64(q.Step))
	f.count("from_version", q.From, MostCount)
	f.count("to_version", q.To, MostCount)
	most := MostTokenFor
	if q.Token.Scrape {
		most = MostScrapeFor
	}
	f.between("token.for_s", float64(q.Token.For), 0, float64(most))
	f.text("token.hash", q.Token.Hash, MostToken)
}

// Report adds up the runs that ended from Since to Until, of those that who asks may see.
type Report struct {
	V     int       `json:"v"`
	By    ReportBy  `json:"by"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	// Rows are in order of Key, Total is of all runs.
	Rows  []ReportRow `json:"rows"`
	Total ReportRow   `json:"total"`
}

// ReportRow is what runs came to. Key is their profile, user, class or day ("2026-11-28").
type ReportRow struct {
	Key  string `json:"key"`
	Runs int    `json:"runs"`
	// Each run is one of these: with a deadline and finished Met or Late, without one Unbound; Killed at somebody's
	// wish; Unknown where nobody knows how it ended.
	Met     int `json:"met"`
	Late    int `json:"late"`
	Unbound int `json:"unbound"`
	Failed  int `json:"failed"`
	Killed  int `json:"killed"`
	Refused int `json:"refused"`
	Unknown int `json:"unknown"`
	// Kept are those that kept time for what nobody foresaw, Within those of them that took no more than that: about the
	// share that they were to be in time with.
	Kept   int `json:"kept,omitempty"`
	Within int `json:"within,omitempty"`
	// Margin is the median of how long before their deadlines those of Met and Late ended, below 0 after them;
	// MarginPct that of the margins in per cent of the deadlines (Eq 4). nil without any.
	Margin    *units.Seconds `json:"median_margin_s"`
	MarginPct *float64       `json:"median_margin_pct"`
	// CoreHours are those that all runs used. Of the runs whose profile knows what they take at all cores,
	// PacedCoreHours are those that they used, and ProfileCoreHours what the profile says; nil without any.
	CoreHours        float64  `json:"core_hours"`
	PacedCoreHours   *float64 `json:"paced_core_hours"`
	ProfileCoreHours *float64 `json:"profile_core_hours"`
	// Held is how many cores a run had on average while it ran, Offered how many its nodes offered it; nil where none
	// of them ran.
	Held    *units.Cores `json:"held_cores"`
	Offered *units.Cores `json:"offered_cores"`
	// FreedCoreHours are those that the runs' nodes offered them and others could have: what pacing saves.
	FreedCoreHours *float64 `json:"freed_core_hours"`
}

// CoresHistory is who had the cluster's cores, at points of time that are Step apart: columns with a value for each of
// them. Each of the first columns is a mean over Step. It is lost at the planner's restart.
type CoresHistory struct {
	V    int           `json:"v"`
	Step units.Seconds `json:"step_s"`
	// From is the first point; there is none where Points is 0.
	From   time.Time `json:"from"`
	Points int       `json:"points"`
	// Offered are the cores that nodes give to executors, Others what anything but Pacer's executors used.
	Offered Column `json:"offered_cores"`
	Others  Column `json:"others_cores"`
	// Apps are the applications that used most, the first of them first; Rest all others together, with no App.
	Apps []AppCores `json:"apps"`
	Rest AppCores   `json:"rest"`
	// Promised is what applications are promised from now on, in order of the deadlines.
	Promised []PromisedCores `json:"promised"`
}

// MostCoresApps is how many applications a CoresHistory names.
const MostCoresApps = 40

// AppCores are the cores of an application.
type AppCores struct {
	App AppID `json:"app,omitempty"`
	// Used are those that its executors used, Granted the quotas of these; one without a quota counts as it uses.
	Used    Column `json:"used_cores"`
	Granted Column `json:"granted_cores"`
}

// PromisedCores are the least cores with which an application meets its deadline, from now until then. It has none of
// its own where Until is zero: nobody knows its end, and it has what it can use of the cores.
type PromisedCores struct {
	App   AppID       `json:"app"`
	Cores units.Cores `json:"cores"`
	Until time.Time   `json:"until,omitzero"`
}

// Column is a value for each point of time; NaN, which is null in JSON, where nobody knows it.
type Column []float32

// MarshalJSON writes two decimals.
func (c Column) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 2+6*len(c)), '[')
	for i, v := range c {
		if i > 0 {
			b = append(b, ',')
		}
		if wide := float64(v); math.IsNaN(wide) || math.IsInf(wide, 0) {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendFloat(b, math.Round(wide*100)/100, 'f', -1, 64)
		}
	}
	return append(b, ']'), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Column) UnmarshalJSON(b []byte) error {
	var values []*float32
	if err := json.Unmarshal(b, &values); err != nil {
		return err
	}
	*c = make(Column, len(values))
	for i, v := range values {
		if (*c)[i] = float32(math.NaN()); v != nil {
			(*c)[i] = *v
		}
	}
	return nil
}
