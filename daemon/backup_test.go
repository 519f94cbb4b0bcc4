package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/store"
)

// A backup is taken of a planner that runs and of one that does not, and put back: what came
// later is gone then, and kept beside it.
func TestABackupIsTakenAndPutBack(t *testing.T) {
	p := plannerConfig(t)
	ctx := t.Context()
	start := func() (*bus.Conn, func() error) {
		line, stop := launch(t, func(ctx context.Context, ready func(string)) error {
			c := p
			c.Ready = ready
			return daemon.Planner(ctx, c)
		})
		address := line[strings.LastIndex(line, " ")+1:]
		conn, err := bus.Dial(bus.Options{Address: address, Credential: own(t, p, address)})
		if err != nil {
			t.Fatal(err)
		}
		return conn, func() error { conn.Close(); return stop() }
	}
	put := func(conn *bus.Conn, name string) {
		body := api.Profile{Schema: api.ProfileSchema, Name: name, Cores: 2, Stages: []api.ProfileStage{{Name: strings.Repeat("x", 900), Signature: "x", Tasks: 4, Duration: 2,
			Records: 100, CoreSeconds: 4, NominalRate: 25}}}
		if _, err := conn.Control(ctx, api.VerbProfilePut, api.ControlRequest{Profile: name, Body: &body}); err != nil {
			t.Fatal(err)
		}
	}
	profiles := func(conn *bus.Conn) (names []string) {
		reply, err := conn.Control(ctx, api.VerbProfiles, api.ControlRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range reply.Listed {
			names = append(names, p.Name)
		}
		return names
	}
	dir := t.TempDir()
	running, stopped := filepath.Join(dir, "running"), filepath.Join(dir, "stopped")

	conn, stop := start()
	put(conn, "one")
	if err := daemon.Backup(ctx, conn, running); err != nil {
		t.Fatal(err)
	}
	if err := daemon.Backup(ctx, conn, running); !errors.Is(err, os.ErrExist) {
		t.Errorf("over a file that is there: %v", err)
	}
	if info, err := os.Stat(running); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup's mode is %v, %v", info.Mode(), err)
	}
	put(conn, "two")
	if err := daemon.BackupStopped(p.State, stopped); api.KindOf(err) != api.KindConflict {
		t.Errorf("from the files of a planner that runs: %v", err)
	}
	if _, err := daemon.Restore(p.State, running, time.Now()); api.KindOf(err) != api.KindConflict || !strings.Contains(err.Error(), "in use by another Pacer daemon") {
		t.Errorf("restored over a planner that runs: %v", err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if err := daemon.BackupStopped(p.State, stopped); err != nil {
		t.Fatal(err)
	}

	found, err := daemon.Restore(p.State, running, time.Unix(0, 0))
	if kept := found.Kept; err != nil || kept != filepath.Join(p.State, "planner.db.19700101T000000Z") || store.Verify(kept) != nil {
		t.Fatalf("found %+v, %v", found, err)
	}
	conn, stop = start()
	if got := fmt.Sprint(profiles(conn)); got != "[one]" {
		t.Errorf("restored from the running planner: %s", got)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := daemon.Restore(p.State, stopped, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	conn, stop = start()
	if got := fmt.Sprint(profiles(conn)); got != "[one two]" {
		t.Errorf("restored from the stopped one: %s", got)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}

	whole, err := os.ReadFile(stopped)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{"half": whole[:len(whole)/2], "text": []byte("no backup"), "flipped": bytes.Replace(whole, []byte("profile/one"), []byte("profile/onE"), 1)} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := daemon.Restore(p.State, path, time.Unix(2, 0)); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	left, err := os.ReadDir(p.State)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if strings.Contains(e.Name(), "restored") || strings.HasPrefix(e.Name(), "backup-") {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// A backup is enough for a planner on a new disk, on another machine: those whom the old one knew
// connect with the credentials and the authority that they have.
func TestABackupIsEnoughForANewDisk(t *testing.T) {
	issued := func(c daemon.PlannerConfig, host string) bus.TLS {
		authority, err := bus.OpenAuthority(c.Authority())
		if errors.Is(err, os.ErrNotExist) {
			authority, err = bus.NewAuthority(c.Authority(), time.Now())
		}
		files := bus.ServerFiles(c.Authority())
		if err == nil {
			_, err = authority.Issue(files, []string{host}, time.Now())
		}
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	run := func(c daemon.PlannerConfig) (address string, stop func() error) {
		line, stop := launch(t, func(ctx context.Context, ready func(string)) error {
			c.Ready = ready
			return daemon.Planner(ctx, c)
		})
		return strings.TrimPrefix(line, "planner ready on "), stop
	}
	first := plannerConfig(t)
	first.TLS = issued(first, "127.0.0.1")
	copied := filepath.Join(t.TempDir(), "ca.pem") // As nodes and users have it.
	ca, err := os.ReadFile(filepath.Join(first.Authority(), bus.AuthorityFile))
	if err == nil {
		err = os.WriteFile(copied, ca, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	trust := bus.TLS{CA: copied}
	address, stop := run(first)
	owner, err := bus.Dial(bus.Options{Address: address, Credential: own(t, first, address), TLS: trust})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(owner.Close)
	d := &desk{T: t, owner: owner}
	known := []bus.Credential{d.issue(api.Principal{Kind: api.PrincipalNode, Name: "n1"}), d.issue(api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: api.RoleSubmit})}
	gone := d.issue(api.Principal{Kind: api.PrincipalUser, Name: "bob", Role: api.RoleSubmit})
	if _, err := d.owner.Control(t.Context(), api.VerbRevoke, api.ControlRequest{Login: gone.Login}); err != nil {
		t.Fatal(err)
	}
	backups := []string{filepath.Join(t.TempDir(), "running"), filepath.Join(t.TempDir(), "stopped")}
	if err := daemon.Backup(t.Context(), d.owner, backups[0]); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if err := daemon.BackupStopped(first.State, backups[1]); err != nil {
		t.Fatal(err)
	}
	for _, backup := range backups {
		if info, err := os.Stat(backup); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v, %v", backup, info.Mode(), err)
		}
		next := plannerConfig(t)
		next.State, next.Listen = filepath.Join(t.TempDir(), "empty"), "localhost:0"
		if found, err := daemon.Restore(next.State, backup, time.Now()); err != nil || found.Kept != "" || len(found.Left) > 0 {
			t.Fatalf("found %+v, %v", found, err)
		}
		next.TLS = issued(next, "localhost")
		address, stop := run(next)
		_, port, _ := strings.Cut(address, ":")
		for _, c := range known {
			conn, err := bus.Dial(bus.Options{Address: "localhost:" + port, Credential: c, TLS: trust})
			if err != nil {
				t.Errorf("%s: %v", c.Login, err)
				continue
			}
			conn.Close()
		}
		if _, err := bus.Dial(bus.Options{Address: "localhost:" + port, Credential: gone, TLS: trust}); api.KindOf(err) != api.KindDenied {
			t.Errorf("who was revoked: %v", err)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if found, err := daemon.Restore(next.State, backup, time.Now()); err != nil || len(found.Left) == 0 {
			t.Errorf("what is there stays, and is told: %+v, %v", found, err)
		}
	}
}

// A file that root puts back belongs to the planner's user; one with another name elsewhere stays as it is.
func TestWhatRootPutsBackIsThePlannersUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to give files away")
	}
	const uid, gid = 65534, 65533
	d := &desk{T: t, cfg: plannerConfig(t)}
	stop := d.start()
	file := filepath.Join(t.TempDir(), "backup")
	if err := errors.Join(daemon.Backup(t.Context(), d.owner, file), stop()); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(d.cfg.State, "linked")
	if err := errors.Join(os.Link(file, linked), os.Chown(d.cfg.State, uid, gid)); err != nil {
		t.Fatal(err)
	}
	if _, err := daemon.Restore(d.cfg.State, file, time.Now()); err != nil {
		t.Fatal(err)
	}
	err := filepath.Walk(d.cfg.State, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if is := info.Sys().(*syscall.Stat_t); (is.Uid != uid || is.Gid != gid) != (path == linked) {
			t.Errorf("%s is of %d:%d", path, is.Uid, is.Gid)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
