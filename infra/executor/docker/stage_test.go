package docker

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/infra/executor"
)

// flipped is a tree in which user 4242 has a home with the link lib, which leads to open, and in
// which closed lies behind a directory that is root's alone.
func flipped(t *testing.T) (root string, link func(to string)) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount and to become another user")
	}
	root, err := os.MkdirTemp("", "pacer-docker-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	at := func(name string) string { return filepath.Join(root, name) }
	err = errors.Join(os.MkdirAll(at("home/open"), 0o755), os.MkdirAll(at("behind/closed"), 0o755), os.Chmod(root, 0o755), os.Chmod(at("behind"), 0o700),
		os.WriteFile(at("home/open/mine"), nil, 0o644), os.WriteFile(at("behind/closed/secret"), nil, 0o644))
	if err != nil {
		t.Fatal(err)
	}
	return root, func(to string) {
		t.Helper()
		_ = os.Remove(at("home/lib"))
		if err := os.Symlink(at(to), at("home/lib")); err != nil {
			t.Fatal(err)
		}
	}
}

// seen are the files that a container finds at target.
func seen(t *testing.T, mounts []Mount, target string) string {
	t.Helper()
	list, err := binds(mounts)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if m.Target == target {
			entries, err := os.ReadDir(m.Source)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
			}
			return strings.Join(names, " ")
		}
	}
	return "not mounted"
}

// Where a link of an application's leads when it is looked at and when its container is made is
// all the same: what is mounted was reached with the rights of the executor's user.
func TestWhatIsLookedAtIsMounted(t *testing.T) {
	root, link := flipped(t)
	target := filepath.Join(root, "home/lib")
	s := executor.Spec{User: executor.Credential{Name: "x", UID: 4242, GID: 4242},
		CommandLine: executor.CommandLine{Args: []string{"/usr/bin/java", "-cp", target + "/*", "Main"}}}
	paths := executor.Paths{Dir: "/usr", Local: "/usr"}
	link("home/open")
	mounts := hostMounts(s, paths, nil)

	st := &stage{dir: filepath.Join(root, stages, "c")}
	link("behind/closed")
	shown, err := st.show(s.User, mounts)
	if got := seen(t, shown, target); got != "not mounted" || err != nil {
		t.Errorf("a link that has been flipped after the look shows %q, %v", got, err)
	}
	link("home/open")
	shown, err = st.show(s.User, mounts)
	link("behind/closed")
	if got := seen(t, shown, target); got != "mine" || err != nil {
		t.Errorf("a link that is flipped before the start shows %q, %v", got, err)
	}
	staged := filepath.Join(st.dir, "0")
	if err := os.Remove(filepath.Join(staged, "mine")); err == nil {
		t.Errorf("%s can be written", staged)
	}
	if err := st.clear(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(st.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the stage is left: %v", err)
	}
}

// What the node shows is not the application's, whoever names it too; and stages of starts that
// were interrupted are taken away without a file of what was on them.
func TestStagesOfInterruptedStartsAreTakenAway(t *testing.T) {
	root, link := flipped(t)
	link("home/open")
	open := filepath.Join(root, "home/open")
	s := executor.Spec{User: executor.Credential{Name: "x", UID: 4242, GID: 4242}, CommandLine: executor.CommandLine{
		Args: []string{"/usr/bin/java", "-cp", filepath.Join(root, "home/lib") + ":" + open, "Main"}, Shows: []string{open}}}
	r := &Runtime{cfg: Config{Node: "n1", Layout: executor.Layout{Root: root}}}
	st := r.stage(s)
	shown, err := st.show(s.User, hostMounts(s, executor.Paths{Dir: "/usr", Local: "/usr"}, nil))
	if err != nil || st.held != 1 {
		t.Fatalf("%d on the stage, %v: %+v", st.held, err, shown)
	}
	if err := r.clearStages(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(root, stages)); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(open, "mine")); err != nil {
		t.Error(err)
	}
}
