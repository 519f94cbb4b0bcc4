package web

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/test/browser"
)

// A planner that is away is told in one line, with what was known, and all is as before once it is back and has begun
// another session.
func TestAPlannerThatRestarts(t *testing.T) {
	on(t, func(s *site) {
		s.recorded("kept", 1)
		s.enter()
		s.Until(`document.querySelector(".row") !== null`)
		s.world.StopPlanner()
		s.Until(`document.querySelector(".dot.lost") !== null`)
		s.Seen("Trying again.")
		if rows := browser.Eval[int](s.Tab, `document.querySelectorAll(".row").length`); rows != 1 {
			t.Errorf("%d rows while the planner is away", rows)
		}
		s.world.StartPlanner()
		s.Seen("Open a session") // One ends with its planner.
		s.Type("input[name=code]", s.link()+browser.Enter)
		s.Until(`document.querySelector(".dot.live") !== null && document.querySelector(".note") === null`)
		s.Until(`document.querySelector(".row") !== null`)
		s.Forgive("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "503", "401")
	})
}

// A code works once. Whoever has none is told how to get one.
func TestACodeWorksOnce(t *testing.T) {
	on(t, func(s *site) {
		link := s.link()
		s.Open(link)
		s.Until(`document.querySelector(".dot.live") !== null`)
		if at := browser.Eval[string](s.Tab, "location.hash"); at != "#/" {
			t.Errorf("the code stays in the address: %q", at)
		}
		other := browser.New(t, 800, 600)
		other.Open(link)
		other.Seen("Open a session")
		other.Seen("was used")
		other.Type("input[name=code]", s.link()+browser.Enter)
		other.Until(`document.querySelector(".dot.live") !== null`)
		s.Forgive("401")
	})
}

// linkOf is an address by which somebody else begins a session.
func (s *site) linkOf(name string) string {
	s.t.Helper()
	by := api.Principal{Kind: api.PrincipalUser, Name: name, Role: api.RoleSubmit}
	c := bus.NewCredential(by.Login())
	_, err := s.world.Ask(api.VerbIssue, api.ControlRequest{Issue: &api.Issue{Principal: by, Key: c.Key()}})
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := s.world.AskAs(c, api.VerbWeb, api.ControlRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	return r.Web.URL + "/#" + r.Web.Code
}

// A link of somebody else's replaces no session before its user has said so; one of the same user's does.
func TestAttackALinkReplacesASession(t *testing.T) {
	on(t, func(s *site) {
		s.enter()
		user := func() string {
			return browser.Eval[string](s.Tab, `document.querySelector("button[title]").title.split(",")[0]`)
		}
		mine := user()
		for _, again := range []string{"stays", "changes"} {
			s.Open("about:blank") // Else another hash is no other page.
			s.Open(s.linkOf("mallory"))
			s.Until(`document.querySelector(".offered") !== null && document.querySelector(".dot.live") !== null`)
			if got := user(); got != mine {
				t.Fatalf("the session is %s's", got)
			}
			if again == "stays" {
				s.Click(".offered .first")
				s.Until(`document.querySelector(".offered") === null`)
				if got := user(); got != mine {
					t.Errorf("who stays is %s", got)
				}
				continue
			}
			s.Click(".offered .plain")
			s.Until(`document.querySelector("button[title]").title.startsWith("mallory")`)
		}
		s.Open("about:blank")
		s.Open(s.linkOf("mallory"))
		s.Until(`document.querySelector(".dot.live") !== null && document.querySelector(".offered") === null`)
	})
}

// A tab that nobody sees has no stream, and one again when it is seen.
func TestAHiddenTabLooksNoMore(t *testing.T) {
	on(t, func(s *site) {
		s.enter()
		hidden := func(is string) {
			browser.Eval[any](s.Tab, `Object.defineProperty(document, "hidden", {value: `+is+`, configurable: true});
				document.dispatchEvent(new Event("visibilitychange")); 0`)
		}
		hidden("true")
		s.Until(`document.querySelector(".dot.hidden") !== null`)
		asked := len(s.Requests())
		s.recorded("unseen", 1)
		if more := s.Requests()[asked:]; len(more) > 0 {
			t.Errorf("a hidden tab asks for %q", more)
		}
		hidden("false")
		s.Until(`document.querySelector(".dot.live") !== null`)
		s.Until(`document.querySelector(".row") !== null`)
	})
}

// Everything can be reached and read: by the keyboard, by a screen reader, in both themes, on a telephone.
func TestEverybodyCanUseIt(t *testing.T) {
	on(t, func(s *site) {
		a := s.recorded("nightly", 3)
		a.Deadline = 300
		d := s.world.Submit(a)
		s.enter()
		s.Until(`document.querySelector(".row") !== null`)
		s.Press("/")
		s.Type(":focus", "no such")
		s.Seen("No application fits the filter.")
		s.Press(browser.Tabs)
		for _, theme := range []string{"light", "dark"} {
			s.Theme(theme)
			for _, hash := range []string{"#/", "#/app/" + string(d.ID()), "#/profiles", "#/profile/nightly", "#/report", "#/none"} {
				browser.Eval[any](s.Tab, `location.hash = "`+hash+`"; 0`)
				s.Later(2)
				for _, f := range s.Serious() {
					t.Errorf("%s in %s: %+v", hash, theme, f)
				}
			}
		}
		s.Size(400, 800)
		browser.Eval[any](s.Tab, `location.hash = "#/"; 0`)
		s.Later(1)
		if wide := browser.Eval[int](s.Tab, "document.documentElement.scrollWidth"); wide > 400 {
			t.Errorf("the page is %d pixels wide on a telephone", wide)
		}
		for _, r := range s.Requests() {
			if !strings.HasPrefix(r, "http://"+s.address+"/") {
				t.Errorf("it asks for %s", r)
			}
		}
	})
}
