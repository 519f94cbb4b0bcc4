package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/bus"
)

// principals are those to whom credentials were issued. They are kept beside the store, so
// that a planner that loses its state still knows its nodes.
type principals struct {
	keyring *bus.Keyring
	// disconnect ends the connections of a login.
	disconnect func(login string)
	path       string

	mu    sync.Mutex
	known map[string]*grantee // By login.
}

// grantee is a principal with its credentials.
type grantee struct {
	api.Principal
	Credentials []issued `json:"credentials"`
}

// issued is a credential: the hash of its secret.
type issued struct {
	Hash string    `json:"hash"`
	At   time.Time `json:"issued_at"`
}

// mostCredentials is how many of a principal's credentials are taken, the newest ones.
const mostCredentials = 8

// credentialDir is the directory of a daemon's credentials in its state directory.
func credentialDir(state string) string { return filepath.Join(state, "credentials") }

// principalsFile is what a state directory's principals are in.
type principalsFile struct {
	V          int        `json:"v"`
	Principals []*grantee `json:"principals"`
}

// openPrincipals reads the principals of a state directory into keyring.
func openPrincipals(state string, keyring *bus.Keyring) (*principals, error) {
	p := &principals{keyring: keyring, disconnect: func(string) {}, path: filepath.Join(credentialDir(state), "principals.json"), known: map[string]*grantee{}}
	body, err := os.ReadFile(p.path)
	if errors.Is(err, os.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, fmt.Errorf("principals: %w", err)
	}
	if info, err := os.Stat(p.path); err != nil || info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("principals: others than its owner can write %s: chmod go-w it, and look at `pacer auth list` (%w)", p.path, errors.Join(err))
	}
	var file principalsFile
	if err := json.Unmarshal(body, &file); err != nil || file.V != 1 {
		return nil, fmt.Errorf("principals: %s cannot be read (version %d, want 1; %v): put a copy of it back, or remove it and issue all credentials anew", p.path, file.V, err)
	}
	for _, h := range file.Principals {
		if err := h.Validate(); err != nil {
			return nil, fmt.Errorf("principals: %s: %w", p.path, err)
		}
		p.known[h.Login()] = h
		p.put(h)
	}
	return p, nil
}

func (p *principals) put(h *grantee) {
	var hashes []string
	for _, c := range h.Credentials {
		hashes = append(hashes, c.Hash)
	}
	p.keyring.Put(h.Principal, hashes...)
}

// issue takes a credential: of a new principal, or another one of one that is known, whose
// role and bounds are then the new ones.
func (p *principals) issue(i api.Issue, now time.Time) error {
	if err := i.Validate(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	login := i.Principal.Login()
	before := p.known[login]
	h := &grantee{Principal: i.Principal}
	if before != nil {
		h.Credentials = slices.Clone(before.Credentials)
	}
	h.Credentials = append(h.Credentials, issued{Hash: i.Hash, At: now.UTC().Truncate(time.Second)})
	h.Credentials = h.Credentials[max(0, len(h.Credentials)-mostCredentials):]
	p.known[login] = h
	if err := p.save(); err != nil {
		if p.known[login] = before; before == nil {
			delete(p.known, login)
		}
		return err
	}
	p.put(h)
	return nil
}

// revoke takes a principal's credentials no more and ends its connections.
func (p *principals) revoke(login string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.known[login]
	if h == nil {
		return api.Errorf(api.KindNotFound, "%q has no credentials: `pacer auth list` shows who has", api.Clip(login, api.MostToken))
	}
	delete(p.known, login)
	if err := p.save(); err != nil {
		p.known[login] = h
		return err
	}
	p.keyring.Remove(login)
	p.disconnect(login)
	return nil
}

// list is everybody, in order of login.
func (p *principals) list() []api.PrincipalSummary {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []api.PrincipalSummary{}
	for _, h := range p.sorted() {
		s := api.PrincipalSummary{Principal: h.Principal, Login: h.Login(), Credentials: len(h.Credentials)}
		if n := len(h.Credentials); n > 0 {
			s.Issued = h.Credentials[n-1].At
		}
		out = append(out, s)
	}
	return out
}

func (p *principals) sorted() []*grantee {
	all := []*grantee{}
	for _, h := range p.known {
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b *grantee) int { return strings.Compare(a.Login(), b.Login()) })
	return all
}

func (p *principals) save() error {
	body, err := json.MarshalIndent(principalsFile{V: 1, Principals: p.sorted()}, "", " ")
	if err == nil {
		err = bus.WriteSecret(p.path, append(body, '\n'))
	}
	if err != nil {
		return fmt.Errorf("principals cannot be saved: %w", err)
	}
	return nil
}
