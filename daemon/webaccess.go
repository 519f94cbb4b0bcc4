package daemon

import (
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner/access"
	"github.com/sparkpacer/pacer/web"
)

// webAccess lets people in by HTTP: it knows their principals while the planner serves.
type webAccess struct {
	*web.Server
	term *atomic.Pointer[term]
	// proofs are asked for while another planner serves, nil where none can.
	proofs *proofs
}

// newWebAccess returns the access to a planner that others reach at an address and that serves while there is a term.
func newWebAccess(cfg PlannerConfig, address func() string, t *atomic.Pointer[term], a *audit) *webAccess {
	w := &webAccess{term: t}
	if cfg.Listen == "" && cfg.NatsURL == "" {
		address = func() string { return "" } // Only this process can connect.
	}
	w.Server = web.New(web.Config{Serves: w.serves, Who: w.who, Admit: w.admit, Began: a.session, Hosts: hosts(cfg),
		Release: cfg.Engine.Release, Planner: address})
	return w
}

var errStandsBy = api.Errorf(api.KindTransient, "this planner stands by, another one serves")

// serving is the term in which the planner serves.
func (w *webAccess) serving() (*term, error) {
	if t := w.term.Load(); t != nil {
		return t, nil
	}
	return nil, errStandsBy
}

// serves is the planner that answers.
func (w *webAccess) serves() (web.Planner, error) { return w.serving() }

// ready is an error when the planner serves nobody, or cannot promise anything.
func (w *webAccess) ready() error {
	t, err := w.serving()
	if err != nil {
		return err
	}
	return t.loop.Alive()
}

// scrapes refuses whoever may not see metrics: people, of any role, may. Whom to let in is known to the planner that
// serves, which a planner that stands by asks.
func (w *webAccess) scrapes(token string) error {
	if w.term.Load() == nil && w.proofs != nil {
		return w.proofs.scrapes(token)
	}
	_, err := w.looks(web.Hash(token))
	return err
}

// looks refuses whoever may not see metrics by a token with a hash, and says until when that is good.
func (w *webAccess) looks(hash string) (time.Time, error) {
	by, until, err := w.HolderOf(hash)
	if err == nil {
		err = access.Verb(by, api.VerbApps)
	}
	if err == nil {
		by.Scrapes = true // Whatever the token is for.
		err = w.count(by, 0)
	}
	return until, err
}

// who is the principal of a login.
func (w *webAccess) who(login string) (by api.Principal, err error) {
	t, err := w.serving()
	if err == nil {
		by, err = t.access.keyring.Who(login)
	}
	return by, err
}

// admit counts a request of by's, whose connection is a stranger's no more.
func (w *webAccess) admit(r *http.Request, by api.Principal, size int) error {
	proven(r)
	return w.count(by, size)
}

// count takes a request out of the allowance that it is of.
func (w *webAccess) count(by api.Principal, size int) error {
	t, err := w.serving()
	switch {
	case err != nil:
		return err
	case by.Scrapes:
		return t.access.keyring.Scrape(by.Login(), size)
	}
	return t.access.keyring.Ask(by.Login(), size)
}

// hosts are the names under which the planner is reached: the machine's, the address's and those of the certificate.
func hosts(cfg PlannerConfig) []string {
	name, _ := os.Hostname()
	short, _, _ := strings.Cut(name, ".")
	host, _, _ := net.SplitHostPort(cfg.HTTP)
	names := []string{strings.ToLower(name), strings.ToLower(short), strings.ToLower(host)}
	if t := cfg.ownTLS(cfg.HTTP); t.Cert != "" {
		if secured, err := t.Serve(nil); err == nil {
			if c, err := secured.GetCertificate(nil); err == nil && c.Leaf != nil {
				names = append(names, c.Leaf.DNSNames...)
			}
		}
	}
	return names
}

// link is an address of the page at which an owner of the planner begins a session; "" where there is none.
func (w *webAccess) link(at *site, owners []Owner) string {
	t := w.term.Load()
	if t == nil || at == nil || len(owners) == 0 {
		return ""
	}
	by, err := t.access.keyring.Who(api.Principal{Kind: api.PrincipalUser, Name: owners[0].Name}.Login())
	if err != nil {
		return ""
	}
	return at.url() + "/#" + w.Sessions.Code(by)
}
