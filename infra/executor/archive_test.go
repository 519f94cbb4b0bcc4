package executor_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/infra/executor"
)

// withJVM gives m's Java the library by which archives know a JVM.
func (m machine) withJVM(t *testing.T) machine {
	t.Helper()
	touch(t, filepath.Join(m.launch.JavaHome, "lib", "server", "libjvm.so"), 0o644)
	m.settings.Archives = filepath.Join(filepath.Dir(m.launch.SparkHome), "archive")
	return m
}

func (m machine) archive(t *testing.T) executor.Archive {
	t.Helper()
	a, err := executor.ArchiveOf(m.launch, m.settings)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// own is a user whose files the test can make.
func (m machine) own() machine {
	m.settings.User.UID, m.settings.User.GID = uint32(os.Geteuid()), uint32(os.Getegid())
	return m
}

func archiveOption(args []string) string {
	for _, a := range args {
		if file, ok := strings.CutPrefix(a, "-XX:SharedArchiveFile="); ok {
			return file
		}
	}
	return ""
}

// The key follows everything that the JVM compares: its own build, and each file
// of the class path in order, with its size and time.
func TestArchiveKeyFollowsWhatTheJVMCompares(t *testing.T) {
	m := newMachine(t).withJVM(t)
	jars := filepath.Join(m.launch.SparkHome, "jars")
	core := filepath.Join(jars, "spark-core_2.13-4.3.0.jar")
	seen := map[string]string{}
	note := func(what string) {
		t.Helper()
		key := m.archive(t).Key
		if before, ok := seen[key]; ok {
			t.Errorf("%s: the key is that of %s", what, before)
		}
		seen[key] = what
	}
	note("the beginning")
	if err := os.Chtimes(core, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	note("another time")
	if err := os.WriteFile(core, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(core, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	note("another size")
	touch(t, filepath.Join(jars, "more.jar"), 0o644)
	note("one more jar")
	m.launch.ClassPath = []string{touch(t, filepath.Join(t.TempDir(), "a.jar"), 0o644), touch(t, filepath.Join(t.TempDir(), "b.jar"), 0o644)}
	note("jars in front of Spark")
	slices.Reverse(m.launch.ClassPath)
	note("another order")
	if err := os.WriteFile(filepath.Join(m.launch.JavaHome, "lib", "server", "libjvm.so"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	note("another JVM")

	before := m.archive(t).Key
	touch(t, filepath.Join(jars, "README"), 0o644)
	touch(t, filepath.Join(m.launch.SparkHome, "conf", "log4j2.properties"), 0o644)
	m.launch.Heap *= 2
	m.launch.JavaOptions = []string{"-XX:+UseG1GC"}
	m.launch.ClassPath = append(m.launch.ClassPath, "/not/there.jar")
	if after := m.archive(t).Key; after != before {
		t.Error("the key follows files that are no jars, the configuration, the heap, the collector or a missing jar")
	}
}

// A Spark that is reached by a link is the same Spark.
func TestArchiveKeyIsThatOfTheRealFiles(t *testing.T) {
	m := newMachine(t).withJVM(t)
	before := m.archive(t).Key
	link := filepath.Join(t.TempDir(), "spark")
	if err := os.Symlink(m.launch.SparkHome, link); err != nil {
		t.Fatal(err)
	}
	m.launch.SparkHome = link
	if m.archive(t).Key != before {
		t.Error("another key by a link")
	}
}

// What cannot be archived is said by name.
func TestArchiveFaults(t *testing.T) {
	m := newMachine(t)
	if _, err := executor.ArchiveOf(m.launch, m.settings); err == nil || !strings.Contains(err.Error(), "libjvm.so") {
		t.Errorf("a Java without a JVM: %v", err)
	}
	m = m.withJVM(t)
	m.launch.ClassPath = []string{t.TempDir()}
	if _, err := executor.ArchiveOf(m.launch, m.settings); err == nil || !strings.Contains(err.Error(), "directory "+m.launch.ClassPath[0]) {
		t.Errorf("a directory in front of Spark: %v", err)
	}
	if _, err := executor.SparkArchive(m.launch.JavaHome, t.TempDir()); err == nil {
		t.Error("no Spark, and an archive")
	}
}

// Where nobody puts anything in front of Spark, drivers and executors share an
// archive: the executor's class path begins with the archive's.
func TestDriversAndExecutorsShareAnArchive(t *testing.T) {
	m := newMachine(t).withJVM(t)
	jars := filepath.Join(m.launch.SparkHome, "jars")
	facade := touch(t, filepath.Join(jars, "slf4j-api-2.0.17.jar"), 0o644)
	touch(t, filepath.Join(m.launch.SparkHome, "conf", "log4j2.properties"), 0o644)
	classPath := func() []string {
		args := m.must(t).Args
		return strings.Split(args[slices.Index(args, "-cp")+1], ":")
	}
	drivers, err := executor.SparkArchive(m.launch.JavaHome, m.launch.SparkHome)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(drivers, m.archive(t)); diff != "" {
		t.Error(diff)
	}
	want := []string{facade, jars + "/*", m.settings.Jar, m.launch.SparkHome + "/conf"}
	if diff := cmp.Diff(want, classPath()); diff != "" {
		t.Error(diff)
	}
	// An installed jar of another build must not come before the node's own.
	touch(t, filepath.Join(jars, executor.InstalledJar), 0o644)
	want = []string{m.settings.Jar, facade, jars + "/*", m.launch.SparkHome + "/conf"}
	if diff := cmp.Diff(want, classPath()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[:3], m.archive(t).Path); diff != "" {
		t.Error(diff)
	}
}

// An executor maps the archive that is there, unless its user has a say or could
// be given something that another user has made.
func TestExecutorsMapWhatIsThereAndTrusted(t *testing.T) {
	m := newMachine(t).withJVM(t).own()
	if got := archiveOption(m.must(t).Args); got != "" {
		t.Fatalf("an archive that nobody has made: %s", got)
	}
	file := touch(t, m.archive(t).File(m.settings.Archives), 0o444)
	c := m.must(t)
	if archiveOption(c.Args) != file || !slices.Contains(c.Args, "-Xlog:cds*=off") {
		t.Errorf("%q", c.Args)
	}
	for _, option := range []string{"-Xshare:off", "-XX:SharedArchiveFile=/mine.jsa", "-XX:ArchiveClassesAtExit=/mine.jsa"} {
		m.launch.JavaOptions = []string{option}
		if c := m.must(t); archiveOption(c.Args) == file {
			t.Errorf("%s: %q", option, c.Args)
		}
	}
	m.launch.JavaOptions = nil
	off := m
	off.settings.Archives = ""
	if archiveOption(off.must(t).Args) != "" {
		t.Error("an archive without a directory of archives")
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(file, 4242, 4242); err != nil {
			t.Fatal(err)
		}
		if archiveOption(m.must(t).Args) != "" {
			t.Error("another user's archive")
		}
		list(&m) // Its user cannot reach it.
		m.settings.User.UID = 4242
		if archiveOption(m.must(t).Args) == "" {
			t.Error("its own archive is refused")
		}
	}
	if err := os.Chmod(file, 0o664); err != nil {
		t.Fatal(err)
	}
	if archiveOption(m.must(t).Args) != "" {
		t.Error("an archive that others may write")
	}
	if err := os.Rename(file, file+".real"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file+".real", file); err != nil {
		t.Fatal(err)
	}
	if archiveOption(m.must(t).Args) != "" {
		t.Error("a link")
	}
}
