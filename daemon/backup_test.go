package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/bus"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/store"
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
		for _, p := range reply.Profiles {
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
	if err := backupStopped(t, p.State, stopped); err != nil {
		t.Fatal(err)
	}

	kept, err := daemon.Restore(p.State, running, time.Unix(0, 0))
	if err != nil || kept != filepath.Join(p.State, "planner.db.19700101T000000Z") || store.Verify(kept) != nil {
		t.Fatalf("kept %q, %v", kept, err)
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

// backupStopped is daemon.BackupStopped of a planner of this process that has been stopped. A
// process that another test forks has its lock, too, until it executes its program.
func backupStopped(t *testing.T, dir, path string) (err error) {
	t.Helper()
	await(t, "the lock of a stopped planner", func() bool {
		err = daemon.BackupStopped(dir, path)
		return api.KindOf(err) != api.KindConflict
	})
	return err
}
