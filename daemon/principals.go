package daemon

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/store"
)

// principals are those to whom credentials were issued. They are kept beside the store, so
// that a planner that loses its state still knows its nodes; in it, too, where planners share one, so
// that each knows whom the other has let in.
type principals struct {
	keyring *bus.Keyring
	// disconnect ends the connections of a login.
	disconnect func(login string)
	// standing hears whose credentials were revoked, and who has some again.
	standing func(p api.Principal, revoked bool)
	shelf    shelf

	mu    sync.Mutex
	known map[string]*grantee // By login.
	// tickets are those of submissions, by login.
	tickets map[string]*ticket
	// revoked are those whose credentials were revoked and who have been issued none since, the newest
	// last.
	revoked []api.Principal
}

// grantee is a principal with its credentials.
type grantee struct {
	api.Principal
	Credentials []issued `json:"credentials"`
	// Joined is how many credentials a join credential has issued, By the login of the one by which a node came.
	Joined int    `json:"joined,omitempty"`
	By     string `json:"by,omitempty"`
}

// issued is a credential: the public key of its secret or, until it is used for the first time since, the hash that an
// earlier release has kept.
type issued struct {
	Key  string    `json:"key,omitempty"`
	Hash string    `json:"hash,omitempty"`
	At   time.Time `json:"issued_at"`
}

// mostRevoked is how many are remembered whose credentials were revoked, the newest ones.
const mostRevoked = 500

// mostCredentials is how many of a principal's credentials are taken, the newest ones.
const mostCredentials = 8

// credentialDir is the directory of a daemon's credentials in its state directory.
func credentialDir(state string) string { return filepath.Join(state, "credentials") }

// principalsVersion is that of principalsFile; the first one had hashes alone, and is read.
const principalsVersion = 2

// principalsFile is what a state directory's principals are in.
type principalsFile struct {
	V          int        `json:"v"`
	Principals []*grantee `json:"principals"`
	// Revoked are those whose credentials were revoked, the newest last.
	Revoked []api.Principal `json:"revoked,omitempty"`
	Tickets []*ticket       `json:"tickets,omitempty"`
}

// shelf is where principals are kept: as one piece, which is nil where there is none.
type shelf interface {
	read() ([]byte, error)
	write(body []byte) error
	String() string
}

// fileShelf is a file in a state directory.
type fileShelf string

func principalsPath(state string) fileShelf {
	return fileShelf(filepath.Join(credentialDir(state), "principals.json"))
}

func (f fileShelf) String() string { return string(f) }

func (f fileShelf) read() ([]byte, error) {
	body, err := os.ReadFile(string(f))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(string(f)); err != nil || info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("others than its owner can write %s: chmod go-w it, and look at `pacer auth list` (%w)", f,
			errors.Join(err))
	}
	return body, nil
}

func (f fileShelf) write(body []byte) error { return bus.WriteSecret(string(f), body) }

// storeShelf is a key of a store. Until it has a value, that beside it is read, which has a copy from
// then on.
type storeShelf struct {
	store.Store
	beside shelf
}

// principalsKey is the key of a shared store that has the principals.
const principalsKey = "principals"

func (s storeShelf) String() string { return "the planners' store" }

func (s storeShelf) read() ([]byte, error) {
	body, err := s.stored()
	switch {
	case err != nil:
		return nil, err
	case body == nil:
		return s.beside.read()
	}
	_ = s.beside.write(body) // For when the store is lost: a copy that cannot be written is no fault now.
	return body, nil
}

// stored is the key's value, nil where it has none.
func (s storeShelf) stored() ([]byte, error) {
	pairs, err := s.Load(principalsKey)
	if err != nil || len(pairs) > 0 && pairs[0].Key == principalsKey {
		return value(pairs), err
	}
	return nil, nil
}

func value(pairs []api.Pair) []byte {
	if len(pairs) == 0 {
		return nil
	}
	return pairs[0].Value
}

func (s storeShelf) write(body []byte) error {
	if err := s.Apply([]api.Pair{{Key: principalsKey, Value: body}}); err != nil {
		return err
	}
	_ = s.beside.write(body) // As in read.
	return nil
}

// openPrincipals reads the principals of a shelf into keyring.
func openPrincipals(from shelf, keyring *bus.Keyring) (*principals, error) {
	p := &principals{keyring: keyring, disconnect: func(string) {}, standing: func(api.Principal, bool) {}, shelf: from,
		known: map[string]*grantee{}, tickets: map[string]*ticket{}}
	body, err := from.read()
	if err != nil {
		return nil, fmt.Errorf("principals: %w", err)
	}
	if body == nil {
		return p, nil
	}
	var file principalsFile
	err = json.Unmarshal(body, &file)
	if err == nil && (file.V < 1 || file.V > principalsVersion) {
		err = fmt.Errorf("version %d, want %d", file.V, principalsVersion)
	}
	if err != nil {
		return nil,
			fmt.Errorf("principals: %s cannot be read (%w): put a copy of it back, or remove it and issue all credentials anew",
				from, err)
	}
	for _, h := range file.Principals {
		if err := h.Validate(); err != nil {
			return nil, fmt.Errorf("principals: %s: %w", from, err)
		}
		p.known[h.Login()] = h
		p.put(h)
	}
	p.revoked = file.Revoked
	for _, t := range file.Tickets {
		p.tickets[t.principal().Login()] = t
		keyring.PutOf(t.User, t.principal(), t.Key)
	}
	keyring.OnRenewed = p.renew
	return p, nil
}

func (p *principals) put(h *grantee) {
	var keys []string
	for _, c := range h.Credentials {
		keys = append(keys, cmp.Or(c.Key, c.Hash))
	}
	p.keyring.Put(h.Principal, keys...)
}

// renew keeps the public key of a secret in place of its hash.
func (p *principals) renew(login, hash, key string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.known[login]
	if h == nil {
		return api.Errorf(api.KindDenied, "the credentials of %s were revoked", login)
	}
	i := slices.IndexFunc(h.Credentials, func(c issued) bool { return c.Hash == hash })
	if i < 0 {
		return nil // It was renewed a moment ago.
	}
	before := h.Credentials
	h.Credentials = slices.Clone(before)
	h.Credentials[i].Key, h.Credentials[i].Hash = key, ""
	if err := p.save(); err != nil {
		h.Credentials = before
		return err
	}
	return nil
}

// issue takes a credential that by asks for: of a new principal, or another one of one that is known, whose
// role and bounds are then the new ones.
func (p *principals) issue(by api.Principal, i api.Issue, now time.Time) error {
	if err := i.Validate(); err != nil {
		return err
	}
	if i.Principal.Kind == api.PrincipalTicket {
		return api.Errorf(api.KindInvalid, "a ticket is its user's to ask for (%s)", api.VerbTicket)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	login := i.Principal.Login()
	before, revoked := p.known[login], p.revoked
	join, err := p.joins(by, i, before)
	if err != nil {
		return err
	}
	if i.Enrols && p.isRevoked(login) {
		return api.Errorf(api.KindDenied, "the credentials of %s were revoked: `pacer auth issue` gives it others",
			i.Principal)
	}
	p.revoked = slices.DeleteFunc(slices.Clone(revoked), func(r api.Principal) bool { return r.Login() == login })
	h := &grantee{Principal: i.Principal}
	if before != nil {
		h.Credentials, h.Joined, h.By = slices.Clone(before.Credentials), before.Joined, before.By
	}
	if join != nil {
		h.By = by.Login()
		join.Joined++
	}
	h.Credentials = append(h.Credentials, issued{Key: i.Key, At: now.UTC().Truncate(time.Second)})
	h.Credentials = h.Credentials[max(0, len(h.Credentials)-mostCredentials):]
	p.known[login] = h
	if err := p.save(); err != nil {
		if p.revoked, p.known[login] = revoked, before; before == nil {
			delete(p.known, login)
		}
		if join != nil {
			join.Joined--
		}
		return err
	}
	p.put(h)
	p.standing(i.Principal, false)
	return nil
}

// joins is the join credential by which a node asks for its own, nil for all others, who are operators. The node was
// not there before, or has come by the same one: it has lost its state. p is locked.
func (p *principals) joins(by api.Principal, i api.Issue, before *grantee) (*grantee, error) {
	if by.Kind != api.PrincipalJoin {
		return nil, nil
	}
	join, node := p.known[by.Login()], i.Principal
	switch {
	case join == nil:
		return nil, api.Errorf(api.KindDenied, "the credentials of %s were revoked", by)
	case node.Kind != api.PrincipalNode || !i.Enrols || !node.Until.IsZero():
		return nil, api.Errorf(api.KindDenied, "a join credential is for a node to have its own issued, for nothing else")
	case !join.Join.Fits(node.Name):
		return nil, api.Errorf(api.KindDenied, "node %s: this join credential is for nodes named %s", node.Name,
			strings.Join(join.Join.Nodes, ", "))
	case join.Join.Times > 0 && join.Joined >= join.Join.Times:
		return nil, api.Errorf(api.KindDenied, "node %s: this join credential was issued with --times %d, and used "+
			"as often: `pacer auth issue --join` makes another one", node.Name, join.Join.Times)
	case before != nil && before.By != by.Login():
		return nil, api.Errorf(api.KindDenied, "node %s has a credential that did not come by this one: `pacer auth issue "+
			"--node %s` makes it another one", node.Name, node.Name)
	}
	return join, nil
}

// isRevoked reports whether a login's credentials were revoked; p is locked.
func (p *principals) isRevoked(login string) bool {
	return slices.ContainsFunc(p.revoked, func(r api.Principal) bool { return r.Login() == login })
}

// wasRevoked is isRevoked for who has not locked p.
func (p *principals) wasRevoked(login string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isRevoked(login)
}

// hear has tell hear whose credentials are revoked from now on, and whose were before: of the latter
// a planner that died in between has not heard.
func (p *principals) hear(tell func(p api.Principal, revoked bool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.standing = tell
	for _, r := range p.revoked {
		tell(r, true)
	}
}

// revoke takes a principal's credentials no more, ends its connections and has the planner know.
func (p *principals) revoke(login string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.known[login]
	if h == nil {
		return api.Errorf(api.KindNotFound, "%q has no credentials: `pacer auth list` shows who has",
			api.Clip(login, api.MostToken))
	}
	before, tickets := p.revoked, maps.Clone(p.tickets)
	delete(p.known, login)
	maps.DeleteFunc(p.tickets, func(_ string, t *ticket) bool { return t.User == login })
	p.revoked = append(slices.Clone(before), api.Principal{Kind: h.Kind, Name: h.Name})
	p.revoked = p.revoked[max(0, len(p.revoked)-mostRevoked):]
	if err := p.save(); err != nil {
		p.known[login], p.revoked, p.tickets = h, before, tickets
		return err
	}
	for ticket, t := range tickets {
		if t.User == login {
			p.keyring.Remove(ticket)
			p.disconnect(ticket)
		}
	}
	p.keyring.Remove(login)
	p.disconnect(login)
	p.standing(h.Principal, true)
	return nil
}

// list is everybody, in order of login.
func (p *principals) list() []api.PrincipalSummary {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []api.PrincipalSummary{}
	for _, h := range p.sorted() {
		s := api.PrincipalSummary{Principal: h.Principal, Login: h.Login(), Credentials: len(h.Credentials),
			Joined: h.Joined}
		if n := len(h.Credentials); n > 0 {
			s.Issued = h.Credentials[n-1].At
		}
		out = append(out, s)
	}
	return out
}

func (p *principals) sorted() []*grantee {
	return slices.SortedFunc(maps.Values(p.known), func(a, b *grantee) int {
		return strings.Compare(a.Login(), b.Login())
	})
}

func (p *principals) save() error {
	file := principalsFile{V: principalsVersion, Principals: p.sorted(), Revoked: p.revoked,
		Tickets: slices.SortedFunc(maps.Values(p.tickets), func(a, b *ticket) int {
			return strings.Compare(a.Submission, b.Submission)
		})}
	body, err := json.MarshalIndent(file, "", " ")
	if err == nil {
		err = p.shelf.write(append(body, '\n'))
	}
	if err != nil {
		return fmt.Errorf("principals cannot be saved: %w", err)
	}
	return nil
}
