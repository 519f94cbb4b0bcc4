package web

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/test/browser"
	"github.com/sparkpacer/pacer/test/testenv"
)

// Where nothing has run the page has the commands of a first run; then it shows without a click what runs, by when it
// ends and on how many cores, as the API has it, and what has ended.
func TestTheFirstScreen(t *testing.T) {
	on(t, func(s *site) {
		s.enter()
		s.Seen("Nothing has run here yet")
		s.Seen("pacer submit --pacer-profile etl app.py") // Nobody outside reaches this planner.
		for at, want := range map[string]string{"planner-1:4999": "planner-1:4999", "[::]:4999": "127.0.0.1:4999"} {
			browser.Eval[any](s.Tab, `import("./state.js").then(({session: s}) => (s.value = {...s.value, planner: "`+at+`"}, 0))`)
			s.Seen("pacer submit --pacer-planner " + want + " --pacer-profile etl app.py")
		}
		a := s.recorded("nightly", 4)
		s.Until(`document.querySelector(".row .name")?.innerText === "nightly"`)
		s.Seen("Ended last")
		a.Deadline = 15
		d := s.world.Submit(a)
		row := `document.querySelector('.row a[href="#/app/` + string(d.ID()) + `"]')?.closest(".row")`
		s.Until(row + ` !== undefined`)
		s.Until(row + `.querySelector(".past, .waits") !== null && ` + row + `.querySelector(".flag") !== null`)
		s.Until(row + `.querySelector(".sentence").innerText.length > 0`)
		told := browser.Eval[string](s.Tab, row+`.querySelector(".sentence").title`)
		if is := s.world.App(d.ID()); !strings.EqualFold(told[:4], is.Headline[:4]) {
			t.Errorf("the page says %q, the planner %q", told, is.Headline)
		}
		has := `Number(document.querySelector(".answers > div:nth-child(3) .figure").firstChild.data)`
		s.Until(has + ` > 0`)
		offered := browser.Eval[string](s.Tab, `document.querySelector(".answers > div:nth-child(3) small").innerText`)
		if offered != "of 4 cores" {
			t.Errorf("4 cores are offered, it says %q", offered)
		}
		if low := browser.Eval[float64](s.Tab, `document.querySelector(".row").getBoundingClientRect().bottom`); low > 800 {
			t.Errorf("the first row ends at %v, below the first screen", low)
		}
		used := `parseFloat(document.querySelector(".node .soft").innerText)`
		s.Until(used + ` > 0 && document.querySelector(".node .granted").width.baseVal.value > 0`)
		d.Wait()
		s.Until(row + `.classList.contains("over")`)
	})
}

// All figures of an application's page are the API's.
func TestAnApplication(t *testing.T) {
	on(t, func(s *site) {
		a := s.recorded("etl", 3)
		a.Deadline = 12
		d := s.world.Submit(a)
		s.enter()
		browser.Eval[any](s.Tab, `location.hash = "#/app/`+string(d.ID())+`"; 0`)
		s.Seen("Where the time went")
		s.Until(`document.querySelectorAll(".dag svg g").length === 2`)
		s.Until(`document.querySelectorAll(".series canvas").length === 2`)
		is := d.Wait()
		s.Seen("Ended")
		s.Until(`document.querySelector(".badge").innerText.startsWith("finished")`)
		if rows := browser.Eval[int](s.Tab, `document.querySelectorAll('[aria-label="Stages"] tbody tr').length`); rows != len(is.Stages) {
			t.Errorf("%d rows for %d stages", rows, len(is.Stages))
		}
		shown := browser.Eval[float64](s.Tab, `[...document.querySelectorAll(".part-list li")].length && `+
			`[...document.querySelectorAll(".parts > span")].reduce((sum, x) => sum + parseFloat(x.style.width), 0)`)
		if math.Abs(shown-100) > 0.5 {
			t.Errorf("the parts of its time are %v %% together", shown)
		}
		s.Until(`document.querySelector(".facts").innerText.includes("` + string(is.ID) + `")`)
	})
}

// A graph of many stages has a box for each job: jobs of the run and those to come are apart, and many jobs share boxes.
func TestManyStagesAreFoldedByJob(t *testing.T) {
	on(t, func(s *site) {
		a := plant.App{Name: "wide"}
		for job := range 21 {
			for i := range 10 {
				stage := plant.Stage{Job: job, Tasks: 2, Work: 0.02, Records: 100, Written: 100}
				if i == 9 && job > 0 {
					stage.Parents = []int{10*job - 1}
				}
				a.Stages = append(a.Stages, stage)
			}
		}
		d := s.world.Submit(a)
		d.Wait()
		s.enter()
		browser.Eval[any](s.Tab, `location.hash = "#/app/`+string(d.ID())+`"; 0`)
		s.Until(`document.querySelectorAll(".dag svg g.done").length === 21`)
		s.Seen("by job, 210 stages in all: 21 done")
		s.Until(`document.querySelectorAll(".dag svg > path").length === 20`)
		folds := func(stages string) string {
			return browser.Eval[string](s.Tab, `import("./dag.js").then((m) => m.folded(m.boxes(`+stages+`))
				.map((b) => b.label + ": " + [b.name, b.state, b.tasks + " tasks", ...b.parents].join(" ")).join("; "))`)
		}
		if got, want := folds(`[{stage: 4, job: 7, state: "done", tasks: 3, match: {stage: 0}}, {stage: 5, job: 7, state: "running", tasks: 1,
			parents: [4]}, {stage: -1, job: 1, state: "coming", tasks: 9, parents: [0], match: {stage: 1}}, {stage: 6, state: "failed", tasks: 2}]`),
			"job 7: 2 stages running 4 tasks; job 1: 1 stage coming 9 tasks r2; no job known: 1 stage failed 2 tasks"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		got := folds(`Array.from({length: 500}, (_, i) => ({stage: i, job: i, state: "done", tasks: 1}))`)
		if boxes := strings.Split(got, "; "); len(boxes) != 167 || boxes[166] != "jobs 498 to 499: 2 stages done 2 tasks" {
			t.Errorf("%d boxes, the last one %s", len(boxes), boxes[len(boxes)-1])
		}
	})
}

// A deadline is extended and an application ended, each after a question that can be declined by the keyboard.
func TestWhatCanBeDoneIsAskedFirst(t *testing.T) {
	on(t, func(s *site) {
		a := s.recorded("long", 4)
		a.Deadline, a.Stages[0].Work = 500, 400
		d := s.world.Submit(a)
		s.enter()
		browser.Eval[any](s.Tab, `location.hash = "#/app/`+string(d.ID())+`"; 0`)
		s.Until(`document.querySelector(".acts .grave") !== null`)
		s.Click(".acts .grave")
		s.Until(`document.querySelector("dialog[open]") !== null`)
		s.Press(browser.Escape)
		s.Until(`document.querySelector("dialog") === null`)
		if is := s.world.App(d.ID()); is.State != api.AppRunning {
			t.Errorf("it is %s after a question that was declined", is.State)
		}
		s.Click(".acts button")
		s.Until(`document.querySelector("dialog input") !== null`)
		s.Type("dialog input", "soon"+browser.Enter)
		s.Seen("is no length of time")
		s.Click(".acts button")
		s.Type("dialog input", "10m"+browser.Enter)
		s.world.Until("the deadline moves", func() bool { return s.world.App(d.ID()).Deadline == 1100 })
		s.Seen("after submission")
		s.Click(".acts .grave")
		s.Click("dialog .acts .grave")
		s.world.Until("it ends", func() bool { return s.world.App(d.ID()).State != api.AppRunning })
		s.Until(`document.querySelector(".acts") === null`)
	})
}

// A name is text, whatever is in it.
func TestANameWithHTML(t *testing.T) {
	on(t, func(s *site) {
		name := `<img src=x onerror="document.title='had'"><script>document.title='had'</script>${1}`
		a := testenv.Chain(name, 1, 1)
		s.enter()
		d := s.world.Submit(a)
		d.Wait()
		s.Seen("<img src=x")
		for _, hash := range []string{"#/app/" + string(d.ID()), "#/profiles", "#/report"} {
			browser.Eval[any](s.Tab, fmt.Sprintf("location.hash = %q; 0", hash))
			s.Later(1)
		}
		if had := browser.Eval[bool](s.Tab, `document.title === "had" || document.querySelector('img[src="x"], main script') !== null`); had {
			t.Error("a name became a part of the page")
		}
	})
}
