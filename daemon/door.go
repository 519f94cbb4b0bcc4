package daemon

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/planner/access"
	"github.com/sparkpacer/pacer/web"
)

// door is how people come in by HTTP: it knows who they are while the planner serves.
type door struct {
	*web.Server
	term  *atomic.Pointer[term]
	audit *audit
}

// newDoor returns the door of a planner, which others reach at an address and which serves while there is a term.
func newDoor(cfg PlannerConfig, address func() string, t *atomic.Pointer[term], a *audit) (*door, error) {
	d := &door{term: t, audit: a}
	if cfg.Listen == "" && cfg.NatsURL == "" {
		address = func() string { return "" } // Only this process can connect.
	}
	d.Server = web.New(web.Config{Serves: d.serves, Who: d.who, Prove: d.prove, Began: d.began, Hosts: hosts(cfg),
		Release: cfg.Engine.Release, Planner: address})
	if cfg.NatsURL != "" {
		return d, nil // Another planner may have revoked credentials since the sessions were kept.
	}
	shelf := fileShelf(filepath.Join(credentialDir(cfg.State), "sessions.json"))
	body, err := shelf.read()
	if err == nil && body != nil {
		err = d.Sessions.Restore(body)
	}
	d.Sessions.Keep = func(body []byte) { _ = shelf.write(body) } // Else they end with the process.
	return d, err
}

var errStandsBy = api.Errorf(api.KindTransient, "this planner stands by, another one serves")

// serves is the planner that answers.
func (d *door) serves() (web.Planner, error) {
	if t := d.term.Load(); t != nil {
		return t, nil
	}
	return nil, errStandsBy
}

// ready is an error when the planner serves nobody, or cannot promise anything.
func (d *door) ready() error {
	if t := d.term.Load(); t != nil {
		return t.loop.Alive()
	}
	return errStandsBy
}

// scrapes refuses whoever may not see metrics. Whom to let in is known to a planner that serves.
func (d *door) scrapes(login, secret string) error {
	if t := d.term.Load(); t != nil {
		return t.access.scrapes(login, secret)
	}
	return errStandsBy
}

// who is the principal of a login.
func (d *door) who(login string) (api.Principal, error) {
	if t := d.term.Load(); t != nil {
		return t.access.keyring.Who(login)
	}
	return api.Principal{}, errStandsBy
}

// prove is who for a login that has still to be proven. A server that lets everybody in proves nothing.
func (d *door) prove(login, secret, from string) (api.Principal, error) {
	t := d.term.Load()
	switch {
	case t == nil:
		return api.Principal{}, errStandsBy
	case t.access.open:
		return api.Principal{}, api.Errorf(api.KindDenied, "logins prove nothing here: `pacer web` begins a session")
	}
	by, err := t.access.keyring.Prove(login, secret)
	if err != nil {
		d.began(login, from, err)
	}
	return by, err
}

// began notes that a session has begun, or that somebody was not let in.
func (d *door) began(login, from string, err error) {
	if err != nil {
		d.audit.refused(bus.Refusal{Login: login, From: from, What: bus.RefusedConnect, Why: err})
		return
	}
	d.audit.line(auditLine{Who: login, From: from, Verb: "session", Result: result(nil)})
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
func (d *door) link(at *site, owners []Owner) string {
	t := d.term.Load()
	if t == nil || at == nil || len(owners) == 0 {
		return ""
	}
	by, err := t.access.keyring.Who(api.Principal{Kind: api.PrincipalUser, Name: owners[0].Name}.Login())
	if err != nil {
		return ""
	}
	return at.url() + "/#" + d.Sessions.Code(by)
}

// webCode lets somebody begin a session.
func (t *term) webCode(by api.Principal) (*api.WebCode, error) {
	p := t.planner
	if err := access.Verb(by, api.VerbWeb); err != nil {
		return nil, err
	}
	if p.site == nil {
		return nil, api.Errorf(api.KindConflict, "this planner shows no page: its planner.http is empty")
	}
	return &api.WebCode{Code: p.door.Sessions.Code(by), URL: p.site.url()}, nil
}

// Plan implements web.Planner.
func (t *term) Plan(by api.Principal, r api.PlanRequest, reply func(api.PlanReply)) {
	t.loop.Plan(by, r, reply)
}
