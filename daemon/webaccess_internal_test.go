package daemon

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/metrics"
	"github.com/sparkpacer/pacer/web"
)

// ready is a planner that has nothing to tell.
type ready struct{}

func (ready) Control(_ api.Principal, _ api.Verb, _ api.ControlRequest, reply func(api.ControlReply)) {
	reply(api.ControlReply{})
}
func (ready) Plan(_ api.Principal, _ api.PlanRequest, reply func(api.PlanReply)) {
	reply(api.PlanReply{})
}
func (ready) Look(uint64, func(api.Changes)) {}

// Whoever has a token for scrapes keeps its user from nothing, by whatever path and with whatever header.
func TestAttackByATokenForScrapes(t *testing.T) {
	ops := api.Principal{Kind: api.PrincipalUser, Name: "ops", Role: api.RoleOperate}
	for name, path := range map[string]string{"of the page": "/api/v1/nodes", "of the metrics": metrics.Path} {
		t.Run(name, func(t *testing.T) {
			keyring := bus.NewKeyring()
			keyring.Put(ops)
			serving := &term{access: &plannerAccess{principals: &principals{keyring: keyring}}}
			d := &webAccess{term: &atomic.Pointer[term]{}}
			d.term.Store(serving)
			d.Server = web.New(web.Config{Serves: func() (web.Planner, error) { return ready{}, nil }, Who: d.who, Admit: d.admit})
			defer d.Close()
			mux := http.NewServeMux()
			mux.Handle("/", d)
			mux.Handle(metrics.Path, guarded(metrics.Handler(prometheus.NewRegistry(), nil), d.scrapes))
			ask := func(path, token string, claimed int64) int {
				r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, strings.NewReader(""))
				r.ContentLength = claimed
				r.Header.Set("Authorization", "Bearer "+token)
				w := httptest.NewRecorder()
				mux.ServeHTTP(w, r)
				return w.Code
			}
			scrape, _ := d.Sessions.Token(ops, api.TokenRequest{Scrape: true})
			got := map[int]int{}
			for range 5000 {
				got[ask(path, scrape, -1)]++
			}
			if got[200] < 100 || got[200] > 2000 || got[503] < 1000 || len(got) != 2 {
				t.Errorf("of 5,000 requests are answered %v", got)
			}
			own, _ := d.Sessions.Token(ops, api.TokenRequest{})
			for range 100 {
				if status := ask("/api/v1/nodes", own, 0); status != http.StatusOK {
					t.Fatalf("its user is answered %d", status)
				}
			}
			if err := keyring.Ask(ops.Login(), 4<<20); err != nil {
				t.Errorf("its user on the bus: %v", err)
			}
		})
	}
}
