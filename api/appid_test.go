package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// What planners give is believed, and says whose it is; nothing else is.
func TestAnIDIsAPlanners(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 30, 12, 0, time.FixedZone("", 3600))
	sealed := api.NewAppID(at, 1, "store", "u1")
	if want := "app-20261121043012-0001-"; !strings.HasPrefix(string(sealed), want) || !sealed.Made() {
		t.Errorf("%s, want %s...", sealed, want)
	}
	if !sealed.Of("u1") || sealed.Of("u2") || sealed.Of("") {
		t.Errorf("%s is not u1's alone", sealed)
	}
	for _, id := range []api.AppID{api.NewAppID(at, 123456, "", "u1"), "app-20261121043012-0001-3fa94c"} {
		if !id.Made() || id.Of("u1") {
			t.Errorf("%s: made %v, of u1 %v", id, id.Made(), id.Of("u1"))
		}
	}
	for _, name := range append(nasty(), "app-1", "app-20261121043012-0001-3FA94C", "app-20261121043012-0001-3fa94c-", " app-20261121043012-0001",
		"app-20261121043012-0001\n", string(sealed)+"0", "app-20261121043012-"+strings.Repeat("1", 200), api.OwnerOf("u1")) {
		if id := api.AppID(name); id.Made() || id.Of("u1") {
			t.Errorf("%q is taken for a planner's", name)
		}
	}
}

// nasty are names of which each is something else to somebody: a wildcard, another directory,
// another principal's login, an end, or too long.
func nasty() []string {
	return []string{"", "*", ">", ".", "..", "/", "../../etc", "a.b", "a b", "user-x", "node-x", "application-x", "app-x", "planner", "user-=2a",
		"=", "=2a", "a\x00b", "a\nb", "\xff", "ä", strings.Repeat("n", 1024), strings.Repeat("ä", 512)}
}

// Whatever principals are called, each has a login of its own, which is one token of a subject.
func TestNoTwoPrincipalsHaveOneLogin(t *testing.T) {
	logins := map[string]api.Principal{}
	for _, name := range append(nasty(), string(api.NewAppID(time.Unix(0, 0), 1, "store", "u1"))) {
		for _, kind := range []api.PrincipalKind{api.PrincipalUser, api.PrincipalNode, api.PrincipalApplication} {
			p := api.Principal{Kind: kind, Name: name}
			login := p.Login()
			if other, taken := logins[login]; taken {
				t.Errorf("%v and %v are both %s", other, p, login)
			}
			if logins[login] = p; login == "" || strings.ContainsFunc(login, func(r rune) bool {
				return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=", r)
			}) {
				t.Errorf("%v is %q", p, login)
			}
		}
	}
	planner := api.Principal{Kind: api.PrincipalPlanner}
	if other, taken := logins[planner.Login()]; taken {
		t.Errorf("%v and %v are both %s", other, planner, planner.Login())
	}
	// What planners give and operators issue stays what it was.
	for _, p := range []api.Principal{{Kind: api.PrincipalUser, Name: "a"}, {Kind: api.PrincipalNode, Name: "a"}} {
		if want := string(p.Kind) + "-a"; p.Login() != want {
			t.Errorf("%v is %s, want %s", p, p.Login(), want)
		}
	}
	if p := (api.Principal{Kind: api.PrincipalApplication, Name: "app-20261121043012-0001-3fa94c"}); p.Login() != p.Name {
		t.Errorf("%v is %s", p, p.Login())
	}
}

// Whatever is a name of a node can have a credential; of a user's name each byte may take three of the login.
func TestNamesOfPrincipalsAreBoundByTheirLogins(t *testing.T) {
	for _, c := range []struct {
		kind api.PrincipalKind
		name string
		want bool
	}{
		{api.PrincipalNode, strings.Repeat("n", 63), true}, {api.PrincipalNode, strings.Repeat("n", 64), false}, {api.PrincipalNode, "", false},
		{api.PrincipalUser, strings.Repeat("/", 32), true}, {api.PrincipalUser, strings.Repeat("u", 33), false}, {api.PrincipalUser, "", false},
	} {
		p := api.Principal{Kind: c.kind, Name: c.name}
		if c.kind == api.PrincipalUser {
			p.Role = api.RoleView
		}
		if err := p.Validate(); (err == nil) != c.want || c.want && len(p.Login()) > api.MostToken {
			t.Errorf("%s %q: %v, login %s", c.kind, c.name, err, p.Login())
		}
	}
}
