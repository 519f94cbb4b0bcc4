package cli

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// saying makes a pipe into which a fake spark-submit says line by line what happens to it (exec 3>path),
// and returns what reads the next one, "" when it has ended.
func saying(t *testing.T) (path string, next func() string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	var lines *bufio.Reader
	return path, func() string {
		t.Helper()
		if lines == nil {
			file, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = file.Close() })
			lines = bufio.NewReader(file)
		}
		line, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			t.Fatal(err)
		}
		return strings.TrimSpace(line)
	}
}

// What a caller has decided for spark-submit holds below pacer submit, too: the same script says the
// same of itself, with pacer submit between or without, and signals that are ignored end neither.
func TestSubmitHandsDownWhatItsCallerDecided(t *testing.T) {
	const inherited = `grep -E "^Sig(Blk|Ign)" /proc/self/status; umask; nice; ulimit -a; cat <&7`
	caller := func(env []string, program string) *exec.Cmd {
		cmd := exec.Command("/bin/sh", "-c", `trap "" HUP INT QUIT TSTP; umask 027; ulimit -S -n 321; ulimit -c 0; exec nice -n 3 "$0" 7</etc/hostname`, program)
		cmd.Env = env
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return cmd
	}
	direct := filepath.Join(t.TempDir(), "direct")
	if err := os.WriteFile(direct, []byte("#!/bin/sh\n"+inherited), 0o755); err != nil {
		t.Fatal(err)
	}
	want, err := caller(os.Environ(), direct).Output()
	if err != nil || !strings.Contains(string(want), "0027\n3\n") || !strings.Contains(string(want), "321") {
		t.Fatalf("%s, %v", want, err)
	}

	w := newWorld(t)
	f := startPlanner(t, ended(nil))
	path, next := saying(t)
	said := filepath.Join(t.TempDir(), "said")
	home := w.fakeSpark(t, "("+inherited+") >"+said+"; exec 3>"+path+`; trap 'echo USR1 >&3; exit 3' USR1; echo up >&3; while :; do sleep 0.05; done`)
	cmd := caller(submits(home, f), os.Args[0])
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if got := next(); got != "up" {
		t.Fatal(got)
	}
	if got, err := os.ReadFile(said); err != nil || string(got) != string(want) {
		t.Errorf("below pacer submit:\n%s%v\nwithout it:\n%s", got, err, want)
	}
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGUSR1} {
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	if got := next(); got != "USR1" {
		t.Errorf("spark-submit says %q", got)
	}
	_ = cmd.Wait()
	if r := f.last(t, api.VerbExit); r.ExitCode != 3 || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("reported %+v, exit code %d", r, cmd.ProcessState.ExitCode())
	}
}

// On a terminal spark-submit is where its caller is: Ctrl-C comes once, it reads what is typed, Ctrl-Z
// stops it and fg has it go on.
func TestSubmitOnATerminal(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, ended(nil))
	path, next := saying(t)
	// It speaks when it has the terminal. What is typed is read beside the shell: a shell may begin to
	// read between a signal and its trap, and the trap would wait for a line. It starts no program either:
	// a shell that does is not stopped meanwhile.
	home := w.fakeSpark(t, "exec 3>"+path+`; trap 'echo INT >&3' INT; trap 'echo USR1 >&3' USR1; trap 'exit 7' TERM
until read _ _ _ _ group _ _ front _ </proc/$$/stat; [ "$group" = "$front" ]; do sleep 0.05; done; echo $$ >&3
(while read line; do echo "read $line" >&3; [ "$line" = end ] && kill -TERM $$; done) </dev/tty &
while :; do wait $!; done`)
	cmd := exec.Command("/bin/bash", "--norc", "-mc", `"$0" & echo "pacer $!"; fg >/dev/null; echo "stopped $?"; read line; fg >/dev/null; echo "ended $?"`, os.Args[0])
	cmd.Env = submits(home, f)
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	shown := bufio.NewReader(tty)
	await := func(prefix string) string {
		t.Helper()
		for {
			line, err := shown.ReadString('\n')
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
				return rest
			}
			if err != nil {
				t.Fatalf("no %q: %v", prefix, err)
			}
		}
	}
	typed := func(text string) {
		t.Helper()
		if _, err := tty.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	want := func(line string) {
		t.Helper()
		if got := next(); got != line {
			t.Fatalf("spark-submit says %q, want %q", got, line)
		}
	}
	pacer, _ := strconv.Atoi(await("pacer "))
	spark := next()
	typed("a password\n")
	want("read a password")
	typed("\x03")
	want("INT")
	if err := syscall.Kill(pacer, syscall.SIGUSR1); err != nil { // It would come after one more.
		t.Fatal(err)
	}
	want("USR1")
	typed("\x1a")
	await("stopped 148")
	realenv.Await(t, "spark-submit is stopped", func() bool {
		// Its reader, too: it would take the first letters that are typed for the shell.
		children, err := os.ReadFile("/proc/" + spark + "/task/" + spark + "/children")
		all := append(strings.Fields(string(children)), spark)
		return err == nil && !slices.ContainsFunc(all, func(pid string) bool {
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			return err != nil || !strings.Contains(string(stat), ") T ")
		})
	})
	typed("go on\n")
	typed("end\n")
	want("read end")
	await("ended 7")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if r := f.last(t, api.VerbExit); r.ExitCode != 7 {
		t.Errorf("reported %+v", r)
	}
}
