package web

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// How long a code can be exchanged, and how long a session lasts; how many of either somebody has at once.
const (
	codeFor, sessionFor     = 2 * time.Minute, 12 * time.Hour
	mostCodes, mostSessions = 16, 32
)

// Sessions are who may ask by which tokens. Of codes and tokens it has the hashes only, in memory: whoever listens in
// the planner's place while that restarts hears tokens that nobody takes any more. It is safe for concurrent use; the
// zero value has none.
type Sessions struct {
	mu            sync.Mutex
	codes, tokens map[string]grant // By hash.
}

// grant lets who has a login in until a moment.
type grant struct {
	login string
	until time.Time
	use   use
}

// use is what a grant is for: those of one use never end those of another.
type use int

const (
	toSee    use = iota // A code, and a session of the page.
	toAsk               // A token of a program.
	toScrape            // A token that looks alone.
)

// holds reports whether its moment is still to come.
func (g grant) holds() bool { return time.Now().Before(g.until) }

// Code returns a code for which somebody gets a session, once and for two minutes.
func (s *Sessions) Code(by api.Principal) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	code := rand.Text()
	s.codes = put(s.codes, code, grant{login: by.Login(), until: time.Now().Add(codeFor)}, mostCodes)
	return code
}

// begin exchanges a code for the token of a session.
func (s *Sessions) begin(code string) (token string, g grant, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g = s.codes[Hash(code)]
	delete(s.codes, Hash(code))
	if !g.holds() {
		return "", grant{}, anonymous(errors.New("that code is not known, was used, or is older than two minutes: " +
			"`pacer web` prints another one"))
	}
	g.until = time.Now().Add(sessionFor)
	return s.issue(g), g, nil
}

// issue returns a token for a grant; s is locked.
func (s *Sessions) issue(g grant) string {
	token := rand.Text() + rand.Text()
	s.tokens = put(s.tokens, token, g, mostSessions)
	return token
}

// Token returns a token for somebody, and until when it is good.
func (s *Sessions) Token(by api.Principal, r api.TokenRequest) (token string, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	usual, use := api.TokenFor, toAsk
	if r.Scrape {
		usual, use = api.ScrapeFor, toScrape
	}
	until = time.Now().Add(cmp.Or(r.For, usual).Duration())
	if !by.Until.IsZero() && by.Until.Before(until) {
		until = by.Until
	}
	return s.issue(grant{by.Login(), until, use}), until
}

// of is the grant of a token with a hash.
func (s *Sessions) of(hash string) (grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.tokens[hash]
	if !g.holds() {
		return grant{}, errors.New("no such session or token is known, or it has ended: `pacer web` begins a session, " +
			"`pacer auth token` prints a token")
	}
	return g, nil
}

// end ends the session that has a token.
func (s *Sessions) end(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tokens, Hash(token))
}

// End ends all sessions of a login, and has its codes count no more.
func (s *Sessions) End(login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := func(_ string, g grant) bool { return g.login == login }
	maps.DeleteFunc(s.codes, own)
	maps.DeleteFunc(s.tokens, own)
}

// put adds a grant for a secret. Expired grants go, and the oldest one of a login that has most of that use.
func put(all map[string]grant, secret string, g grant, most int) map[string]grant {
	maps.DeleteFunc(all, func(_ string, other grant) bool { return !other.holds() })
	var own []string
	for h, other := range all {
		if other.login == g.login && other.use == g.use {
			own = append(own, h)
		}
	}
	if len(own) >= most {
		delete(all, slices.MinFunc(own, func(a, b string) int { return all[a].until.Compare(all[b].until) }))
	}
	if all == nil {
		all = map[string]grant{}
	}
	all[Hash(secret)] = g
	return all
}

// Hash is what Sessions keep of a token, in hexadecimal: it is no token itself.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
