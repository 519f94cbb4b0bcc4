package access_test

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner/access"
)

// What each role may, for its own application and for another's.
func TestVerbsByRole(t *testing.T) {
	const all, own, none = "all", "own", "none"
	want := map[api.Verb][3]string{ // view, submit, operate
		api.VerbPing: {all, all, all}, api.VerbApps: {all, all, all}, api.VerbApp: {all, all, all}, api.VerbWhy: {all, all, all}, api.VerbProfiles: {all, all, all},
		api.VerbProfile: {all, all, all}, api.VerbNodes: {all, all, all}, api.VerbLogs: {own, own, all},
		api.VerbRelease: {none, own, all}, api.VerbDeadline: {none, own, all}, api.VerbKill: {none, own, all}, api.VerbExit: {none, own, all},
		api.VerbCap: {none, none, all}, api.VerbStep: {none, none, all}, api.VerbProfilePut: {none, all, all}, api.VerbProfileRm: {none, all, all},
		api.VerbVersions: {all, all, all}, api.VerbKnee: {all, all, all}, api.VerbPin: {none, all, all}, api.VerbUnpin: {none, all, all},
		api.VerbDrain: {none, none, all}, api.VerbUndrain: {none, none, all}, api.VerbDivide: {none, none, all}, api.VerbEmpty: {none, none, all}, api.VerbSpare: {all, all, all}, api.VerbPolicy: {all, all, all}, api.VerbReport: {all, all, all}, api.VerbCores: {all, all, all}, api.VerbPolicySet: {none, none, all}, api.VerbBackup: {none, none, all}, api.VerbWeb: {all, all, all}, api.VerbToken: {all, all, all},
		api.VerbTicket: {none, all, all}, api.VerbUpload: {none, all, all}, api.VerbSubmit: {none, all, all}, api.VerbProve: {none, none, all}, api.VerbIssue: {none, none, all}, api.VerbPrincipals: {none, none, all}, api.VerbRevoke: {none, none, all},
	}
	for _, verb := range api.Verbs() {
		for i, role := range api.Roles() {
			p := api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: role}
			may := none
			if access.Verb(p, verb) == nil && access.Own(p, verb, "app-1", "ann") == nil {
				may = own
				if access.Own(p, verb, "app-1", "bob") == nil {
					may = all
				}
			}
			if may != want[verb][i] {
				t.Errorf("%s may %s: %s, want %s", role, verb, may, want[verb][i])
			}
		}
		for _, p := range []api.Principal{{Kind: api.PrincipalNode, Name: "n1"}, {Kind: api.PrincipalApplication, Name: "app-1"}, {Kind: api.PrincipalTicket, Name: "s", Role: api.RoleOperate}, {Kind: "else", Name: "ann", Role: api.RoleOperate}} {
			if err := access.Verb(p, verb); api.KindOf(err) != api.KindDenied || err == nil {
				t.Errorf("%v may %s: %v", p, verb, err)
			}
		}
		for _, p := range []api.Principal{{}, {Kind: api.PrincipalPlanner}} {
			if err := access.Verb(p, verb); err != nil {
				t.Errorf("%v may not %s: %v", p, verb, err)
			}
		}
		if changes := want[verb][0] == none; access.Changes(verb) != changes {
			t.Errorf("%s changes: %v", verb, !changes)
		}
	}
}

func TestWhoRegisters(t *testing.T) {
	user := func(name string, role api.Role) api.Principal {
		return api.Principal{Kind: api.PrincipalUser, Name: name, Role: role}
	}
	app := func(id string) api.Principal { return api.Principal{Kind: api.PrincipalApplication, Name: id} }
	for _, c := range []struct {
		by         api.Principal
		new, again bool
	}{
		{user("ann", api.RoleView), false, true}, {user("ann", api.RoleSubmit), true, true}, {user("bob", api.RoleSubmit), true, false},
		{user("bob", api.RoleOperate), true, true}, {app("app-1"), true, true}, {app("app-2"), true, false}, {app("ann"), true, false},
		{api.Principal{Kind: api.PrincipalNode, Name: "ann"}, false, false}, {api.Principal{}, true, true},
	} {
		if err := access.Register(c.by); (err == nil) != c.new {
			t.Errorf("%v registers: %v", c.by, err)
		}
		if err := access.Again(c.by, "app-1", "ann"); (err == nil) != c.again {
			t.Errorf("%v registers app-1 again: %v", c.by, err)
		}
	}
}

// Profiles of others, and the one that is everybody's, are an operator's to put and to remove.
func TestWhoseProfilesOneAsksFor(t *testing.T) {
	ann, ops := api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: api.RoleSubmit}, api.Principal{Kind: api.PrincipalUser, Name: "ops", Role: api.RoleOperate}
	for _, c := range []struct {
		by     api.Principal
		owner  string
		shares bool
		may    bool
	}{
		{ann, "", false, true}, {ann, "ann", false, true}, {ann, "bob", false, false}, {ann, "", true, false}, {ann, "ann", true, false},
		{api.Principal{Kind: api.PrincipalNode, Name: "ann"}, "ann", false, false}, {ops, "bob", false, true}, {ops, "", true, true}, {api.Principal{}, "bob", true, true},
	} {
		if err := access.Profile(c.by, c.owner, c.shares); (err == nil) != c.may || err != nil && api.KindOf(err) != api.KindDenied {
			t.Errorf("%v, owner %q, shares %v: %v", c.by, c.owner, c.shares, err)
		}
	}
}
