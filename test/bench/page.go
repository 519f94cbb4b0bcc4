package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/browser"
	"github.com/sparkpacer/pacer/units"
	"github.com/sparkpacer/pacer/web"
	"github.com/sparkpacer/pacer/web/page"
)

// How many applications and nodes the page shows.
const pageApps, pageNodes = 1000, 500

// paged measures the page: its size, and in a chromium what it asks for, what is wrong with it, and how many elements
// it has where there is much to show.
func paged(t testing.TB, add adder) {
	kib, lines := pageSize(t)
	add("web.kib_gz", benchline.One(kib), "KiB")
	add("web.lines", benchline.One(float64(lines)), "lines")
	add("web.go_lines", benchline.One(float64(serverLines(t))), "lines")
	look := lookedAt{began: time.Now().Add(-10 * time.Minute)}
	door := web.New(web.Config{Serves: func() (web.Planner, error) { return &look, nil },
		Who:   func(string) (api.Principal, error) { return looker, nil },
		Began: func(string, string, error) {}, Release: "0.1.0",
		Planner: func() string { return "127.0.0.1:4222" }})
	server := httptest.NewServer(door)
	t.Cleanup(func() { door.Close(); server.Close() }) // After the browser has ended.

	b := browser.New(t, 1280, 800)
	b.Open(server.URL + "/#" + door.Sessions.Code(looker))
	b.Until(`document.querySelectorAll(".row").length > 1 && document.querySelector(".u-wrap") !== null`)
	add("web.requests_first", benchline.One(float64(len(b.Requests()))), "requests")
	add("web.dom_nodes", benchline.One(browser.Eval[float64](b, `document.querySelectorAll("*").length`)), "elements")
	serious := 0
	for _, theme := range []string{"light", "dark"} {
		b.Theme(theme)
		for _, hash := range []string{"#/", "#/app/" + string(rowOf(1)), "#/profiles", "#/profile/etl", "#/report"} {
			browser.Eval[any](b, fmt.Sprintf("location.hash = %q; 0", hash))
			b.Later(2)
			serious += len(b.Serious())
		}
	}
	elsewhere := 0
	for _, r := range b.Requests() {
		if !strings.HasPrefix(r, server.URL+"/") {
			elsewhere++
		}
	}
	add("web.axe_serious", benchline.One(float64(serious)), "faults")
	add("web.requests_elsewhere", benchline.One(float64(elsewhere)), "requests")
	add("web.console_errors", benchline.One(float64(len(b.Console()))), "errors")
	add("web.csp_violations", benchline.One(float64(len(b.Refused()))), "violations")
}

// pageSize is what a browser loads of the page, compressed as a server does, and how many lines of it are ours.
func pageSize(t testing.TB) (kib float64, lines int) {
	err := fs.WalkDir(page.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(page.Files, name)
		if err != nil {
			return err
		}
		var small bytes.Buffer
		z := gzip.NewWriter(&small)
		_, _ = z.Write(body) // A buffer takes all.
		_ = z.Close()
		kib += float64(small.Len()) / 1024
		if !strings.HasPrefix(name, "lib/") {
			lines += bytes.Count(body, []byte("\n"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return kib, lines
}

// serverLines are the lines of Go that serve API and page, comments and blank lines left out.
func serverLines(t testing.TB) (lines int) {
	files, err := filepath.Glob("web/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no package web here: %v", err)
	}
	for _, file := range append(files, "daemon/http.go", "daemon/webaccess.go") {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(body)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines++
			}
		}
	}
	return lines
}

// looker is who looks.
var looker = api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: api.RoleOperate}

// lookedAt is a planner of many applications and nodes, of which nothing changes but the time.
type lookedAt struct{ began time.Time }

func rowOf(i int) api.AppID { return api.AppID(fmt.Sprintf("app-%04d", i)) }

func (p *lookedAt) app(i int) api.AppSummary {
	a := api.AppSummary{ID: rowOf(i), Name: fmt.Sprintf("etl-%d", i), Profile: "etl", User: fmt.Sprintf("user-%d", i%9),
		State: api.AppRunning, Pacing: "paced", Verdict: api.VerdictFeasible, Headline: "will end in time, on 1.4 of 8 cores",
		Risk: api.RiskOK, Deadline: units.Seconds(1200 + i), Predicted: units.Seconds(1100 + i), Submitted: p.began,
		MeanCores: 2}
	switch {
	case i%10 == 0:
		a.State = api.AppQueued
		a.Queue = &api.Queue{Place: 1 + i/10, Of: pageApps / 10, Start: 900, Why: "12 GiB on any node"}
		a.Headline = "waits for 12 GiB on any node"
	case i%7 == 0:
		a.Risk, a.Predicted, a.Headline = api.RiskLate, a.Deadline+40, "at risk: 40 s late; short of 0.6 cores"
	}
	return a
}

// Look implements web.Planner.
func (p *lookedAt) Look(_ uint64, reply func(api.Changes)) {
	c := api.Changes{At: time.Now(), Version: 1, Release: "0.1.0"}
	for i := range pageApps {
		c.IDs, c.Apps = append(c.IDs, rowOf(i)), append(c.Apps, p.app(i))
	}
	for i := range pageNodes {
		c.Nodes = append(c.Nodes, api.NodeSummary{Node: fmt.Sprintf("node-%d", i), Host: "host", State: "ready", Offered: 8,
			Total: 8, NodeCores: &api.NodeCores{Used: 3.5, Granted: 4.2, Others: 0.3}, Memory: 32 * units.GiB, Executors: 4,
			Version: "0.1.0"})
	}
	go reply(c)
}

// Plan implements web.Planner.
func (p *lookedAt) Plan(_ api.Principal, r api.PlanRequest, reply func(api.PlanReply)) {
	go reply(api.PlanReply{V: api.Version, Verdict: api.VerdictFeasible, Reason: "it fits", Earliest: 600,
		Cores: units.Cores(9800 / float64(r.Deadline)), Stages: []api.PlanReplyLine{}})
}

// Control implements web.Planner.
func (p *lookedAt) Control(_ api.Principal, verb api.Verb, r api.ControlRequest, reply func(api.ControlReply)) {
	a := api.ControlReply{V: api.Version}
	profile := api.Profile{Schema: api.ProfileSchema, Name: "etl", Runs: 4, Duration: 600, Cores: 8,
		Stages: []api.ProfileStage{{Name: "scan", Tasks: 40, Records: 9, Duration: 300, CoreSeconds: 1200, NominalRate: 1}}}
	switch verb {
	case api.VerbApps:
		a.Apps = []api.AppSummary{p.app(1)}
	case api.VerbApp:
		a.App = p.detail()
	case api.VerbWhy:
		a.Why = &api.Why{V: api.Version, App: r.App, Headline: "will end in time", Risk: api.RiskOK,
			Parts: []api.WhyPart{{Part: api.PartQueued, For: 30}, {Part: api.PartPlanned, For: 500}}}
	case api.VerbProfiles, api.VerbProfile:
		a.Profiles, a.Listed = []api.Profile{profile}, []api.ProfileSummary{profile.Summary()}
	case api.VerbCores:
		a.Cores = p.cores()
	case api.VerbReport:
		row := api.ReportRow{Key: "etl", Runs: 12, Met: 11, Late: 1, CoreHours: 4}
		a.Report = &api.Report{By: api.ByProfile, Since: p.began, Until: time.Now(), Rows: []api.ReportRow{row}, Total: row}
	}
	go reply(a)
}

func (p *lookedAt) detail() *api.AppDetail {
	d := &api.AppDetail{AppSummary: p.app(1), Reason: "it fits", Notices: []string{"an executor was lost"}}
	for i := range 3 {
		s := api.AppStage{StageKey: api.StageKey{Stage: i}, Name: "map at etl.py:12", State: "done", Tasks: 40, Deadline: 100,
			Start: units.Seconds(100 * i), Duration: 90, Executors: []api.ExecutorID{"1"}, CoreSeconds: 80}
		if i > 0 {
			s.Parents = []int{i - 1}
		}
		for k := range 90 {
			at := units.Seconds(k)
			s.Samples = append(s.Samples, api.AppSample{At: s.Start + at, Executor: "1", SetPoint: units.Fraction(at / 90),
				Progress: units.Fraction(at / 90), Grant: 2, Used: 1.8})
		}
		d.Stages = append(d.Stages, s)
	}
	d.Executors = []api.AppExecutor{{ID: "1", Node: "node-1", State: api.ExecutorRunning, Registered: true}}
	return d
}

// cores are the last minutes of 40 applications.
func (p *lookedAt) cores() *api.CoresHistory {
	const points = 600
	column := func(v float32) api.Column {
		c := make(api.Column, points)
		for i := range c {
			c[i] = v
		}
		return c
	}
	h := &api.CoresHistory{V: api.Version, Step: 1, From: time.Now().Add(-points * time.Second), Points: points,
		Offered: column(4000), Others: column(80), Rest: api.AppCores{Used: column(2000), Granted: column(2100)}}
	for i := range api.MostCoresApps {
		h.Apps = append(h.Apps, api.AppCores{App: rowOf(i), Used: column(20), Granted: column(22)})
		h.Promised = append(h.Promised, api.PromisedCores{App: rowOf(i), Cores: 4, Until: time.Now().Add(time.Hour)})
	}
	return h
}
