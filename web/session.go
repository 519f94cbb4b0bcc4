package web

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// Sessions are who may look at the page and by which tokens. Of codes and tokens it has the hashes only. It is safe for
// concurrent use; the zero value has none.
type Sessions struct {
	// Keep keeps what Restore takes, so that a session outlasts the planner's process; nil keeps nothing. It is set
	// before anything else.
	Keep func([]byte)

	mu            sync.Mutex
	codes, tokens map[string]grant // By hash.
}

// grant lets who has a login in until a moment.
type grant struct {
	Login string    `json:"login"`
	Until time.Time `json:"until"`
}

// holds reports whether its moment is still to come.
func (g grant) holds() bool { return time.Now().Before(g.Until) }

// Restore has the sessions again that Keep was given.
func (s *Sessions) Restore(kept []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return json.Unmarshal(kept, &s.tokens)
}

// Code returns a code for which somebody gets a session, once and for two minutes.
func (s *Sessions) Code(by api.Principal) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	code := rand.Text()
	s.codes = put(s.codes, code, grant{by.Login(), time.Now().Add(codeFor)}, mostCodes)
	return code
}

// begin exchanges a code for the token of a session.
func (s *Sessions) begin(code string) (token string, g grant, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g = s.codes[hash(code)]
	delete(s.codes, hash(code))
	if !g.holds() {
		return "", grant{}, anonymousError{errors.New("that code is not known, was used, or is older than two minutes: " +
			"`pacer web` prints another one")}
	}
	token, g.Until = rand.Text()+rand.Text(), time.Now().Add(sessionFor)
	s.tokens = put(s.tokens, token, g, mostSessions)
	s.keep()
	return token, g, nil
}

// of is the session that has a token.
func (s *Sessions) of(token string) (grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.tokens[hash(token)]
	if !g.holds() {
		return grant{}, errors.New("there is no such session, or it has ended: `pacer web` begins one")
	}
	return g, nil
}

// end ends the session that has a token.
func (s *Sessions) end(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tokens, hash(token))
	s.keep()
}

// End ends all sessions of a login, and has its codes count no more.
func (s *Sessions) End(login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := func(_ string, g grant) bool { return g.Login == login }
	maps.DeleteFunc(s.codes, own)
	maps.DeleteFunc(s.tokens, own)
	s.keep()
}

// keep has the sessions kept; s is locked.
func (s *Sessions) keep() {
	if s.Keep == nil {
		return
	}
	body, _ := json.Marshal(s.tokens) // Texts and moments.
	s.Keep(body)
}

// put adds a grant for a secret. What has expired goes, and the oldest one of a login that has most already.
func put(all map[string]grant, secret string, g grant, most int) map[string]grant {
	maps.DeleteFunc(all, func(_ string, other grant) bool { return !other.holds() })
	var own []string
	for h, other := range all {
		if other.Login == g.Login {
			own = append(own, h)
		}
	}
	if len(own) >= most {
		delete(all, slices.MinFunc(own, func(a, b string) int { return all[a].Until.Compare(all[b].Until) }))
	}
	if all == nil {
		all = map[string]grant{}
	}
	all[hash(secret)] = g
	return all
}

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
