package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/browser"
	"github.com/sparkpacer/pacer/test/realenv"
)

// nobody is another user of the machine.
const nobody = 65534

// TestThePage looks at an application in a browser from its first task to its end, while the planner is killed and
// starts again: the page is not loaded anew, but begins another session, and its numbers are the API's. Another user of the machine sees nothing.
func TestThePage(t *testing.T) {
	realenv.RequireSpark(t)
	browser.Require(t)
	realenv.Beside(t)
	s, at := realenv.New(t), realenv.FreePort(t)
	planner := s.StartPlanner("--http", at)
	s.StartNode()
	recorded, _ := s.Record("testdata/branches.py", scale)
	tab := browser.New(t, 1280, 800)
	site := enter(t, s, tab)
	browser.Eval[any](tab, `window.loadedOnce = true; 0`)

	run := s.Submit("--pacer-deadline", (recorded.Duration * 2).String(), "testdata/branches.py", scale)
	app := awaitTasks(t, s, run)
	row := fmt.Sprintf(`document.querySelector('.row a[href="#/app/%s"]')?.closest(".row")`, app.ID)
	tab.Until(row + `?.querySelector(".flag") != null`)
	s.Await("the page to tell what the API tells", patience, func() bool {
		return browser.Eval[string](tab, row+`.querySelector(".sentence").title.toLowerCase()`) ==
			strings.ToLower(site.app(app.ID).Headline)
	})
	s.Await("the page to show the cores that the API has", patience, func() bool {
		shown := browser.Eval[float64](tab, `Number(document.querySelector(".answers > div:nth-child(3) .figure").firstChild.data)`)
		return shown > 0 && math.Abs(shown-site.used()) < 0.06
	})
	for _, asked := range []string{"GET /api/v1/applications", "GET /api/v1/watch", "GET /api/v1/session",
		"POST /api/v1/applications/" + string(app.ID) + "/kill"} {
		if said := stranger(t, at, asked); !strings.Contains(said, " 401 ") || strings.Contains(said, "e2e-branches") {
			t.Errorf("another user of the machine asks %s and is told %s", asked, said)
		}
	}

	planner.Signal(syscall.SIGKILL)
	planner.Wait(patience)
	tab.Until(`document.querySelector(".dot.lost") !== null && ` + row + ` != null`)
	s.StartPlanner("--http", at)
	tab.Until(`document.querySelector("input[name=code]") !== null`) // A session ends with its planner.
	origin, code := printed(t, s)
	tab.Type("input[name=code]", origin+"/#"+code+browser.Enter)
	tab.Until(`document.querySelector(".dot.live") !== null && document.querySelector(".note") === null`)
	site.begin(s)
	if code := run.Wait(patience); code != 0 {
		t.Fatalf("exit %d", code)
	}
	tab.Until(row + `.classList.contains("over")`)
	ended := s.AwaitApp("the end", patience, func(a api.AppDetail) bool { return a.ID == app.ID && a.State == api.AppFinished && a.EndedBy.Known() })
	if !browser.Eval[bool](tab, `window.loadedOnce === true`) {
		t.Error("the page was loaded again")
	}
	site.same(ended)
	tab.Forgive("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_RESET", "503", "401")
	if said := append(tab.Console(), tab.Refused()...); len(said) > 0 {
		t.Errorf("the console says %q", said)
	}
}

// site is a planner's page in a browser, and a session beside it for whoever asks its API.
type site struct {
	t             *testing.T
	tab           *browser.Tab
	origin, token string
}

// enter opens the page by the link that `pacer web` prints, and begins a session by another one.
func enter(t *testing.T, s *realenv.System, tab *browser.Tab) *site {
	t.Helper()
	origin, code := printed(t, s)
	tab.Open(origin + "/#" + code)
	tab.Until(`document.querySelector(".dot.live") !== null`)
	w := &site{t: t, tab: tab, origin: origin}
	w.begin(s)
	return w
}

// printed is what `pacer web` prints: the page's address, and a code for a session.
func printed(t *testing.T, s *realenv.System) (origin, code string) {
	t.Helper()
	exit, out := s.Pacer("web")
	origin, code, ok := strings.Cut(strings.TrimSpace(out), "/#")
	if exit != 0 || !ok {
		t.Fatalf("pacer web: exit %d: %s", exit, out)
	}
	return origin, code
}

// begin begins the session beside the browser's.
func (w *site) begin(s *realenv.System) {
	w.t.Helper()
	_, code := printed(w.t, s)
	body, err := json.Marshal(map[string]string{"code": code})
	if err != nil {
		w.t.Fatal(err)
	}
	reply, err := http.Post(w.origin+"/api/v1/session", "application/json", bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	defer reply.Body.Close()
	var session struct {
		Token string `json:"token"`
	}
	if err := json.NewDecoder(reply.Body).Decode(&session); err != nil || session.Token == "" {
		w.t.Fatalf("a session: %s, %v", reply.Status, err)
	}
	w.token = session.Token
}

// ask decodes what the API answers.
func (s *site) ask(path string, into any) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.origin+"/api/v1/"+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil || reply.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s, %v: %s", path, reply.Status, err, body)
	}
}

func (s *site) app(id api.AppID) (a api.AppDetail) {
	s.t.Helper()
	s.ask("applications/"+string(id), &a)
	return a
}

// used are the cores that applications have used last.
func (s *site) used() (cores float64) {
	s.t.Helper()
	var h struct {
		Apps []struct {
			Used []float64 `json:"used_cores"`
		} `json:"apps"`
	}
	s.ask("cores", &h)
	for _, a := range h.Apps {
		if n := len(a.Used); n > 0 {
			cores += a.Used[n-1]
		}
	}
	return cores
}

// same holds the page of an application that has ended against what the API and the bus tell of it.
func (s *site) same(ended api.AppDetail) {
	s.t.Helper()
	is := s.app(ended.ID)
	if is.CoreSeconds != ended.CoreSeconds || is.Headline != ended.Headline || len(is.Stages) != len(ended.Stages) {
		s.t.Errorf("the API tells %v core-seconds of %d stages, %q; pacer apps show %v of %d, %q", is.CoreSeconds,
			len(is.Stages), is.Headline, ended.CoreSeconds, len(ended.Stages), ended.Headline)
	}
	browser.Eval[any](s.tab, `location.hash = "#/app/`+string(is.ID)+`"; 0`)
	rows := `[...document.querySelectorAll('[aria-label="Stages"] tbody tr')]`
	s.tab.Until(rows + `.length === ` + strconv.Itoa(len(is.Stages)))
	s.tab.Seen("Where the time went")
	s.tab.Later(2) // What the stream tells is as new as the answer.
	if said := browser.Eval[string](s.tab, `document.querySelector(".lead").innerText`); !strings.EqualFold(said, is.Headline) {
		s.t.Errorf("the page says %q, the API %q", said, is.Headline)
	}
	facts := browser.Eval[map[string]string](s.tab, `Object.fromEntries([...document.querySelectorAll(".facts > div")].map(
		(d) => [d.querySelector("dt").innerText, d.querySelector("dd").innerText]))`)
	s.near("Work", facts["Work"], float64(is.CoreSeconds), 0.6)
	s.near("On average", facts["On average"], float64(is.MeanCores), 0.06)
	margin := float64(is.Deadline - is.Duration)
	s.near("Margin", facts["Margin"], math.Abs(margin), 0.6)
	if late := strings.HasSuffix(facts["Margin"], "late"); late != (margin < 0) {
		s.t.Errorf("its margin of %.1f s is %q", margin, facts["Margin"])
	}
	cells := browser.Eval[[][]string](s.tab, rows+`.map((r) => [...r.cells].map((c) => c.innerText))`)
	for i, stage := range is.Stages {
		row := cells[i]
		if row[0] != strconv.Itoa(stage.Stage) || row[2] != stage.State || row[3] != strconv.Itoa(stage.Tasks) {
			s.t.Errorf("row %d is %q, the stage %+v", i, row, stage.StageKey)
		}
		if stage.State == "done" {
			s.near("the time of a stage", row[6], float64(stage.Duration), 0.6)
			s.near("the core-seconds of a stage", row[8], float64(stage.CoreSeconds), 0.06)
		}
	}
}

// near holds the number with which a text begins to be the API's, as far as it is rounded.
func (s *site) near(what, shown string, is, within float64) {
	s.t.Helper()
	first, _, _ := strings.Cut(shown, " ")
	if v, err := strconv.ParseFloat(first, 64); err != nil || math.Abs(v-is) > within {
		s.t.Errorf("%s: the page shows %q, the API has %g", what, shown, is)
	}
}

// stranger is what another user of the machine is told first by whoever listens on an address: a method and a path are
// asked for.
func stranger(t *testing.T, address, asked string) string {
	t.Helper()
	host, port, _ := strings.Cut(address, ":")
	c := exec.CommandContext(t.Context(), "/bin/bash", "-c", `exec 3<>"/dev/tcp/$0/$1" &&
		printf '%s HTTP/1.1\r\nHost: %s:%s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' "$2" "$0" "$1" >&3 && cat <&3`,
		host, port, asked)
	c.Dir = "/"
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", asked, err, out)
	}
	return string(out)
}
