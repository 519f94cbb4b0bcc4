package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/async"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/planner/access"
)

// plannerAccess is who may ask a planner, and what they have asked for.
type plannerAccess struct {
	*principals
	audit *audit
	// own is the planner's credential on a server that is not embedded.
	own bus.Credential
	// open says that such a server lets everybody in.
	open bool
	// clerk writes the tickets that users ask for, by login.
	clerk async.Lane[string]
}

// openAccess reads from a shelf who may connect; keys are those of the applications that run, with
// whose these are.
func (p *PlannerDaemon) openAccess(from shelf, keys map[api.AppID]ledger.Owner) (*plannerAccess, error) {
	a := &plannerAccess{audit: p.audit, own: p.own, clerk: newClerk()}
	keyring := bus.NewKeyring()
	if a.open = p.cfg.NatsURL != "" && a.own.Login == ""; a.open {
		keyring = bus.NewOpenKeyring()
		p.log.Warn(
			"the planner has no credential for the NATS server: everybody who reaches that may do everything; `pacer auth " +
				"nats` makes one")
	}
	var err error
	if a.principals, err = openPrincipals(from, keyring); err != nil {
		return nil, err
	}
	keyring.OnRefused = a.audit.refused
	if a.own.Login != "" {
		keyring.Put(api.Principal{Kind: api.PrincipalPlanner}, a.own.Key()) // A planner that stands by asks, too.
	}
	for app, of := range keys {
		keyring.PutOf(userLogin(of.User), application(app), of.Key)
	}
	return a, nil
}

func auditFailed(log *slog.Logger) func(error) {
	return func(err error) {
		log.Error(
			"the audit log cannot be written: what is changed and refused is noted once it can, the first megabyte of it",
			"error", err)
	}
}

// PlannerPath is where a state directory has the planner's own credential.
func PlannerPath(state string) string {
	return filepath.Join(credentialDir(state), string(api.PrincipalPlanner))
}

// plannerCredential is the one in path or, with "", in the state directory if there is one.
func plannerCredential(path, state string) (bus.Credential, error) {
	if path != "" {
		return bus.LoadCredential(path, api.PrincipalPlanner)
	}
	c, err := bus.LoadCredential(PlannerPath(state), api.PrincipalPlanner)
	if errors.Is(err, fs.ErrNotExist) {
		return bus.Credential{}, nil
	}
	return c, err
}

func application(id api.AppID) api.Principal {
	return api.Principal{Kind: api.PrincipalApplication, Name: string(id)}
}

// userLogin is the login of a user, "" for nobody.
func userLogin(name string) string {
	if name == "" {
		return ""
	}
	return api.Principal{Kind: api.PrincipalUser, Name: name}.Login()
}

// lingers is how long an application's driver may go on to speak after its end: it repeats
// its last word until that is acknowledged.
const lingers = 10 * time.Second

// observe has the credential of an application end with it, notes who has named another's executor, and passes on to
// inner.
func (a *plannerAccess) observe(inner func(ledger.Change)) func(ledger.Change) {
	return func(c ledger.Change) {
		switch f := c.Fact.(type) {
		case ledger.Archived:
			login := application(f.App).Login()
			a.keyring.Remove(login)
			time.AfterFunc(lingers, func() { a.disconnect(login) })
			go func() { a.ended(a.archived(f)) }() // It is written to the disk.
		case ledger.ExecutorRefused:
			a.audit.refused(bus.Refusal{Login: userLogin(f.User), What: "executor",
				Why: errors.New(c.Line().Text)})
		}
		inner(c)
	}
}

// ended has it known when a ticket that has ended cannot be taken away on the disk: its time ends it.
func (a *plannerAccess) ended(err error) {
	if err != nil {
		a.audit.line(auditLine{Who: string(api.PrincipalPlanner), Verb: string(api.VerbTicket), Result: err.Error()})
	}
}

// register hands a registration over. Before the driver hears that it is taken, it may
// connect as its application.
func (t *term) register(by api.Principal, r api.RegisterRequest, reply func(api.RegisterReply)) {
	who, asks := by.Login(), by
	by, err := t.access.registrant(by, &r)
	if err != nil {
		t.access.audit.asked(asks, auditLine{Who: who, Verb: "register", What: r.Name}, api.ToWire(err))
		reply(api.RegisterReply{V: api.Version, Error: api.ToWire(err)})
		return
	}
	t.loop.Register(by, r, func(answer api.RegisterReply) {
		changes := true
		if answer.AppID != "" && r.Key != "" && !t.access.open {
			owner := "" // An application that registers again stays whose it is.
			if by.Kind == api.PrincipalUser {
				owner = by.Login()
			}
			changes = t.access.keyring.PutOf(owner, application(answer.AppID), r.Key)
			answer.Own = true
		}
		if changes && by.Kind != api.PrincipalApplication || answer.Error != nil {
			t.access.audit.asked(by,
				auditLine{Who: who, Verb: "register", What: r.Name + " " + string(answer.AppID)}, answer.Error)
		}
		if !by.Ticket || answer.Error != nil {
			reply(answer)
			return
		}
		go func() { // It is written to the disk before the driver hears.
			if err := t.access.used(who, answer.AppID, r.Key); err != nil {
				answer = api.RegisterReply{V: api.Version, Error: api.Errorf(api.KindTransient, "%v", err)}
			}
			reply(answer)
		}()
	})
}

// Control answers what is about credentials and logs, and hands over all else.
func (t *term) Control(by api.Principal, verb api.Verb, r api.ControlRequest, reply func(api.ControlReply)) {
	answer := func(a api.ControlReply) {
		if a.V = api.Version; a.Error != nil || access.Changes(verb) && r.Backup == nil && verb != api.VerbUpload {
			t.access.audit.asked(by, auditLine{Verb: string(verb), What: about(r)}, a.Error)
		}
		reply(a)
	}
	switch verb {
	case api.VerbIssue, api.VerbPrincipals, api.VerbRevoke:
		a, err := t.access.answer(by, verb, r)
		if err != nil {
			a = api.ControlReply{Error: api.ToWire(err)}
		}
		answer(a)
	case api.VerbTicket:
		t.access.askTicket(by, r.Issue, func(err error) { answer(api.ControlReply{Error: api.ToWire(err)}) })
	case api.VerbUpload:
		go func() { answer(t.upload(by, r)) }()
	case api.VerbSubmit:
		if err := t.lacks(by, r); err != nil {
			answer(api.ControlReply{Error: api.ToWire(err)})
			return
		}
		t.loop.Control(by, verb, r, answer)
	case api.VerbExit:
		t.loop.Control(by, verb, r, func(a api.ControlReply) {
			go func() { t.access.ended(t.access.exited(by, r.Submission)) }()
			answer(a)
		})
	case api.VerbWeb:
		code, err := t.webCode(by)
		answer(api.ControlReply{Error: api.ToWire(err), Web: code})
	case api.VerbToken:
		token, err := t.token(by, r)
		answer(api.ControlReply{Error: api.ToWire(err), Token: token})
	case api.VerbProve:
		token, err := t.proven(by, r)
		answer(api.ControlReply{Error: api.ToWire(err), Token: token})
	case api.VerbBackup:
		if err := access.Verb(by, verb); err != nil {
			answer(api.ControlReply{Error: api.ToWire(err)})
			return
		}
		go func() { answer(t.backups.serve(r)) }() // It takes longer than an event may wait.
	case api.VerbLogs:
		t.loop.Control(by, verb, r, func(a api.ControlReply) {
			if a.Error != nil {
				answer(a)
				return
			}
			go func() { answer(t.logs(r)) }()
		})
	default:
		t.loop.Control(by, verb, r, func(a api.ControlReply) {
			if t.cores.ofNodes(a.Nodes); a.Cores != nil {
				a.Cores = t.cores.with(a.Cores.Promised, r.Query)
			}
			answer(a)
		})
	}
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
	return &api.WebCode{Code: p.web.Sessions.Code(by), URL: p.site.url()}, nil
}

// token lets somebody ask by HTTP as who they are, or look only.
func (t *term) token(by api.Principal, r api.ControlRequest) (*api.HTTPToken, error) {
	p := t.planner
	if err := errors.Join(r.Validate(), access.Verb(by, api.VerbToken)); err != nil {
		return nil, err
	}
	if p.site == nil {
		return nil, api.Errorf(api.KindConflict, "this planner answers no HTTP: its planner.http is empty")
	}
	var wanted api.TokenRequest
	if r.Query != nil {
		wanted = r.Query.Token
	}
	token, until := p.web.Sessions.Token(by, wanted)
	return &api.HTTPToken{Token: token, Until: until, URL: p.site.url()}, nil
}

// proven says to a node, or to a planner that stands by, until when a token is good that may look.
func (t *term) proven(by api.Principal, r api.ControlRequest) (*api.HTTPToken, error) {
	if by.Kind != api.PrincipalNode && !by.Operates() {
		return nil, api.Errorf(api.KindDenied, "tokens are proven to nodes and planners, you are %s", by)
	}
	if err := r.Validate(); err != nil || r.Query == nil {
		return nil, errors.Join(err, api.Errorf(api.KindInvalid, "no token is named that is to be proven"))
	}
	until, err := t.planner.web.looks(r.Query.Token.Hash)
	switch {
	case api.KindOf(err) == api.KindTransient:
		return nil, err
	case err != nil:
		return nil, api.Errorf(api.KindDenied, "%v", err)
	}
	return &api.HTTPToken{Until: until}, nil
}

// Plan implements web.Planner.
func (t *term) Plan(by api.Principal, r api.PlanRequest, reply func(api.PlanReply)) {
	t.loop.Plan(by, r, reply)
}

// logsTimeout bounds how long a node may take for a piece of a log.
const logsTimeout = 10 * time.Second

// logs fetches a piece of a log from the node that has it.
func (t *term) logs(r api.ControlRequest) api.ControlReply {
	if r.Log == nil || r.Log.App != r.App {
		return api.ControlReply{Error: api.Errorf(api.KindInvalid, "no piece of a log of application %q is asked for", r.App)}
	}
	ctx, cancel := context.WithTimeout(context.Background(), logsTimeout)
	defer cancel()
	piece, err := t.planner.conn.Logs(ctx, r.Node, *r.Log)
	if err != nil {
		return api.ControlReply{Error: api.ToWire(err)}
	}
	return api.ControlReply{Log: &piece}
}

// answer is a request about credentials.
func (a *plannerAccess) answer(by api.Principal, verb api.Verb, r api.ControlRequest) (api.ControlReply, error) {
	err := r.Validate()
	if by.Kind != api.PrincipalJoin || verb != api.VerbIssue { // principals.joins says what else one may not.
		err = errors.Join(err, access.Verb(by, verb))
	}
	if err != nil {
		return api.ControlReply{}, err
	}
	switch verb {
	case api.VerbIssue:
		if r.Issue == nil {
			return api.ControlReply{}, api.Errorf(api.KindInvalid, "nobody is named to whom a credential is to be issued")
		}
		if err := a.issue(by, *r.Issue, time.Now()); err != nil {
			return api.ControlReply{}, err
		}
		return api.ControlReply{Message: fmt.Sprintf("%s has a new credential", r.Issue.Principal)}, nil
	case api.VerbRevoke:
		if err := a.revoke(r.Login); err != nil {
			return api.ControlReply{}, err
		}
		return api.ControlReply{Message: fmt.Sprintf("the credentials of %s are taken no more", r.Login)}, nil
	}
	return api.ControlReply{Principals: a.list()}, nil
}

func about(r api.ControlRequest) string {
	switch {
	case r.Issue != nil:
		return r.Issue.Principal.Login()
	case r.App != "":
		return string(r.App)
	case r.Shared && r.Body != nil && r.Body.Taught:
		return r.Profile + " (shared, taught by all)"
	case r.Shared:
		return r.Profile + " (shared)"
	case r.Profile != "":
		return r.Profile
	case r.Node != "":
		return r.Node
	case r.Policy != nil:
		return r.Policy.Rule
	case r.Login != "":
		return r.Login
	}
	return r.Submission
}

func result(err *api.Error) string {
	if err == nil {
		return "ok"
	}
	return err.Message
}
