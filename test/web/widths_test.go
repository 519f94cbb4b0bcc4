package web

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/test/browser"
	"github.com/sparkpacer/pacer/test/testenv"
	"github.com/sparkpacer/pacer/units"
)

// brokenPlaces is an expression: the places of the page that cannot be read in the window as it is.
//
//go:embed widths.js
var brokenPlaces string

// widths are those of windows, in CSS pixels: telephones, a tablet, small and ordinary screens.
var widths = []int{360, 400, 768, 1024, 1280}

// long is a name as people make them up, with a word that nothing divides.
const long = "sales report für Köln — all_customers_of_the_last_forty_years_by_region_and_by_product_group_with_returns — final 2"

// etl is the call site of a stage.
const etl = "collect at /srv/warehouse/jobs of the year 2026/sales/reports/for-all-regions/etl.py:34"

// longJob is an application with that name, whose stages have such call sites.
func longJob(stages int, work units.Work) plant.App {
	a := testenv.Chain(long, stages, work)
	for i := range a.Stages {
		a.Stages[i].Name = etl
	}
	return a
}

// Every view can be read in every window, whatever things are called: nothing is outside, and what is cut ends in an
// ellipsis and is told whole to who points at it. With PACER_TEST_PICTURES each is written as a picture there.
func TestEveryViewFitsEveryWidth(t *testing.T) {
	empty(t, func(s *site) {
		broken, looked := 0, 0
		look := func(view string) {
			for _, width := range widths {
				s.Size(width, 1400)
				browser.Eval[any](s.Tab, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`)
				for _, place := range browser.Eval[[]string](s.Tab, brokenPlaces) {
					t.Errorf("%s at %d pixels: %s", view, width, place)
					broken++
				}
				if looked++; os.Getenv("PACER_TEST_PICTURES") != "" {
					s.Picture(filepath.Join(os.Getenv("PACER_TEST_PICTURES"), fmt.Sprintf("%s-%d.png", view, width)))
				}
			}
			s.Size(1280, 800)
		}
		goTo := func(view, hash, shows string) {
			browser.Eval[any](s.Tab, fmt.Sprintf("location.hash = %q; 0", hash))
			s.Until(shows)
			s.Later(1)
			look(view)
		}
		s.Open("http://" + s.address + "/")
		s.Seen("Open a session")
		look("log-in")
		s.Open("about:blank") // Else another hash is no other page.
		s.enter()
		s.Seen("No node is ready")
		look("first-run-without-a-node")
		for _, name := range []string{"machine-beside-the-river", "n2"} {
			s.world.StartNode(testenv.NodeSpec{Name: name, Cores: 2})
		}
		browser.Eval[any](s.Tab, `import("./state.js").then(({session: s}) => (s.value = {...s.value, planner: "planner-1.computing-centre.example.org:4999"}, 0))`)
		s.Seen("2 nodes are ready")
		look("first-run")

		ended := s.world.Submit(longJob(3, 1))
		ended.Wait()
		a := longJob(3, 1)
		a.Deadline = 1
		late := s.world.Submit(a)
		late.Wait()
		p := api.Profile{Schema: api.ProfileSchema, Name: "beside others", Runs: 1, Duration: 28, Cores: 4, Contended: true,
			Stages: []api.ProfileStage{{Name: etl, Signature: "s", Tasks: 4, Duration: 20, Records: 9, CoreSeconds: 40, NominalRate: 1}}}
		if _, err := s.world.Ask(api.VerbProfilePut, api.ControlRequest{Body: &p}); err != nil {
			t.Fatal(err)
		}
		a = longJob(3, 1)
		a.Deadline, a.Stages[0].Work = 900, 700
		runs := s.world.Submit(a)
		s.world.Until("its first stage runs", func() bool { return len(s.world.App(runs.ID()).Stages) > 0 })

		goTo("now", "#/", `document.querySelectorAll(".row").length === 3 && document.querySelectorAll(".legend .swatch.s0").length > 0`)
		for view, id := range map[string]api.AppID{"runs": runs.ID(), "ended": ended.ID(), "late": late.ID()} {
			goTo(view, "#/app/"+string(id), `document.querySelector(".badge") !== null && `+
				`document.querySelector("code").innerText === "`+string(id)+`" && `+
				`document.querySelectorAll(".dag svg g").length >= 3`)
		}
		goTo("runs", "#/app/"+string(runs.ID()), `document.querySelector(".acts .grave") !== null`)
		s.Click(".acts .grave")
		s.Until(`document.querySelector("dialog[open]") !== null`)
		look("question")
		s.Press(browser.Escape)
		goTo("profiles", "#/profiles", `document.querySelectorAll("tbody tr").length === 2`)
		goTo("profile", "#/profile/"+strings.ReplaceAll(long, " ", "%20"), `document.querySelector(".curve canvas") !== null`)
		goTo("report", "#/report", `document.querySelector("tbody tr") !== null`)
		goTo("nothing", "#/nothing", `document.body.innerText.includes("There is no such view.")`)
		s.Forgive("401")
		fmt.Printf("page.widths_broken %d\n", broken)
		t.Logf("%d pictures were looked at", looked)
	})
}

// What the page says is what is so, in words that need no explanation.
func TestWhatThePageSays(t *testing.T) {
	on(t, func(s *site) {
		s.enter()
		d := s.world.Submit(longJob(2, 16))
		s.Seen("1 running, 0 waiting")
		at := "#/app/" + string(d.ID())
		browser.Eval[any](s.Tab, fmt.Sprintf("location.hash = %q; 0", at))
		s.Seen("recording: at all cores, as its profile is made")
		d.Wait()
		s.Seen("Its progress is not measured") // Of a run that records.
		if names := browser.Eval[string](s.Tab, `[...document.querySelectorAll('.dag text:not(.soft), td.wide, .series th')].map((e) => e.textContent).join()`); !strings.Contains(names, "collect at etl.py:34") || strings.Contains(names, "/srv") {
			t.Errorf("stages are called %q", names)
		}
		browser.Eval[any](s.Tab, `location.hash = "#/"; 0`)
		s.Until(`document.querySelector(".legend")?.innerText.replace(/\s+/g, " ").includes("final 2 ended")`)
		s.Until(`document.querySelector(".row.over .swatch")?.checkVisibility()`)

		a := longJob(2, 16)
		a.Deadline = 120
		d = s.world.Submit(a)
		browser.Eval[any](s.Tab, `location.hash = "#/app/`+string(d.ID())+`"; 0`)
		s.Seen("paced: on as few cores as its deadline takes")
		s.Seen("2 min after submission")
		s.Seen("Progress, and where it was to be")
		s.Seen("Margin, and its part of the application’s deadline")
		s.Until(`[...document.querySelectorAll(".dag .coming text.soft")].some((e) => /^to come: on [0-9.]+ cores?, from /.test(e.textContent.trim()))`)
		if _, err := s.world.Ask(api.VerbRelease, api.ControlRequest{App: d.ID()}); err != nil {
			t.Fatal(err)
		}
		s.Seen("released: at all cores, with nothing to hold it back")
		samples := `import("./api.js").then(({ask}) => ask("applications/` + string(d.ID()) + `/samples")).then(({stages}) =>
			stages[0].progress.at(-1) === null && stages[0].progress.some((v) => v > 0))`
		s.world.Until("nothing is drawn any more", func() bool { return browser.Eval[bool](s.Tab, samples) })

		p := api.Profile{Schema: api.ProfileSchema, Name: "beside", Runs: 1, Duration: 28, Cores: 4, Contended: true,
			Stages: []api.ProfileStage{{Name: etl, Signature: "s", Tasks: 4, Duration: 20, Records: 9, CoreSeconds: 40, NominalRate: 1}}}
		if _, err := s.world.Ask(api.VerbProfilePut, api.ControlRequest{Body: &p}); err != nil {
			t.Fatal(err)
		}
		browser.Eval[any](s.Tab, `location.hash = "#/profiles"; 0`)
		s.Seen("not known: ran beside others")
		if all := browser.Eval[string](s.Tab, `document.querySelector("main").innerText`); strings.Contains(all, "28 s") {
			t.Errorf("a run beside others tells a time at all cores: %s", all)
		}

		for call, want := range map[string]string{
			`state.js: m.starts({submitted_at: "2026-01-01T00:00:00Z", queue: {start_s: 60}})`:                                 "soon",
			`state.js: m.starts({submitted_at: new Date(1000 * m.now.value).toISOString(), queue: {start_s: 60}}).slice(0, 6)`: "about ",
			`state.js: m.starts({submitted_at: "2026-01-01T00:00:00Z", queue: {}})`:                                            "",
			`format.js: m.stageName("collect at /srv/my jobs/etl.py:34")`:                                                      "collect at etl.py:34",
			`format.js: m.stageName("collect at C:\\jobs\\etl.py:34")`:                                                         "collect at etl.py:34",
			`format.js: m.stageName("scan orders at etl.py:34")`:                                                               "scan orders at etl.py:34",
			`format.js: m.stageName("scan parquet a/b")`:                                                                       "scan parquet a/b",
		} {
			module, of, _ := strings.Cut(call, ": ")
			if got := browser.Eval[string](s.Tab, `import("./`+module+`").then((m) => `+of+`)`); got != want {
				t.Errorf("%s is %q, want %q", call, got, want)
			}
		}
	})
}
