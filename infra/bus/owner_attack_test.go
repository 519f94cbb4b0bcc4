package bus

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/sparkpacer/pacer/api"
)

// crowdOf has a keyring know n applications of mallory, and a node and ann with one of hers.
func crowdOf(n int) (k *Keyring, apps []string) {
	k = NewKeyring()
	k.Put(api.Principal{Kind: api.PrincipalNode, Name: "n1"}, "key")
	k.Put(api.Principal{Kind: api.PrincipalUser, Name: "ann"}, "key")
	k.Put(api.Principal{Kind: api.PrincipalUser, Name: "mallory"}, "key")
	k.PutOf("user-ann", api.Principal{Kind: api.PrincipalApplication, Name: "app-hers"}, "key")
	for i := range n {
		p := api.Principal{Kind: api.PrincipalApplication, Name: fmt.Sprint("app-", i)}
		k.PutOf("user-mallory", p, "key")
		k.Put(p, "another") // It registers again.
		apps = append(apps, p.Login())
	}
	return k, apps
}

// However many applications a user has, these have their part of all connections together, whether they still run.
func TestAttackConnectionsOfManyApplications(t *testing.T) {
	for name, ended := range map[string]int{"that run": 0, "that have ended": 2000, "of which half have ended": 1000} {
		t.Run(name, func(t *testing.T) {
			k, apps := crowdOf(2000)
			for _, login := range apps[:ended] {
				k.Remove(login)
			}
			var open []connection
			add := func(login string, n int) {
				for range n {
					open = append(open, connection{id: uint64(1 + len(open)), address: "a", login: login})
				}
			}
			for _, login := range apps {
				add(login, 4)
			}
			add("node-n1", 2)
			add("user-ann", 100)
			add("user-mallory", 100)
			add("app-hers", 4)
			left, of := 0, map[string]int{}
			over := excess(slices.Clone(open), k.mostConns, k.Owner)
			for _, c := range open {
				if !slices.Contains(over, c) {
					of[c.login]++
					left++
				}
			}
			if of["node-n1"] != 2 || of["user-ann"] != 100 || of["user-mallory"] != 100 || of["app-hers"] != appConns {
				t.Errorf("others have %d, %d, %d and %d", of["node-n1"], of["user-ann"], of["user-mallory"], of["app-hers"])
			}
			for _, login := range apps {
				if of[login] > appConns {
					t.Errorf("%s has %d", login, of[login])
				}
			}
			if most := 2*ownedConns + 205; left > most || left < ownedConns+205 {
				t.Errorf("%d connections are left, want at most %d", left, most)
			}
		})
	}
}

// However many applications a user has, these have their part of the places for messages together.
func TestAttackMessagesOfManyApplications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, apps := crowdOf(placesAll / placesEach)
		in, gate, taken, decoded := newIntake(k.Owner), make(chan struct{}), 0, 0
		send := func(login string) error { return in.run(login, 100, func() { <-gate; decoded++ }) }
		for _, login := range apps {
			for range placesEach {
				if err := send(login); err == nil {
					taken++
				} else if api.KindOf(err) != api.KindTransient {
					t.Fatal(err)
				}
			}
		}
		if taken != placesOwned {
			t.Errorf("%d of mallory's wait, want %d", taken, placesOwned)
		}
		for _, login := range []string{"user-ann", "app-hers", "node-n1"} {
			if err := send(login); err != nil {
				t.Errorf("%s: %v", login, err)
			}
		}
		close(gate)
		in.lane.Wait()
		if decoded != taken+3 || len(in.owned) != 0 {
			t.Errorf("%d are decoded, and %d owners still have places", decoded, len(in.owned))
		}
		gate = make(chan struct{})
		close(gate)
		if err := send(apps[0]); err != nil {
			t.Errorf("afterwards: %v", err)
		}
		in.lane.Wait()
	})
}
