package daemon_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/store"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

// appSecret is what drivers and executors of a test show each other.
const appSecret = "correct-horse-battery-staple"

const secretVariable = "_SPARK_AUTH_SECRET"

func secretEnv() map[string]string { return map[string]string{secretVariable: appSecret} }

// withSecret has a fake executor started with its secret, if that is there.
func withSecret(_ node.Key, launch api.Launch, _ executor.Paths) (executor.CommandLine, error) {
	return executor.CommandLine{Args: []string{executor.FakeRuns}, Env: []string{launch.Env[secretVariable]}}, nil
}

func wantSecret(t *testing.T, s executor.Spec) {
	if !slices.Contains(s.Env, appSecret) {
		t.Errorf("executor %s of %s is started without its secret", s.ID, s.App)
	}
}

// wantNoSecret looks into the raw files below dir.
func wantNoSecret(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		body, err := os.ReadFile(path)
		if bytes.Contains(body, []byte(appSecret)) {
			t.Errorf("%s has the secret", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// wantBackup takes a backup, the values of which are those of the planner's store, and wants the
// application in it, without its secret.
func (s *shared) wantBackup() {
	t := s.t
	t.Helper()
	path := filepath.Join(t.TempDir(), "backup")
	if err := daemon.Backup(t.Context(), s.cli, path); err != nil {
		t.Fatal(err)
	}
	file, err := store.Open(path, store.Options{Sync: store.SyncNever})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	pairs, err := file.Load("app/")
	if err != nil {
		t.Fatal(err)
	}
	kept := false
	for _, p := range pairs {
		kept = kept || bytes.Contains(p.Value, []byte(secretVariable))
		if bytes.Contains(p.Value, []byte(appSecret)) {
			t.Errorf("%s has the secret", p.Key)
		}
	}
	if !kept {
		t.Errorf("nothing of the launch in %d records", len(pairs))
	}
}

// The bucket that planners share has no application's secret, nor has a backup. The planner that goes
// on from it has the secret of the driver, and starts an executor with it in place of a lost one.
func TestNoBucketOfPlannersHasASecret(t *testing.T) {
	t.Parallel()
	bucket := t.TempDir()
	s := newShared(t, func(own bus.Credential) []*bustest.Server {
		return []*bustest.Server{bustest.Start(t, bustest.Config{Planner: own, Store: bucket})}
	})
	first, second := s.planner(0, "a"), s.planner(0, "b")
	_, stop := s.inside(first)
	s.node(0)
	a, reply := s.register("one", 0, units.GiB)
	x := reply.Directive.Executors[0].ID
	lost := soon(t, "an executor", s.world.started)
	a.send(api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: x}})
	s.wantBackup()
	stop()
	_, stop = s.inside(second)
	s.wantBackup()
	s.world.runtime.Exit(lost, 1)
	realenv.Await(t, "its end to be known", func() bool {
		a.deliver()
		return len(s.ask(api.VerbApp, api.ControlRequest{App: a.id}).App.Executors) > 1
	})
	if h := soon(t, "an executor in its place", s.world.started); h.App != a.id || h.ID == x {
		t.Errorf("%s of %s is started", h.ID, h.App)
	}
	s.wantBackup()
	stop()
	for _, dir := range []string{bucket, first.State, second.State} {
		wantNoSecret(t, dir)
	}
}
