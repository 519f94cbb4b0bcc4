package daemon_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/units"
)

// desk is a planner, what its owner may ask, and who else there is.
type desk struct {
	*testing.T
	cfg     daemon.PlannerConfig
	address string
	owner   *bus.Conn
}

func (d *desk) dial(c bus.Credential) *bus.Conn {
	d.Helper()
	conn, err := bus.Dial(bus.Options{Address: d.address, Credential: c})
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(conn.Close)
	return conn
}

func (d *desk) issue(p api.Principal) bus.Credential {
	d.Helper()
	c := bus.NewCredential(p.Login())
	if _, err := d.owner.Control(d.Context(), api.VerbIssue, api.ControlRequest{Issue: &api.Issue{Principal: p, Key: c.Key()}}); err != nil {
		d.Fatal(err)
	}
	return c
}

// start runs the planner, with the state of the one before.
func (d *desk) start() (stop func() error) {
	d.Helper()
	line, stop := launch(d.T, func(ctx context.Context, ready func(string)) error {
		cfg := d.cfg
		cfg.Ready = ready
		return daemon.Planner(ctx, cfg)
	})
	d.address = strings.TrimPrefix(line, "planner ready on ")
	d.cfg.Listen = d.address // Where it is looked for again.
	d.owner = d.dial(own(d.T, d.cfg, d.address))
	return stop
}

func application(submission, key string) api.RegisterRequest {
	return api.RegisterRequest{V: api.Version, Submission: submission, Name: "wc", User: "root", Key: key,
		Launch: api.Launch{DriverURL: "spark://x", Heap: units.GiB, SparkVersion: "4.2.0"}}
}

// Each principal asks for everything: for its own application, for another's, and for what is
// everybody's. What it may not is refused as that, and noted.
func TestWhoMayAskForWhat(t *testing.T) {
	d := &desk{T: t, cfg: plannerConfig(t)}
	stop := d.start()
	w := newWorld(t)
	n := w.node(t)
	n.Planner, n.Owners = d.address, d.cfg.Owners
	_, stopNode := launch(t, func(ctx context.Context, ready func(string)) error {
		n.Ready = ready
		return daemon.Node(ctx, n)
	})
	user := func(name string, role api.Role) api.Principal {
		return api.Principal{Kind: api.PrincipalUser, Name: name, Role: role}
	}
	ann, bob, viv := d.issue(user("ann", api.RoleSubmit)), d.issue(user("bob", api.RoleSubmit)), d.issue(user("viv", api.RoleView))
	conns := map[string]*bus.Conn{"owner": d.owner, "ann": d.dial(ann), "bob": d.dial(bob), "viv": d.dial(viv)}

	secret := bus.NewCredential("")
	reply, err := conns["ann"].Register(t.Context(), application("s-ann", secret.Key()))
	if err != nil || !reply.Own {
		t.Fatalf("%+v, %v", reply, err)
	}
	if h := soon(t, "an executor", w.started); h.App != reply.AppID {
		t.Errorf("executor %+v", h)
	}
	secret.Login = string(reply.AppID)
	driver := d.dial(secret)
	if _, err := driver.SendEvents(t.Context(), api.Events{V: api.Version, AppID: reply.AppID, Submission: "s-ann"}); err != nil {
		t.Errorf("the application's driver: %v", err)
	}
	cases := 0
	check := func(what string, allowed bool, err error) {
		t.Helper()
		cases++
		if denied := api.KindOf(err) == api.KindDenied; denied == allowed {
			t.Errorf("%s: %v, want allowed %v", what, err, allowed)
		}
	}
	// The submission alone makes nobody the application's user, nor its driver.
	for name, allowed := range map[string]bool{"bob": false, "viv": false, "ann": true} {
		_, err := conns[name].Register(t.Context(), application("s-ann", secret.Key()))
		check(name+" registers ann's application again", allowed, err)
	}
	if _, err := conns["ann"].Register(t.Context(), application("s-ann", bus.NewCredential("").Key())); api.KindOf(err) != api.KindConflict || err == nil {
		t.Errorf("another driver of the same submission: %v", err)
	}
	for verb, q := range map[api.Verb]api.ControlRequest{
		api.VerbLogs: {App: reply.AppID, Node: "n1", Log: &api.LogRequest{V: api.Version, App: reply.AppID, Executor: "1", Stream: "stderr"}},
		api.VerbApp:  {App: reply.AppID}, api.VerbApps: {}, api.VerbNodes: {}, api.VerbPolicy: {}, api.VerbReport: {}, api.VerbCores: {}, api.VerbProfiles: {}, api.VerbPing: {}, api.VerbProfile: {Profile: "p"},
		api.VerbDeadline: {App: reply.AppID, Deadline: 3600}, api.VerbRelease: {App: reply.AppID}, api.VerbCap: {App: reply.AppID, Cap: 1},
		api.VerbStep: {App: reply.AppID, Step: &api.Step{Stage: -1, Low: 0.5, High: 1, Each: 5}}, api.VerbExit: {App: reply.AppID, Submission: "s-ann-2"},
		api.VerbProfilePut: {}, api.VerbProfileRm: {Profile: "p"}, api.VerbVersions: {Profile: "p"}, api.VerbPin: {Profile: "p"}, api.VerbUnpin: {Profile: "p"}, api.VerbDrain: {Node: "nobody"}, api.VerbUndrain: {Node: "nobody"}, api.VerbDivide: {Node: "nobody"}, api.VerbEmpty: {}, api.VerbSpare: {}, api.VerbPolicySet: {Policy: &api.QueuePolicy{Rule: "none"}},
		api.VerbIssue: {}, api.VerbPrincipals: {}, api.VerbRevoke: {Login: "user-nobody"}, api.VerbBackup: {Backup: &api.BackupPiece{ID: "none"}},
	} {
		view := map[api.Verb]bool{api.VerbApp: true, api.VerbApps: true, api.VerbNodes: true, api.VerbSpare: true, api.VerbPolicy: true, api.VerbReport: true, api.VerbCores: true, api.VerbProfiles: true, api.VerbProfile: true, api.VerbVersions: true, api.VerbPing: true}[verb]
		mine := map[api.Verb]bool{api.VerbLogs: true, api.VerbDeadline: true, api.VerbRelease: true}[verb]
		// Of a submission that nobody has, and their own profiles.
		free := map[api.Verb]bool{api.VerbExit: true, api.VerbProfilePut: true, api.VerbProfileRm: true, api.VerbPin: true, api.VerbUnpin: true}[verb]
		for name, allowed := range map[string]bool{"owner": true, "ann": view || mine || free, "bob": view || free, "viv": view} {
			_, err := conns[name].Control(t.Context(), verb, q)
			check(name+" asks for "+string(verb), allowed, err)
		}
	}
	for name, hers := range map[string]bool{"viv": false, "bob": false, "ann": true, "owner": true} {
		all, err1 := conns[name].Control(t.Context(), api.VerbApps, api.ControlRequest{})
		one, err2 := conns[name].Control(t.Context(), api.VerbApp, api.ControlRequest{App: reply.AppID})
		if err := errors.Join(err1, err2); err != nil || len(all.Apps) != 1 || (all.Apps[0].Submission != "") != hers || (one.App.Submission != "") != hers {
			t.Errorf("%s sees %+v, %v", name, all.Apps, err)
		}
	}
	for name, allowed := range map[string]bool{"viv": false, "bob": false, "ann": true} {
		_, err := conns[name].Control(t.Context(), api.VerbExit, api.ControlRequest{App: "app-own", Submission: "s-ann", ExitCode: 300})
		check(name+" reports the exit of ann's", allowed, err)
		_, err = conns[name].Control(t.Context(), api.VerbKill, api.ControlRequest{App: reply.AppID, User: "root"})
		check(name+" kills ann's", allowed, err)
	}
	detail, err := d.owner.Control(t.Context(), api.VerbApp, api.ControlRequest{App: reply.AppID})
	if err != nil || detail.App.User != "ann" {
		t.Errorf("it belongs to %q: %v", detail.App.User, err)
	}
	again, err := d.owner.Control(t.Context(), api.VerbKill, api.ControlRequest{App: reply.AppID})
	if err != nil || !strings.Contains(again.Message, "killed by ann") {
		t.Errorf("it was killed by ann, whatever she calls herself: %q, %v", again.Message, err)
	}
	t.Logf("auth.cases %d", cases)
	if cases < 80 {
		t.Errorf("%d cases", cases)
	}

	// A planner that starts again knows users, nodes and the applications that run.
	bound := user("kim", api.RoleSubmit)
	bound.Bounds = api.Bounds{Classes: []api.Class{api.ClassBatch}, Cores: 1}
	kim := d.issue(bound)
	other := bus.NewCredential("")
	batch := application("s-kim", other.Key())
	if _, err := d.dial(kim).Register(t.Context(), batch); api.KindOf(err) != api.KindDenied || err == nil || !strings.Contains(err.Error(), "the bound classes of user kim") {
		t.Errorf("a class that is not kim's: %v", err)
	}
	batch.Class = api.ClassBatch
	second, err := d.dial(kim).Register(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	other.Login = string(second.AppID)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	stop = d.start()
	if c := d.dial(other); !c.Connected() {
		t.Error("kim's application may not connect to the planner that started again")
	}
	if detail, err := d.dial(kim).Control(t.Context(), api.VerbApp, api.ControlRequest{App: second.AppID}); err != nil || detail.App.Cap != 1 || detail.App.User != "kim" {
		t.Errorf("%+v, %v", detail.App, err)
	}
	if _, err := d.owner.Control(t.Context(), api.VerbRevoke, api.ControlRequest{Login: bob.Login}); err != nil {
		t.Error(err)
	}
	if _, err := bus.Dial(bus.Options{Address: d.address, Credential: bob}); api.KindOf(err) != api.KindDenied {
		t.Errorf("bob was revoked: %v", err)
	}
	if err := errors.Join(stopNode(), stop()); err != nil {
		t.Error(err)
	}
	d.secretsStayInside([]bus.Credential{ann, bob, viv, kim, secret, other}, n.State)
	d.audited()
}

// Whatever a driver says that its application is called: nobody's key is replaced by its own, and
// nothing of others is reached with it.
func TestADriverSpeaksForNobodyElse(t *testing.T) {
	d := &desk{T: t, cfg: plannerConfig(t)}
	d.start()
	intruder := d.dial(d.issue(api.Principal{Kind: api.PrincipalUser, Name: "intruder", Role: api.RoleSubmit}))
	victim := api.Principal{Kind: api.PrincipalUser, Name: "victim", Role: api.RoleSubmit}
	theirs, node := d.issue(victim), d.issue(api.Principal{Kind: api.PrincipalNode, Name: "n1"})
	for i, login := range []string{"*", ">", theirs.Login, node.Login, "planner", "a/marks"} {
		secret := bus.NewCredential(login)
		r := application(fmt.Sprint("s", i), secret.Key())
		r.AppID = api.AppID(login)
		if reply, err := intruder.Register(t.Context(), r); api.KindOf(err) != api.KindInvalid {
			t.Errorf("registered as %s: %+v, %v", login, reply, err)
		}
		if conn, err := bus.Dial(bus.Options{Address: d.address, Credential: secret}); err == nil {
			conn.Close()
			t.Errorf("connected as %s", login)
		}
	}
	for _, c := range []bus.Credential{theirs, node} {
		d.dial(c)
	}
}

// secretsStayInside looks for secrets in all that the daemons have left on the disk.
func (d *desk) secretsStayInside(secrets []bus.Credential, node string) {
	d.Helper()
	for _, dir := range []string{d.cfg.State, node} {
		err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
			if err != nil || !info.Mode().IsRegular() {
				return err
			}
			if info.Mode().Perm()&0o077 != 0 && strings.Contains(path, "credentials") {
				d.Errorf("%s has the mode %v", path, info.Mode())
			}
			body, err := os.ReadFile(path)
			for _, s := range secrets {
				if bytes.Contains(body, []byte(s.Secret)) {
					d.Errorf("%s has the secret of %s", path, s.Login)
				}
			}
			return err
		})
		if err != nil {
			d.Error(err)
		}
	}
}

// audited wants lines of what was changed and of what was refused.
func (d *desk) audited() {
	d.Helper()
	path := filepath.Join(d.cfg.State, "audit.log")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		d.Fatalf("audit log: %v, %v", info, err)
	}
	body, err := os.ReadFile(path)
	if err != nil {
		d.Fatal(err)
	}
	found := map[string]bool{}
	for line := range strings.Lines(string(body)) {
		var l struct {
			At                      time.Time
			Who, Verb, What, Result string
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.At.IsZero() || l.Verb == "" || l.Result == "" {
			d.Errorf("line %q: %v", line, err)
		}
		kind := "ok"
		if l.Result != "ok" {
			kind = "refused"
		}
		found[l.Who+" "+l.Verb+" "+kind] = true
	}
	for _, want := range []string{"user-tester auth-issue ok", "user-ann register ok", "user-bob register refused", "user-bob kill refused", "user-ann kill ok",
		"user-viv node-drain refused", "user-viv node-consolidate refused", "user-tester node-consolidate ok", "user-kim register refused", "user-tester auth-revoke ok", "user-bob connect refused"} {
		if !found[want] {
			d.Errorf("no line says %q", want)
		}
	}
	for what := range found {
		if strings.HasSuffix(what, " ping ok") || strings.HasSuffix(what, " apps ok") || strings.HasSuffix(what, " node-spare ok") {
			d.Errorf("%q changes nothing", what)
		}
	}
}

// A planner gives its owner a credential that stays while it is taken, and another when not;
// nothing of it is for others to read.
func TestOwnersAreGivenACredential(t *testing.T) {
	d := &desk{T: t, cfg: plannerConfig(t)}
	stop := d.start()
	path := bus.CredentialPath(d.cfg.Owners[0].Dir, d.address)
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(filepath.Join(d.cfg.State, "credentials")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	stop = d.start()
	if again, _ := os.ReadFile(path); !bytes.Equal(again, first) {
		t.Error("a credential that was taken was replaced")
	}
	if err := errors.Join(stop(), os.RemoveAll(d.cfg.State)); err != nil {
		t.Fatal(err)
	}
	stop = d.start() // It asks by the new one.
	if again, _ := os.ReadFile(path); bytes.Equal(again, first) {
		t.Error("a planner without its state takes the credential of another")
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// What is written for another user is written with that user's rights alone.
func TestAnotherUsersDirectoriesAreNotTrusted(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to act for another user")
	}
	const uid = 65534
	d := &desk{T: t, cfg: plannerConfig(t)}
	home := t.TempDir()
	dir := filepath.Join(home, "nobody")
	for p := home; len(p) > len(os.TempDir()); p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chown(dir, uid, uid)); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(home, "roots")
	if err := errors.Join(os.Mkdir(target, 0o755), os.Symlink(target, filepath.Join(dir, "trap"))); err != nil {
		t.Fatal(err)
	}
	d.cfg.Owners = append(d.cfg.Owners, daemon.Owner{Name: "nobody", UID: uid, GID: uid, Dir: filepath.Join(dir, "own")},
		daemon.Owner{Name: "mallory", UID: uid, GID: uid, Dir: filepath.Join(dir, "trap")})
	stop := d.start()
	path := bus.CredentialPath(filepath.Join(dir, "own"), d.address)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	d.dial(own(t, daemon.PlannerConfig{Owners: []daemon.Owner{{Dir: filepath.Join(dir, "own")}}}, d.address))
	if entries, err := os.ReadDir(target); err != nil || len(entries) > 0 {
		t.Errorf("root wrote %v into a directory of its own for another user: %v", entries, err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
