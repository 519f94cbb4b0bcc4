package executor_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/infra/executor"
)

// shared puts a Spark, a Java and a jar where every user can reach them.
func shared(t *testing.T) machine {
	t.Helper()
	m := newMachine(t)
	dir := filepath.Dir(workRoot(t).Root)
	for name, from := range map[string]*string{"spark": &m.launch.SparkHome, "java": &m.launch.JavaHome} {
		to := filepath.Join(dir, name)
		if err := os.Rename(*from, to); err != nil {
			t.Fatal(err)
		}
		*from = to
	}
	m.settings.User = executor.Credential{Name: "pacer-2000000000", UID: few.First, GID: few.First, Made: true}
	return m
}

// A driver's Spark and Java are taken where the node lists them, or where nobody but root and
// the executor's user can have put them and the executor can go by itself.
func TestOnlyHomesThatAreAllowed(t *testing.T) {
	rootOnly(t)
	for name, c := range map[string]struct {
		change func(*machine)
		want   string
	}{
		"root's":         {func(*machine) {}, ""},
		"its own":        {func(m *machine) { chown(t, m.launch.SparkHome, few.First) }, ""},
		"another's":      {func(m *machine) { chown(t, m.launch.SparkHome, few.Last) }, "belongs to neither root nor executor user pacer-2000000000"},
		"another's java": {func(m *machine) { chown(t, m.launch.JavaHome, few.Last) }, "list it in node.java-homes"},
		"writable":       {func(m *machine) { chmod(t, m.launch.SparkHome, 0o777) }, "others may write there"},
		"not its to see": {func(m *machine) { chmod(t, filepath.Dir(m.launch.SparkHome), 0o700) }, "cannot reach Spark in"},
		"listed": {func(m *machine) {
			chown(t, m.launch.SparkHome, few.Last)
			m.settings.Sparks.Listed = []string{filepath.Dir(m.launch.SparkHome) + "/sp*"}
		}, ""},
		"listed, unseen":  {func(m *machine) { chmod(t, filepath.Dir(m.launch.SparkHome), 0o700); list(m) }, ""},
		"only others are": {func(m *machine) { m.settings.Sparks = executor.Places{Listed: []string{"/opt/spark"}, Only: true} }, "is not among this node's node.spark-homes"},
		"by a link of its own": {func(m *machine) {
			link := filepath.Join(filepath.Dir(m.launch.SparkHome), "link")
			if err := os.Symlink(m.launch.SparkHome, link); err != nil {
				t.Fatal(err)
			}
			chown(t, m.launch.SparkHome, few.Last)
			m.launch.SparkHome = link
		}, "belongs to neither"},
	} {
		m := shared(t)
		c.change(&m)
		command, err := m.command()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if name == "listed, unseen" && (!slices.Contains(command.Shows, m.launch.SparkHome) || !slices.Contains(command.Shows, m.launch.JavaHome)) {
			t.Errorf("%s: shows %q", name, command.Shows)
		}
	}
}

func list(m *machine) {
	m.settings.Sparks.Listed, m.settings.Javas.Listed = []string{m.launch.SparkHome}, []string{m.launch.JavaHome}
}

func chown(t *testing.T, path string, id uint32) {
	t.Helper()
	if err := os.Lchown(path, int(id), int(id)); err != nil {
		t.Fatal(err)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// The node controller, which is root, looks into no directory for an application that the
// application could not look into: a Spark whose jars are a link to another's directory is
// no Spark.
func TestASparkHomeIsSearchedWithTheUsersRights(t *testing.T) {
	rootOnly(t)
	m := shared(t)
	hidden := filepath.Join(t.TempDir(), "jars") // Below a directory of root's alone.
	if err := os.Rename(filepath.Join(m.launch.SparkHome, "jars"), hidden); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(hidden, filepath.Join(m.launch.SparkHome, "jars")); err != nil {
		t.Fatal(err)
	}
	chown(t, m.launch.SparkHome, few.First)
	if c, err := m.command(); err == nil || !strings.Contains(err.Error(), "no Spark 4") {
		t.Errorf("found by a link: %q, %v", c.Args, err)
	}
}
