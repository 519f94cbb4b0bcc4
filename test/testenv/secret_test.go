package testenv_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/store"
	"github.com/sparkpacer/pacer/test/testenv"
)

// hides wants secret in none of the files below dir, and in no value that a store there has: these
// are compressed.
func hides(t *testing.T, dir, secret string) {
	t.Helper()
	stores := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.Contains(body, []byte(secret)) {
			t.Errorf("%s has the secret", path)
		}
		if !strings.HasSuffix(path, ".db") {
			return nil
		}
		copied := filepath.Join(t.TempDir(), "copy.db")
		if err := os.WriteFile(copied, body, 0o600); err != nil {
			return err
		}
		s, err := store.Open(copied, store.Options{Sync: store.SyncNever})
		if err != nil {
			return err
		}
		pairs, err := s.Load("")
		kept := false
		for _, p := range pairs {
			if bytes.Contains(p.Value, []byte(secret)) {
				t.Errorf("%s has the secret under %s", path, p.Key)
			}
			kept = kept || bytes.Contains(p.Value, []byte("_SPARK_AUTH_SECRET"))
		}
		if stores++; !kept {
			t.Errorf("%s has nothing of the launch", path)
		}
		return errors.Join(err, s.Close())
	})
	if err != nil || stores != 2 {
		t.Errorf("%d stores, %v", stores, err)
	}
}

// No store and no history has an application's secret, and all its executors are started with it:
// those too that take the place of others after the planner, or the node controller, has started
// again.
func TestSecretsSurviveRestartsInNoStore(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		e.Planner = func(c *daemon.PlannerConfig) { c.Engine.Replacing.Most = 9 }
		e.Node = func(c *daemon.NodeConfig) { c.History, c.Release = filepath.Join(e.Dir(), "history.jsonl"), "1.2.3" }
		n := one(e)
		d := submit(e, testenv.Chain("chain", 4, 40))
		replaced := func(what string) {
			e.Until("an executor "+what, func() bool { return len(n.Executors()) == 1 && ready(e.App(d.ID())) > 0 })
			before := n.Executors()
			_, x, _ := strings.Cut(before[0], "/")
			n.Crash(d.ID(), api.ExecutorID(x))
			e.Until("another executor "+what, func() bool { return len(n.Executors()) == 1 && !slices.Equal(n.Executors(), before) })
			hides(t, e.Dir(), d.Secret())
		}
		replaced("at first")
		e.StopPlanner()
		e.Pass(time.Second)
		e.StartPlanner()
		replaced("after a restart of the planner")
		n.Kill()
		n.Start()
		replaced("after a restart of the node controller")
		n.Kill()
		e.StopPlanner()
		e.StartPlanner()
		n.Start()
		replaced("after a restart of both")
		d.Wait()
	})
}
