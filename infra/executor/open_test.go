package executor_test

import (
	"os"
	"path/filepath"
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
