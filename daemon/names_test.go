package daemon_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/metrics"
	"github.com/sparkpacer/pacer/infra/store"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
)

// Whatever others call themselves or their own: what is made of it is a token, a path below its
// directory, a key or a label, and nothing else, or it is refused. Each kind of name has one function
// that sees to that.
func TestWhateverOthersAreCalled(t *testing.T) {
	tree := cgrouptest.New(t, cgrouptest.V2)
	groups, err := cgroup.Open(tree.Root, "pacer")
	if err != nil {
		t.Fatal(err)
	}
	layout := executor.Layout{Root: t.TempDir()}
	below := func(dir, path string) bool { return path == filepath.Clean(path) && filepath.Dir(path) == dir }
	token := func(s string) bool {
		return s != "" && len(s) <= 3*api.MostName+16 && strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(".*>/", r) }) < 0
	}
	login := func(kind api.PrincipalKind) func(string) (bool, error) {
		return func(name string) (bool, error) {
			return token(api.Principal{Kind: kind, Name: name}.Login()), nil
		}
	}
	// Each says whether what it makes of a name is safe, or why it makes nothing of it.
	kinds := map[string]func(name string) (safe bool, refused error){
		"token of a subject":      func(name string) (bool, error) { return token(api.Token(name)), nil },
		"login of a user":         login(api.PrincipalUser),
		"login of a node":         login(api.PrincipalNode),
		"login of an application": login(api.PrincipalApplication),
		"file of credentials":     func(name string) (bool, error) { return below("/dir", bus.CredentialPath("/dir", name)), nil },
		"directory of applications": func(name string) (bool, error) {
			p, err := layout.Paths(api.AppID(name), "1")
			return below(filepath.Join(layout.Root, "apps"), filepath.Dir(p.Dir)), err
		},
		"directory of an executor": func(name string) (bool, error) {
			p, err := layout.Paths("app-1", api.ExecutorID(name))
			return below(filepath.Join(layout.Root, "apps", "app-1"), p.Dir), err
		},
		"cgroup": func(name string) (bool, error) {
			g, err := groups.Group(cgroup.GroupName(api.AppID(name), "1"))
			if err != nil {
				return false, err
			}
			names, err := groups.Names()
			return len(names) == 1 && names[0] == name+"-1", errors.Join(err, g.Remove(t.Context()))
		},
		"label": func(name string) (bool, error) {
			registry := prometheus.NewPedanticRegistry()
			if _, err := metrics.NewPlanner(registry, func() (metrics.View, error) {
				return metrics.View{Apps: []api.AppSummary{{ID: "app-1", Name: name, State: api.AppRunning, Deadline: 1}}}, nil
			}); err != nil {
				return false, err
			}
			families, err := registry.Gather()
			safe := false
			for _, f := range families {
				for _, m := range f.GetMetric() {
					for _, l := range m.GetLabel() {
						safe = safe || l.GetName() == "application_name"
						if v := l.GetValue(); len(v) > api.MostName || strings.IndexFunc(v, unicode.IsControl) >= 0 {
							return false, err
						}
					}
				}
			}
			return safe && err == nil, nil
		},
		"keys of a store": func(name string) (bool, error) {
			c := ledgertest.New(t, "a")
			s, err := store.Open(filepath.Join(t.TempDir(), "s.db"), store.Options{Sync: store.SyncNever})
			if err != nil {
				return false, err
			}
			defer s.Close()
			body := ledgertest.Chain(name)
			effects := c.Know(ledger.ProfileSaved{Body: body}, ledger.NodeJoined{Node: name, Incarnation: "1"}, ledger.NodeSaid{Status: ledgertest.Status(name, 1)},
				ledger.Registered{ID: api.AppID("app-" + name), Name: name, Serial: 1})
			if err := s.Apply(effects.Pairs); err != nil {
				return false, nil //nolint:nilerr // A store that refuses it is safe from it.
			}
			pairs, err := s.Load("")
			if err != nil {
				return false, nil //nolint:nilerr // As above.
			}
			l, err := ledger.New(ledger.Config{Beta: 0.3, Identity: "store", History: 10, DetailHistory: 5, Samples: 100, AllSamples: 1000, Stages: 50}, pairs)
			return err == nil && l.Audit() == "" && l.View().Node(name) != nil && l.View().App(api.AppID("app-"+name)) != nil && l.View().Profile("", name) != nil &&
				len(l.Close().Faults) == 0, nil
		},
	}
	for _, name := range []string{"*", ">", "a.b", "/", "../../x", ".", "..", "user-x", "node-x", "app-x", "planner", "a\x00b", "a\nb", "a b", "ä",
		strings.Repeat("n", 1024), strings.Repeat("ä", 512), strings.Repeat("/", 1024)} {
		for kind, make := range kinds {
			if safe, refused := make(name); !safe && refused == nil {
				t.Errorf("%s of %.20q is not safe", kind, name)
			}
		}
		if api.AppID(name).Made() {
			t.Errorf("%.20q is taken for an id of a planner's", name)
		}
	}
}
