package executor

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/sparkpacer/pacer/api"
)

// Archive names a class-data archive: what a JVM has read, checked and laid out
// of the classes on a class path, for other JVMs to map (docs/spark.md, S30).
type Archive struct {
	// Java is the home of the JVM, Spark that of the distribution.
	Java, Spark string
	// Path is the class path that the archive is for: it serves every JVM whose
	// class path begins with the same files. An entry DIR/* is expanded by the
	// JVM, in the directory's own order.
	Path []string
	// Key is a digest of the JVM and of every file on Path with its size and
	// time, in order.
	Key string
	// Of is the user some of whose own programs or classes are in it, and who alone is to map
	// it; the zero value is nobody in particular.
	Of Credential
}

// archiveSuffix ends the names of archives.
const archiveSuffix = ".jsa"

// File is where the archive is kept in a directory of archives.
func (a Archive) File(dir string) string { return filepath.Join(dir, a.Key+archiveSuffix) }

// Usable reports whether the archive is in dir and the user may trust it: a JVM
// runs what an archive holds, so it has to belong to that user or to root.
func (a Archive) Usable(dir string, uid uint32) bool {
	st, err := os.Lstat(a.File(dir))
	if err != nil || !st.Mode().IsRegular() || st.Mode().Perm()&0o022 != 0 {
		return false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && (sys.Uid == 0 || sys.Uid == uid)
}

// Made reports whether the archive is in dir for whom it is to serve.
func (a Archive) Made(dir string) bool {
	if a.Of.Name != "" {
		return a.Usable(dir, a.Of.UID)
	}
	return a.Usable(dir, uint32(os.Geteuid()))
}

// EmptyDir reports whether there is nothing in dir, or no dir. Spark's configuration goes in front of Spark: with a
// file in it no archive fits, and a JVM that is given one has none at all.
func EmptyDir(dir string) bool {
	entries, err := os.ReadDir(dir)
	return os.IsNotExist(err) || err == nil && len(entries) == 0
}

// Options make a JVM map the archive in dir where it fits, and run without it and without a word where it does not. It
// does not fit with another class path, another JVM or a heap of another addressing mode (32 GiB and more).
func (a Archive) Options(dir string) []string {
	return []string{"-XX:SharedArchiveFile=" + a.File(dir), "-Xshare:auto", "-Xlog:cds*=off"}
}

// ChoosesArchive reports whether an option of the user decides about archives.
func ChoosesArchive(option string) bool {
	return slices.ContainsFunc([]string{"-Xshare", "-XX:SharedArchiveFile=", "-XX:ArchiveClassesAtExit=",
		"-XX:+AutoCreateSharedArchive", "-XX:AOT"},
		func(prefix string) bool { return strings.HasPrefix(option, prefix) })
}

// ArchiveOf returns the archive that serves the executors of launch on a node.
// Its error says why there can be none.
func ArchiveOf(launch api.Launch, node NodeSettings) (Archive, error) {
	spark, java, err := homes(launch, node)
	if err != nil {
		return Archive{}, err
	}
	return node.archive(launch, java, spark)
}

// archive is the one for the executors of launch, whose Spark is in a home. Entries that the application puts in front
// of Spark are looked at with its own rights.
func (n NodeSettings) archive(launch api.Launch, java, spark home) (Archive, error) {
	var path []string
	if err := n.see(spark, func() error { path = archived(launch, n.Jar, spark.dir); return nil }); err != nil {
		return Archive{}, err
	}
	a, err := newArchive(java.dir, spark.dir, path, func(entry string, f func() error) error {
		if slices.Contains(launch.ClassPath, entry) {
			return n.User.As(f)
		}
		return n.see(home{listed: spark.listed || entry == n.Jar}, f)
	})
	if !n.User.Made && (!java.trusted || !spark.trusted || len(launch.ClassPath) > 0) {
		a.Of = n.User
	}
	return a, err
}

// SparkArchive returns the archive of a Spark distribution alone, which serves
// drivers as spark-submit starts them and executors without a class path of the
// user's. java is "" for the JVM on the path.
func SparkArchive(java, spark string) (Archive, error) {
	java, err := javaHome(java)
	if err != nil {
		return Archive{}, err
	}
	if spark, err = sparkHome(spark, ""); err != nil {
		return Archive{}, err
	}
	return newArchive(java, spark, sparkPath(spark), asItIs)
}

// look runs a function that looks at an entry of a class path.
type look func(entry string, f func() error) error

func asItIs(_ string, f func() error) error { return f() }

func newArchive(java, spark string, path []string, look look) (Archive, error) {
	jvm, err := expand([]string{filepath.Join(java, "lib", "server", "libjvm.so")}, asItIs)
	if err == nil && len(jvm) == 0 {
		err = fmt.Errorf("%s has no lib/server/libjvm.so", java)
	}
	var files []archiveEntry
	if err == nil {
		files, err = expand(path, look)
	}
	key := ""
	if err == nil {
		key, err = archiveKey(jvm, files)
	}
	if err != nil {
		return Archive{}, fmt.Errorf("class-data archive: %w", err)
	}
	return Archive{Java: java, Spark: spark, Path: path, Key: key}, nil
}

// archiveEntry is a file as an archive depends on it: the JVM refuses an archive
// when a file has another size or time.
type archiveEntry struct {
	path        string
	size, mtime int64
	dir         bool
}

// archiveKey is the digest of what an archive depends on. The error names a
// directory on the class path: a JVM makes no archive with one.
func archiveKey(jvm, path []archiveEntry) (string, error) {
	sum := sha256.New()
	for _, e := range slices.Concat(jvm, path) {
		if e.dir {
			return "", fmt.Errorf("directory %s is on the class path in front of Spark", e.path)
		}
		fmt.Fprintf(sum, "%q %d %d\n", e.path, e.size, e.mtime)
	}
	return hex.EncodeToString(sum.Sum(nil)[:10]), nil
}

// expand turns a class path into its files as a JVM does: what is not there is
// left out, DIR/* stands for the jars of DIR in the directory's own order.
func expand(path []string, look look) ([]archiveEntry, error) {
	var out []archiveEntry
	for _, p := range path {
		err := look(p, func() (err error) {
			out, err = appendFiles(out, p)
			return err
		})
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return out, nil
}

// appendFiles appends the files of one entry of a class path.
func appendFiles(out []archiveEntry, p string) ([]archiveEntry, error) {
	names := []string{filepath.Base(p)}
	dir, err := filepath.EvalSymlinks(filepath.Dir(p))
	if err == nil && names[0] == "*" {
		names, err = jarsOf(dir)
	}
	for _, name := range names {
		var e archiveEntry
		if err == nil {
			e, err = lookAt(filepath.Join(dir, name))
		}
		if err == nil {
			out = append(out, e)
		}
	}
	return out, err
}

// jarsOf are the names of a directory's jars, unsorted.
func jarsOf(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasSuffix(name, ".jar") && !strings.HasSuffix(name, ".JAR")
	}), err
}

func lookAt(path string) (archiveEntry, error) {
	st, err := os.Stat(path)
	if err != nil {
		return archiveEntry{}, err
	}
	return archiveEntry{path: path, size: st.Size(), mtime: st.ModTime().UnixNano(), dir: st.IsDir()}, nil
}
