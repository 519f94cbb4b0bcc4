package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
)

// doomed is a node controller that dies at a step of a start; crashVariable has it as JSON.
type doomed struct {
	Root, Parent string
	Step         executor.Step
	User         executor.Credential
}

const crashVariable = "PACER_TEST_CRASH"

// die starts an executor and is killed on the way, as by kill -9.
func die(text string) error {
	var d doomed
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return err
	}
	groups, err := cgroup.Open("", d.Parent)
	if err != nil {
		return err
	}
	layout := executor.Layout{Root: d.Root}
	r, err := executor.NewProcess(executor.ProcessConfig{Layout: layout, Groups: groups, At: func(s executor.Step) {
		if s == d.Step {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}})
	if err != nil {
		return err
	}
	group, err := groups.Group(cgroup.GroupName("app-1", "1"))
	if err != nil {
		return err
	}
	_, err = r.Start(context.Background(), executor.Spec{App: "app-1", ID: "1", Group: group, User: d.User,
		CommandLine: executor.CommandLine{Args: []string{"/bin/sh", "-c", "trap '' TERM; /bin/sleep 600 & echo there >&2; wait"}, Env: []string{"PATH=/usr/bin:/bin"}}})
	return errors.Join(errors.New("it did not die"), err)
}

// A node controller that is killed at any step of a start leaves nothing that its successor does
// not know: the executor is one that it takes over, or it is ended, with all its processes, its
// group and its files but the logs.
func TestNothingIsOrphanedByAStartThatIsCut(t *testing.T) {
	user := currentUser(t)
	for _, step := range []executor.Step{executor.StepFiles, executor.StepExec, executor.StepHandle} {
		t.Run(string(step), func(t *testing.T) {
			groups, layout := realGroups(t), workRoot(t)
			parent := strings.TrimPrefix(filepath.Dir(group(t, groups, "probe").Path()), "/")
			request, err := json.Marshal(doomed{Root: layout.Root, Parent: parent, Step: step, User: user})
			if err != nil {
				t.Fatal(err)
			}
			c := exec.Command("/proc/self/exe")
			c.Env = append(os.Environ(), crashVariable+"="+string(request))
			out, err := c.CombinedOutput()
			var ended *exec.ExitError
			if !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("the node controller: %v: %s", err, out)
			}
			runtime, err := executor.NewProcess(executor.ProcessConfig{Layout: layout, Groups: groups, Grace: 100 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			handles, err := runtime.Recover()
			if err != nil {
				t.Fatal(err)
			}
			swept, err := executor.Sweep(t.Context(), layout, groups)
			if err != nil {
				t.Fatal(err)
			}
			processes := map[string]int{}
			for _, s := range swept {
				processes[s.Group] = s.Processes
			}
			_, removed := processes["app-1-1"]
			if saved := step == executor.StepHandle; saved != (len(handles) == 1) || saved == removed || step == executor.StepExec && processes["app-1-1"] == 0 {
				t.Errorf("%d handles, swept %v", len(handles), swept)
			}
			for _, h := range handles {
				if s, err := runtime.Inspect(h); err != nil || s.State != api.ExecutorRunning {
					t.Errorf("the one that was saved: %+v, %v", s, err)
				}
				if err := errors.Join(runtime.Stop(t.Context(), h), runtime.Remove(h)); err != nil {
					t.Error(err)
				}
			}
			names, err := groups.Names()
			if err != nil || len(names) > 0 {
				t.Errorf("groups %v are left, %v", names, err)
			}
			left, err := filepath.Glob(filepath.Join(layout.Root, "apps", "*", "*", "*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range left {
				if name := filepath.Base(path); name != "stdout" && name != "stderr" {
					t.Errorf("%s is left", path)
				}
			}
			if _, err := os.Stat(filepath.Join(layout.Root, "apps", "app-1", "local")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the local directories are left: %v", err)
			}
			// It can be started again at once.
			h, err := runtime.Start(t.Context(), executor.Spec{App: "app-1", ID: "1", Group: group(t, groups, cgroup.GroupName("app-1", "1")), User: user,
				CommandLine: executor.CommandLine{Args: []string{"/bin/sleep", "600"}, Env: []string{}}})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(runtime.Stop(t.Context(), h), runtime.Remove(h)); err != nil {
				t.Error(err)
			}
		})
	}
}

func group(t *testing.T, groups *cgroup.Hierarchy, name string) *cgroup.Group {
	t.Helper()
	g, err := groups.Group(name)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
