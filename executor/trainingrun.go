package executor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// TrainingRun makes an Archive by a training run: a small application in a JVM of
// its own that loads what drivers and executors load (org.apache.spark.pacer.TrainingRun
// of the jar) and leaves the archive when it exits. It takes some 40 core-seconds
// (docs/decisions/013) and goes behind everything else on the machine (nice 19).
type TrainingRun struct {
	Archive Archive
	// Dir is the directory of archives, made if need be.
	Dir string
	// Jar is the pacer-spark jar.
	Jar string
	// User is whom the training run runs as, never more than the executors: the
	// Spark is one that an application has named. The archive belongs to it.
	User Credential
	// Keep is how many archives may be in Dir afterwards; the newest stay.
	Keep int
}

// ErrArchiveBusy says that another process is making an archive in the directory.
var ErrArchiveBusy = errors.New("another process is making an archive there")

const (
	// trainingMain is the training run's class, submitMain what starts it: the
	// archive holds what a driver's start loads, too.
	trainingMain = "org.apache.spark.pacer.TrainingRun"
	submitMain   = "org.apache.spark.deploy.SparkSubmit"
	// makingPrefix starts the names of directories of unfinished archives.
	makingPrefix = ".making-"
)

// Make makes the archive unless it is there; it appears whole or not at all.
// When ctx ends the training run is killed. It takes tens of seconds and is safe
// beside other processes that make archives in the same directory: all but one
// return ErrArchiveBusy.
func (r TrainingRun) Make(ctx context.Context) error {
	if err := r.make(ctx); err != nil {
		return fmt.Errorf("make a class-data archive: %w", err)
	}
	return nil
}

func (r TrainingRun) make(ctx context.Context) error {
	if err := os.MkdirAll(r.Dir, 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(r.Dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
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
	if r.Archive.Usable(r.Dir, r.User.UID) {
		return nil
	}
	dir, err := os.MkdirTemp(r.Dir, makingPrefix)
	if err != nil {
		return err
	}
	uid, gid := owner(r.User)
	err = os.Chown(dir, uid, gid)
	if err == nil {
		err = r.train(ctx, dir)
	}
	if err == nil {
		err = os.Rename(r.Archive.File(dir), r.Archive.File(r.Dir))
	}
	if err == nil {
		err = r.prune()
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// sweep removes what an interrupted making has left; the caller has the lock.
func (r TrainingRun) sweep() error {
	left, err := filepath.Glob(filepath.Join(r.Dir, makingPrefix+"*"))
	for _, dir := range left {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// prune removes all archives but the newest.
func (r TrainingRun) prune() error {
	files, err := filepath.Glob(filepath.Join(r.Dir, "*"+archiveSuffix))
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
	var files []string
	for file := range made {
		files = append(files, file)
	}
	slices.SortFunc(files, func(a, b string) int {
		if c := made[b].Compare(made[a]); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	return files[min(keep, len(files)):]
}

// train runs the training run in dir and checks what it leaves there.
func (r TrainingRun) train(ctx context.Context, dir string) error {
	args := r.command(dir)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, r.environment(dir)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: r.User.UID, Gid: r.User.GID}
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = Grace
	if err := startNice(cmd); err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil {
		return errors.Join(context.Cause(ctx), fmt.Errorf("the training run ended with %w: %s", err, lastLine(said.String())))
	}
	if !r.Archive.Usable(dir, r.User.UID) {
		return fmt.Errorf("the training run left no archive: %s", lastLine(said.String()))
	}
	return nil
}

// startNice starts cmd with the lowest priority: a child inherits that of the
// thread that forks, and the thread ends with its goroutine.
func startNice(cmd *exec.Cmd) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		// Without the right to be nicer it is only less nice.
		_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 19)
		started <- cmd.Start()
	}()
	return <-started
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
	return append(args, "--class", trainingMain, r.Jar)
}

func (r TrainingRun) environment(dir string) []string {
	return []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "HOME=" + dir,
		"USER=" + r.User.Name, "SPARK_USER=" + r.User.Name, "SPARK_HOME=" + r.Archive.Spark, "JAVA_HOME=" + r.Archive.Java,
		"SPARK_LOCAL_DIRS=" + dir, "SPARK_LOCAL_IP=127.0.0.1", "SPARK_CONF_DIR=" + dir}
}

// lastLine is what a process said last, at most 300 bytes of it.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	line := lines[len(lines)-1]
	if line == "" {
		return "it said nothing"
	}
	return line[max(0, len(line)-300):]
}
