package bus

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/sparkpacer/pacer/api"
)

// Keyring is who may connect: principals with the public keys of their secrets. It is safe for
// concurrent use.
type Keyring struct {
	// OnRefused hears of everybody who was not let in, and of what was refused to those who
	// were, if it is not nil. It must not block, and is set before the keyring is used.
	OnRefused func(Refusal)
	// OnRenewed keeps a public key in place of the hash that an earlier release has left, if it is
	// not nil. It is set before the keyring is used; where it fails nothing is renewed.
	OnRenewed func(login, hash, key string) error
	// OnFlood hears of a login that goes on sending far more than it may: its connections are to be cut. It
	// is like OnRefused.
	OnFlood func(login string)

	rests    rests
	requests allowance // Requests of people, by whatever way.
	scrapes  allowance // Requests by tokens for scrapes; nothing of it is cut.
	mu       sync.RWMutex
	keys     map[string]key
	// open takes everybody for the planner itself.
	open bool
}

// RefusedConnect is Refusal.What of a connection.
const RefusedConnect = "connect"

// Refusal is something that was refused to somebody.
type Refusal struct {
	// Login is who they say they are, From where they are, as far as that is known.
	Login, From string
	// The thing that was refused: RefusedConnect, or a subject.
	What string
	Why  error
}

func (k *Keyring) refuse(r Refusal) {
	if k.OnRefused != nil {
		k.OnRefused(r)
	}
}

// key is a principal with what proves it: one of public keys, or of hashes of an earlier release.
type key struct {
	principal api.Principal
	keys      []string
	owner     string // The login of the user that it is of, "" for itself.
}

// NewKeyring returns a keyring that knows nobody.
func NewKeyring() *Keyring {
	k := &Keyring{keys: map[string]key{}}
	k.requests.begin(mostRequests)
	k.scrapes.begin(mostScrapes)
	return k
}

// NewOpenKeyring returns a keyring for a NATS server that lets everybody in and do everything:
// there logins prove nothing, and each request counts as the planner's own.
func NewOpenKeyring() *Keyring {
	k := NewKeyring()
	k.open = true
	return k
}

// Put has the keyring know p by these public keys, or hashes of an earlier release, and by no others. It reports
// whether it knew p by others before.
func (k *Keyring) Put(p api.Principal, keys ...string) (changed bool) { return k.PutOf("", p, keys...) }

// PutOf is Put for an application or a ticket of the user with the login owner, "" for the one that has it already.
func (k *Keyring) PutOf(owner string, p api.Principal, keys ...string) (changed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	login := p.Login()
	before, known := k.keys[login]
	k.keys[login] = key{principal: p, keys: slices.Clone(keys), owner: cmp.Or(owner, before.owner)}
	return !known || !slices.Equal(before.keys, keys)
}

// Owner is the login of the user that a login is of: itself for most, "" for all that are not known any more.
func (k *Keyring) Owner(login string) string {
	if k.open {
		return login
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	if known, ok := k.keys[login]; ok {
		return cmp.Or(known.owner, login)
	}
	return ""
}

// Lend makes a credential for p that only this keyring knows, beside those that p has.
func (k *Keyring) Lend(p api.Principal) Credential {
	c := NewCredential(p.Login())
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys[c.Login] = key{principal: p, keys: append(slices.Clone(k.keys[c.Login].keys), c.Key())}
	return c
}

// Remove has the keyring forget who has that login.
func (k *Keyring) Remove(login string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.keys, login)
}

// Who tells the principal of a login that the server has let in: a KindDenied error if it is
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

// Prove is Who for a login that has still to be proven. A secret's hash that an earlier release has kept is renewed.
func (k *Keyring) Prove(proof Proof) (api.Principal, error) {
	p, err := k.Who(proof.Login)
	if err != nil || k.open {
		return p, err
	}
	known, kept, err := proof.shows(p.Kind, k.keysOf(proof.Login))
	if err == nil && known == "" {
		err = errors.New("it has another key")
	}
	if err == nil && known != kept {
		err = k.renew(proof.Login, known, kept)
	}
	if err != nil {
		return api.Principal{}, api.Errorf(api.KindDenied, "%s is not proven: %v", proof.Login, err)
	}
	return p, nil
}

// Knows is Who for a credential that is at hand.
func (k *Keyring) Knows(c Credential) (api.Principal, error) {
	p, err := k.Who(c.Login)
	if keys := k.keysOf(c.Login); err == nil && !k.open && !slices.Contains(keys, c.Key()) &&
		!slices.Contains(keys, c.hash()) {
		err = api.Errorf(api.KindDenied, "that is not the secret of %s", c.Login)
	}
	return p, err
}

func (k *Keyring) keysOf(login string) []string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.keys[login].keys // Replaced, never changed.
}

// renew puts a key in the place of a hash, which proves nothing from then on.
func (k *Keyring) renew(login, hash, renewed string) error {
	if k.OnRenewed != nil {
		if err := k.OnRenewed(login, hash, renewed); err != nil {
			return err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.keys[login]
	i := slices.Index(known.keys, hash)
	switch {
	case i >= 0:
		known.keys = slices.Clone(known.keys)
		known.keys[i] = renewed
		k.keys[login] = known
	case !slices.Contains(known.keys, renewed): // Else another connection has renewed it.
		return errors.New("its credentials were revoked")
	}
	return nil
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
