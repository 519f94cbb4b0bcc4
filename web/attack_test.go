package web_test

import (
	"testing"
	"testing/synctest"

	"github.com/sparkpacer/pacer/api"
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
