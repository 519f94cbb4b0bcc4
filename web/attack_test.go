package web_test

import (
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/web"
)

// Whoever may look no more sees nothing more, however they have said who they are.
func TestAttackAStreamGoesOn(t *testing.T) {
	viv := api.Principal{Kind: api.PrincipalUser, Name: "viv", Role: api.RoleView}
	token := func(w *world) string {
		token, _ := w.Sessions.Token(viv, api.TokenRequest{})
		return token
	}
	scrape := func(w *world) string {
		token, _ := w.Sessions.Token(viv, api.TokenRequest{Scrape: true})
		return token
	}
	session := func(w *world) string {
		_, s := w.do("POST", "/api/v1/session", "", `{"code": "`+w.Sessions.Code(viv)+`"}`)
		return s["token"].(string)
	}
	revoked := func(w *world) { delete(w.known, viv.Login()) }
	for name, c := range map[string]struct {
		token func(*world) string
		lose  func(*world)
	}{
		"of a revoked credential": {token, revoked},
		"by a token for scrapes":  {scrape, revoked},
		"of a revoked session":    {session, revoked},
		"without a role": {token, func(w *world) {
			w.known[viv.Login()] = api.Principal{Kind: api.PrincipalUser, Name: "viv"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.known[viv.Login()] = viv
				s, status := w.subscribe(c.token(w))
				if status != 200 || !s.next() {
					t.Fatal(status)
				}
				w.mu.Lock()
				c.lose(w)
				w.mu.Unlock()
				for range 3 {
					if !s.next() || s.ended != nil {
						break
					}
				}
				if s.ended == nil || s.ended["status"] != 401.0 {
					t.Errorf("three seconds later it goes on: %v", s.ended)
				}
			})
		})
	}
}

// A request counts as what it is, never as what its header claims.
func TestAttackAClaimedLength(t *testing.T) {
	for name, c := range map[string]struct {
		claimed int64
		body    string
		want    int
		counted []int
	}{
		"that would cut its login":      {40_000_000, "", http.StatusRequestEntityTooLarge, nil},
		"that overflows":                {math.MaxInt64, "", http.StatusRequestEntityTooLarge, nil},
		"one byte beyond":               {64<<10 + 1, "", http.StatusRequestEntityTooLarge, nil},
		"that is true":                  {0, "", http.StatusOK, []int{0}},
		"none, before a body":           {-1, "{}", http.StatusOK, []int{64 << 10}},
		"none, before a body too large": {-1, `{"profile":"` + strings.Repeat("p", 70<<10) + `"}`, http.StatusRequestEntityTooLarge, []int{64 << 10}},
	} {
		t.Run(name, func(t *testing.T) {
			var asked int
			var counted []int
			s := web.New(web.Config{Serves: func() (web.Planner, error) { return counting{&asked}, nil },
				Who: func(string) (api.Principal, error) { return ann, nil },
				Admit: func(_ *http.Request, _ api.Principal, size int) error {
					counted = append(counted, size)
					return nil
				}})
			defer s.Close()
			token, _ := s.Sessions.Token(ann, api.TokenRequest{})
			r := httptest.NewRequest("GET", "http://localhost/api/v1/nodes", strings.NewReader(c.body))
			if len(c.body) > 2 {
				r = httptest.NewRequest("POST", "http://localhost/api/v1/plan", strings.NewReader(c.body))
			}
			r.ContentLength = c.claimed
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != c.want || !slices.Equal(counted, c.counted) {
				t.Errorf("%d, %v are counted: %s", w.Code, counted, w.Body)
			}
		})
	}
}
