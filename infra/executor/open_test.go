package executor_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/infra/executor"
)

// A directory that an earlier run made under a mask of 077 lets executors' users pass again, and nothing more.
func TestADirectoryThatAMaskClosedIsOpened(t *testing.T) {
	for before, after := range map[os.FileMode]os.FileMode{0o700: 0o711, 0o750: 0o751, 0o711: 0o711, 0o755: 0o755} {
		dir := filepath.Join(t.TempDir(), "state")
		if err := os.Mkdir(dir, before); err != nil {
			t.Fatal(err)
		}
		if err := executor.OpenToPass(dir); err != nil {
			t.Fatal(err)
		}
		if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != after {
			t.Errorf("%v became %v, %v, want %v", before, st.Mode(), err, after)
		}
	}
}

// An application's own interpreter is shown where it is its submitter's, whoever else names it sees nothing.
func TestTheInterpreterThatItsOwnerNamesIsShown(t *testing.T) {
	m, me := newMachine(t), currentUser(t).Name
	home := t.TempDir()
	python := touch(t, filepath.Join(home, "venv", "bin", "python3"), 0o755)
	touch(t, filepath.Join(home, "venv", "pyvenv.cfg"), 0o644)
	other := touch(t, filepath.Join(home, "secrets", "bin", "python3"), 0o755)
	shows := func(user, interpreter string) bool {
		m.launch.User, m.launch.Env = user, map[string]string{"PYSPARK_PYTHON": interpreter}
		for _, path := range m.must(t).Shows {
			if path == filepath.Dir(filepath.Dir(interpreter)) {
				return true
			}
		}
		return false
	}
	if !shows(me, python) {
		t.Error("its owner's executors do not see it")
	}
	for _, c := range [][2]string{{"", python}, {"nobody", python}, {"no-such-user", python}, {me, other}, {me, "python3"}, {me, "/"}} {
		if shows(c[0], c[1]) {
			t.Errorf("%q sees %s", c[0], c[1])
		}
	}
	if err := os.Chmod(filepath.Join(home, "venv"), 0o777); err != nil {
		t.Fatal(err)
	}
	if shows(me, python) {
		t.Error("one that others can write is shown")
	}
}

// However its owner comes to an interpreter, all that it takes to run is shown: environments that a shell has
// activated, that are copies, that link to others by the name of a directory, or that are chosen by a shim.
func TestAnInterpreterIsFollowedToAllThatItNeeds(t *testing.T) {
	m := newMachine(t)
	m.launch.User = currentUser(t).Name
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, name) }
	touch(t, at("store/cpython-3.12.5/bin/python3"), 0o755)
	touch(t, at("store/cpython-3.12.5/lib/python3.12/os.py"), 0o644)
	touch(t, at("pyenv/versions/3.12.5/bin/python3"), 0o755)
	touch(t, at("pyenv/shims/python3"), 0o755)
	touch(t, at("copied/bin/python3"), 0o755)
	for name, text := range map[string]string{"copied": "home = " + at("store/cpython-3.12/bin") + "\n", "linked": "home = /none\n", "looped": ""} {
		if err := errors.Join(os.MkdirAll(at(name+"/bin"), 0o755), os.WriteFile(at(name+"/pyvenv.cfg"), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"store/cpython-3.12": "cpython-3.12.5",
		"linked/bin/python3": "python", "linked/bin/python": at("store/cpython-3.12/bin/python3"),
		"looped/bin/python3": "python", "looped/bin/python": "python3",
	} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	store := []string{"store/cpython-3.12", "store/cpython-3.12.5"}
	for name, c := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"named":           {map[string]string{"PYSPARK_PYTHON": at("linked/bin/python")}, append([]string{"linked"}, store...)},
		"a copy":          {map[string]string{"PYSPARK_PYTHON": at("copied/bin/python3")}, append([]string{"copied"}, store...)},
		"activated":       {map[string]string{"PATH": "/none:relative:" + at("linked/bin") + ":/usr/bin"}, append([]string{"linked"}, store...)},
		"by name in PATH": {map[string]string{"PATH": at("linked/bin"), "PYSPARK_PYTHON": "python"}, append([]string{"linked"}, store...)},
		"a shim":          {map[string]string{"PATH": at("pyenv/shims")}, []string{"pyenv"}},
		"a circle":        {map[string]string{"PATH": at("looped/bin")}, []string{"looped"}},
		"not in PATH":     {map[string]string{"PATH": "/none", "PYSPARK_PYTHON": "python3"}, nil},
	} {
		m.launch.Env = c.env
		var got []string
		for _, path := range m.must(t).Shows {
			if below, err := filepath.Rel(home, path); err == nil && !strings.HasPrefix(below, "..") {
				got = append(got, below)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: it sees %v, want %v", name, got, c.want)
		}
	}
}
