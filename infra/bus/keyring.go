package bus

import (
	"crypto/subtle"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/sparkpacer/pacer/api"
)

// Keyring is who may connect: principals with the hashes of their secrets. It is safe for
// concurrent use.
type Keyring struct {
	// OnRefused hears of everybody who was not let in, and of what was refused to those who
	// were, if it is not nil. It must not block, and is set before the keyring is used.
	OnRefused func(Refusal)

	mu   sync.RWMutex
	keys map[string]key
	// open takes everybody for the planner itself.
	open bool
}

// RefusedConnect is Refusal.What of a connection.
const RefusedConnect = "connect"

// Refusal is something that was refused to somebody.
type Refusal struct {
	// Login is who they say they are, From where they are, as far as that is known.
	Login, From string
	// What was refused: RefusedConnect, or a subject.
	What string
	Why  error
}

func (k *Keyring) refuse(r Refusal) {
	if k.OnRefused != nil {
		k.OnRefused(r)
	}
}

// key is a principal with what proves it: one of hashes.
type key struct {
	principal api.Principal
	hashes    []string
}

// NewKeyring returns a keyring that knows nobody.
func NewKeyring() *Keyring { return &Keyring{keys: map[string]key{}} }

// NewOpenKeyring returns a keyring for a NATS server that lets everybody in and do everything:
// there logins prove nothing, and each request counts as the planner's own.
func NewOpenKeyring() *Keyring { return &Keyring{open: true, keys: map[string]key{}} }

// Put has the keyring know p by these hashes, and by no others.
func (k *Keyring) Put(p api.Principal, hashes ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys[p.Login()] = key{principal: p, hashes: slices.Clone(hashes)}
}

// Lend makes a credential for p that only this keyring knows, beside those that p has.
func (k *Keyring) Lend(p api.Principal) Credential {
	c := NewCredential(p.Login())
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys[c.Login] = key{principal: p, hashes: append(slices.Clone(k.keys[c.Login].hashes), c.Hash())}
	return c
}

// Remove has the keyring forget who has that login.
func (k *Keyring) Remove(login string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.keys, login)
}

// Who is the principal of a login that the server has let in: a KindDenied error if it is
// not known any more, or has expired.
func (k *Keyring) Who(login string) (api.Principal, error) {
	if k.open {
		return api.Principal{}, nil
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	known, ok := k.keys[login]
	if !ok {
		return api.Principal{}, api.Errorf(api.KindDenied, "%q has no credentials here", api.Clip(login, api.MostToken))
	}
	if until := known.principal.Until; !until.IsZero() && !time.Now().Before(until) {
		return api.Principal{}, api.Errorf(api.KindDenied, "the credentials of %s have expired on %s", login,
			until.UTC().Format(time.DateTime))
	}
	return known.principal, nil
}

// Prove is Who for a login that has still to be proven.
func (k *Keyring) Prove(login, secret string) (api.Principal, error) {
	p, err := k.Who(login)
	if err != nil || k.open {
		return p, err
	}
	hash, proven := []byte(hashOf(secret)), 0
	k.mu.RLock()
	defer k.mu.RUnlock()
	for _, h := range k.keys[login].hashes {
		proven |= subtle.ConstantTimeCompare(hash, []byte(h))
	}
	if proven == 0 {
		return api.Principal{}, api.Errorf(api.KindDenied, "that is not the secret of %s", login)
	}
	return p, nil
}

// sender is who has sent m: the server has let nobody else publish to its subject. The answer
// must go to an inbox of theirs, so that nobody has the planner speak where they may not.
func (k *Keyring) sender(m *nats.Msg) (api.Principal, error) {
	login := from(m.Subject)
	p, err := k.Who(login)
	if err == nil {
		err = k.answerable(m, login)
	}
	if err != nil {
		k.refuse(Refusal{Login: login, What: m.Subject, Why: err})
	}
	return p, err
}

// known reports whether m is from somebody who is still known, and notes it if not.
func (k *Keyring) known(m *nats.Msg) bool {
	_, err := k.sender(m)
	return err == nil
}

// addressee is sender for those whose credentials may have ended with what they speak of.
func (k *Keyring) addressee(m *nats.Msg) (api.Principal, error) {
	return api.Principal{Kind: api.PrincipalApplication, Name: from(m.Subject)}, k.answerable(m, from(m.Subject))
}

// answerable takes the address away from a message that is to be answered to somebody else.
func (k *Keyring) answerable(m *nats.Msg, login string) error {
	if k.open || m.Reply == "" || strings.HasPrefix(m.Reply, inboxOf(login)+".") {
		return nil
	}
	m.Reply = ""
	return api.Errorf(api.KindDenied, "%s wants an answer to go to somebody else", login)
}
