package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
)

// enrolment is how a node comes by its credential. Where the configuration names a file with a node's credential it is
// that. Else it is in the state directory. Where it is not there, or not taken any more, the node has the planner issue
// another one: by the join credential that the configuration names, or by an operator's credential of the user who runs
// the node. Beside a planner of the same user there is one.
type enrolment struct {
	cfg   NodeConfig
	dial  func(bus.Options) (*bus.Conn, error)
	known bool // No credential is needed.
	log   *slog.Logger
	// given reports whether the configuration names the node's own credential. One by which it joins is another thing, and
	// may be gone once it has joined. The answer is that of the first time: the file is read then alone.
	given func() bool

	denied atomic.Bool // The planner has not taken the credential that there is.
}

func newEnrolment(cfg NodeConfig, dial func(bus.Options) (*bus.Conn, error), known bool,
	log *slog.Logger) *enrolment {
	e := &enrolment{cfg: cfg, dial: dial, known: known, log: log}
	e.given = sync.OnceValue(e.names)
	return e
}

// enrolEvery is how often a node without a credential tries to come by one.
const enrolEvery = time.Second

func (e *enrolment) principal() api.Principal {
	return api.Principal{Kind: api.PrincipalNode, Name: e.cfg.Name}
}

func (e *enrolment) login() string { return e.principal().Login() }

// path is where the credential is.
func (e *enrolment) path() string {
	if e.given() {
		return e.cfg.Credentials
	}
	return e.own()
}

// own is where the node keeps the credential that the planner has issued to it.
func (e *enrolment) own() string { return filepath.Join(credentialDir(e.cfg.State), e.login()) }

// CredentialPath is where the node's own credential is, or will be.
func (c NodeConfig) CredentialPath() string { return newEnrolment(c, nil, true, nil).path() }

// names is what given says.
func (e *enrolment) names() bool {
	if e.cfg.Credentials == "" {
		return false
	}
	c, err := e.named()
	return err != nil && !e.joined(err) || err == nil && !c.Of(api.PrincipalJoin)
}

// joined reports whether the file that the configuration names is gone and the node has a credential of its own.
func (e *enrolment) joined(missing error) bool {
	_, err := os.Stat(e.own())
	return errors.Is(missing, fs.ErrNotExist) && err == nil
}

// named is the credential in the file that the configuration names.
func (e *enrolment) named() (bus.Credential, error) {
	return bus.LoadCredential(e.cfg.Credentials, api.PrincipalNode, api.PrincipalJoin)
}

// open checks the credential that there is; one that is still to come is no error.
func (e *enrolment) open() error {
	c, err := bus.LoadCredential(e.path(), api.PrincipalNode)
	switch {
	case e.known:
		return nil
	case errors.Is(err, fs.ErrNotExist) && !e.given():
		ctx, cancel := context.WithTimeout(context.Background(), enrolEvery)
		defer cancel()
		_ = e.enrol(ctx) // It is tried again.
		return nil
	case err != nil:
		return err
	case c.Login != e.login():
		return api.Errorf(api.KindDenied,
			"credentials %s: they are those of %s, this is node %s: `pacer auth issue --node %s` makes some", c.Path, c.Login,
			e.cfg.Name, e.cfg.Name)
	}
	return nil
}

// secret is what the node connects with now, "" before it has a credential.
func (e *enrolment) secret() string {
	c, err := bus.LoadCredential(e.path(), api.PrincipalNode)
	if err != nil {
		return ""
	}
	return c.Secret
}

// refused takes note of a fault of the connection, and reports whether it is worth telling:
// not, where the node can help itself.
func (e *enrolment) refused(err error) bool {
	if api.KindOf(err) != api.KindDenied {
		return true
	}
	e.denied.Store(true)
	return e.given() || len(e.issuers()) == 0
}

// issuers are the credentials by which the planner may be asked for the node's own: the join credential that the
// configuration names, or those for the planner that the user who runs the node has.
func (e *enrolment) issuers() (found []bus.Credential) {
	if c, err := e.named(); err == nil {
		return []bus.Credential{c}
	}
	for _, o := range e.cfg.Owners {
		if c, err := bus.LoadCredential(o.path(e.cfg.State, e.cfg.Planner), api.PrincipalUser); err == nil {
			found = append(found, c)
		}
	}
	return found
}

// run comes by a credential whenever there is none that is taken, until ctx ends.
func (e *enrolment) run(ctx context.Context, connected func() bool) error {
	said := ""
	for pause(ctx, enrolEvery) {
		if e.known || e.given() || connected() || e.secret() != "" && !e.denied.Load() {
			continue
		}
		if err := e.enrol(ctx); err != nil && err.Error() != said && ctx.Err() == nil {
			said = err.Error()
			level := slog.LevelDebug
			if kind := api.KindOf(err); kind == api.KindDenied || kind == api.KindInvalid {
				level = slog.LevelWarn // Trying again does not help.
			}
			e.log.Log(ctx, level, "no credential for this node yet", "error", err)
		}
	}
	return nil
}

// enrol has the planner issue the node's credential.
func (e *enrolment) enrol(ctx context.Context) error {
	err := errors.New("there is no join credential, and no operator's credential for this planner")
	for _, issuer := range e.issuers() {
		if err = e.issue(ctx, issuer); err == nil {
			e.denied.Store(false)
			e.log.Info("this node has got a credential", "planner", e.cfg.Planner, "file", e.path())
			return nil
		}
	}
	return err
}

func (e *enrolment) issue(ctx context.Context, issuer bus.Credential) error {
	conn, err := e.dial(bus.Options{Address: e.cfg.Planner, TLS: e.cfg.TLS, Plaintext: e.cfg.Plaintext,
		Credential: issuer, Name: "node " + e.cfg.Name + ", to enrol"})
	if err != nil {
		return err
	}
	defer conn.Close()
	c := bus.NewCredential(e.login())
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := conn.Control(ctx, api.VerbIssue, api.ControlRequest{Issue: &api.Issue{Principal: e.principal(),
		Key: c.Key(), Enrols: true}}); err != nil {
		return err
	}
	if err := bus.WriteSecret(e.path(), c.Encode()); err != nil {
		return fmt.Errorf("credentials of this node: %w", err)
	}
	return nil
}
