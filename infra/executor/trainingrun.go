package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/units"
)

// TrainingRun makes an Archive by a training run: a small application in a JVM of
// its own that loads what drivers and executors load (org.apache.spark.pacer.TrainingRun
// of the jar) and leaves the archive when it exits. It runs as executors do, in a group and in what the runtime has for
// them, as Archive.Of or a user of its own. So no application has a hand in what others map. It takes some 40
// core-seconds (docs/decisions/013) and goes behind everything else on the machine (nice 19).
type TrainingRun struct {
	Archive Archive
	// Node has the directory of archives, made if need be, the jar, and where Spark and Java
	// may be.
	Node NodeSettings
	// Keep is how many archives may be in the directory afterwards; the newest stay.
	Keep int

	Runtime Runtime
	Groups  *cgroup.Hierarchy
	Layout  Layout
	Users   *Users
}

// TrainingApp names training runs among applications.
const TrainingApp api.AppID = "class-data"

const (
	trainingID api.ExecutorID = "1"
	// trainingLimit is how long a training run may take: behind everything else it may have
	// hardly any time of its own. trainingLook is the time between two looks at it.
	trainingLimit = 15 * time.Minute
	trainingLook  = 50 * time.Millisecond
	// trainingMemory is the most that it takes, where the runtime bounds that, archiveMost the
	// size of the largest file that it may write and of the largest archive, logs included.
	trainingMemory = 2 * units.GiB
	archiveMost    = units.GiB
	// trainingWeight is its group's, against 1 for an executor at work.
	trainingWeight cgroup.Weight = 0.01
)

// ErrArchiveBusy says that another process is making an archive in the directory.
var ErrArchiveBusy = errors.New("another process is making an archive there")

const (
	// trainingMain is the training run's class, submitMain what starts it: the
	// archive holds what a driver's start loads, too.
	trainingMain = "org.apache.spark.pacer.TrainingRun"
	submitMain   = "org.apache.spark.deploy.SparkSubmit"
	// makingPrefix starts the names of unfinished archives.
	makingPrefix = ".making-"
)

// Make makes the archive unless it is there; it appears whole or not at all, and belongs to
// this process's user or to Archive.Of. When ctx ends the training run is killed. It takes tens of seconds and is safe
// beside other processes that make archives in the same directory: all but one
// return ErrArchiveBusy.
func (r TrainingRun) Make(ctx context.Context) error {
	if err := r.make(ctx); err != nil {
		return fmt.Errorf("make a class-data archive: %w", err)
	}
	return nil
}

func (r TrainingRun) make(ctx context.Context) error {
	dir := r.Node.Archives
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return ErrArchiveBusy
	} else if err != nil {
		return err
	}
	if err := r.sweep(); err != nil {
		return err
	}
	if r.Archive.Made(dir) {
		return nil
	}
	if err := r.train(ctx); err != nil {
		return err
	}
	return r.prune()
}

// sweep removes what an interrupted making has left; the caller has the lock.
func (r TrainingRun) sweep() error {
	left, err := filepath.Glob(filepath.Join(r.Node.Archives, makingPrefix+"*"))
	for _, dir := range left {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// prune removes all archives but the newest.
func (r TrainingRun) prune() error {
	files, err := filepath.Glob(filepath.Join(r.Node.Archives, "*"+archiveSuffix))
	made := map[string]time.Time{}
	for _, file := range files {
		st, statErr := os.Lstat(file)
		if statErr == nil {
			made[file] = st.ModTime()
		}
		err = errors.Join(err, statErr)
	}
	for _, file := range oldest(made, r.Keep) {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// oldest are the files but the newest keep.
func oldest(made map[string]time.Time, keep int) []string {
	files := slices.Collect(maps.Keys(made))
	slices.SortFunc(files, func(a, b string) int {
		if c := made[b].Compare(made[a]); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	return files[min(keep, len(files)):]
}

// train runs the training run and takes what it leaves.
func (r TrainingRun) train(ctx context.Context) error {
	user := r.Archive.Of
	if user.Name == "" {
		var err error
		if user, err = r.Users.Own(TrainingApp); err != nil {
			return err
		}
	}
	paths, err := r.Layout.Paths(TrainingApp, trainingID)
	if err != nil {
		return err
	}
	group, err := r.Groups.Group(cgroup.GroupName(TrainingApp, trainingID))
	if err != nil {
		return err
	}
	// With its directory it gives its user back.
	defer func() { _ = r.Layout.RemoveLogs([]api.AppID{TrainingApp}) }()
	if err := group.SetWeight(trainingWeight); err != nil {
		return errors.Join(err, group.Remove(context.WithoutCancel(ctx)))
	}
	h, err := r.Runtime.Start(ctx, Spec{App: TrainingApp, ID: trainingID, Group: group, User: user,
		CommandLine: CommandLine{
			Args: r.command(paths.Work), Env: r.environment(paths, user), Memory: trainingMemory,
			Reads: []string{filepath.Join(r.Archive.Java, "bin", "java"), filepath.Join(r.Archive.Spark, "jars"), r.Node.Jar},
			Shows: r.Node.shows(r.listed(r.Archive.Spark, r.Node.SparkHome, r.Node.Sparks),
				r.listed(r.Archive.Java, r.Node.JavaHome, r.Node.Javas), ""),
			Bounds: Bounds{Nice: 19, File: archiveMost},
		}})
	if err != nil {
		return errors.Join(err, group.Remove(context.WithoutCancel(ctx)))
	}
	err = r.await(ctx, h, paths)
	if err == nil {
		err = r.take(paths, user)
	}
	if err != nil {
		err = errors.Join(err, r.Runtime.Stop(context.WithoutCancel(ctx), h))
	}
	return errors.Join(err, r.Runtime.Remove(h))
}

// listed is a home of the archive's.
func (r TrainingRun) listed(dir, own string, places Places) home {
	return home{dir: dir, listed: own != "" || places.has(dir)}
}

// await returns when the training run has ended as it should.
func (r TrainingRun) await(ctx context.Context, h Handle, paths Paths) error {
	limit, cancel := context.WithTimeoutCause(ctx, trainingLimit,
		fmt.Errorf("the training run has not ended after %v", trainingLimit))
	defer cancel()
	tick := time.NewTicker(trainingLook)
	defer tick.Stop()
	for {
		status, err := r.Runtime.Inspect(h)
		switch {
		case err != nil:
			return err
		case status.State == api.ExecutorExited && status.ExitCode != 0:
			return fmt.Errorf("the training run ended with %s: %s", status.Exit, lastWords(paths))
		case status.State == api.ExecutorExited:
			return nil
		}
		select {
		case <-limit.Done():
			return context.Cause(limit)
		case <-tick.C:
		}
	}
}

// take copies the archive that the training run has left into the directory of archives. It
// trusts nothing that it finds: a link, or a file of somebody else's, is no archive.
func (r TrainingRun) take(paths Paths, user Credential) error {
	root, err := os.OpenRoot(paths.Work)
	if err != nil {
		return err
	}
	defer root.Close()
	name := r.Archive.Key + archiveSuffix
	if st, err := root.Lstat(name); err != nil || !st.Mode().IsRegular() {
		return fmt.Errorf("the training run left no archive: %s", lastWords(paths))
	}
	from, err := root.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer from.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(from.Fd()), &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || os.Geteuid() == 0 && st.Uid != user.UID || st.Size > int64(archiveMost) {
		return errors.New("the training run left something else than an archive of its own")
	}
	to, err := os.CreateTemp(r.Node.Archives, makingPrefix)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, io.LimitReader(from, int64(archiveMost)))
	if os.Geteuid() == 0 && r.Archive.Of.Name != "" {
		err = errors.Join(err, to.Chown(int(user.UID), int(user.GID)))
	}
	if err = errors.Join(err, to.Chmod(0o444), to.Close()); err == nil {
		err = os.Rename(to.Name(), r.Archive.File(r.Node.Archives))
	}
	if err != nil {
		return errors.Join(err, RemoveFile(to.Name()))
	}
	return nil
}

// command is the training run's command line. Its collector and compiler are the
// cheapest: an archive holds no heap objects and no compiled code.
func (r TrainingRun) command(dir string) []string {
	args := append([]string{filepath.Join(r.Archive.Java, "bin", "java"), "-Xmx512m"}, moduleOptions...)
	args = append(args, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:ActiveProcessorCount=1",
		"-XX:ArchiveClassesAtExit="+r.Archive.File(dir), "-Xlog:cds*=error", "-Djava.io.tmpdir="+dir,
		"-cp", strings.Join(r.Archive.Path, ":"), submitMain)
	for _, setting := range []string{"spark.master=local[1]", "spark.ui.enabled=false", "spark.driver.host=127.0.0.1",
		"spark.driver.bindAddress=127.0.0.1", "spark.sql.shuffle.partitions=2", "spark.sql.warehouse.dir=" + dir} {
		args = append(args, "--conf", setting)
	}
	return append(args, "--class", trainingMain, r.Node.Jar)
}

func (r TrainingRun) environment(paths Paths, user Credential) []string {
	dir := paths.Work
	return []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "HOME=" + dir,
		"USER=" + user.Name, "SPARK_USER=" + user.Name, "SPARK_HOME=" + r.Archive.Spark, "JAVA_HOME=" + r.Archive.Java,
		"SPARK_LOCAL_DIRS=" + dir, "SPARK_LOCAL_IP=127.0.0.1", "SPARK_CONF_DIR=" + dir}
}
