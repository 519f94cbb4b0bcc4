package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
)

// side is an executor of the attacks with what belongs to it.
type side struct {
	app    api.AppID
	user   executor.Credential
	group  *cgroup.Group
	paths  executor.Paths
	handle executor.Handle
}

// attack is what an executor tries: a shell script that ends well if it comes through.
type attack struct{ name, script string }

const secret = "swordfish"

// Attacks has an executor of one application try to read, command and harm another one's, the node controller and what
// is the node's, each application with a user of its own. It counts what is refused. It needs root.
func Attacks(t *testing.T, h Harness) {
	r := h.New()
	users := &executor.Users{UIDs: executor.DefaultUIDs, Layout: h.Layout}
	node := nodeFiles(t, h)
	victim := h.side(t, users, "app-victim")
	// The victim's secrets are to be protected: a secret in its environment, its files, its memory and its logs.
	victim.start(t, r, fmt.Sprintf("echo %s >secret; echo %[1]s >%s/block; echo %[1]s; echo %[1]s >&2; "+end+
		"exec /bin/sleep 600",
		secret, victim.paths.Local), "SECRET="+secret)
	victim.awaitEnd(t)

	attacker := h.side(t, users, "app-attacker")
	refused := attacksOn(victim, node)
	own := attacksOnItself(attacker)
	attacker.start(t, r, program(slices.Concat(refused, own, allowed(attacker)), node))
	said := attacker.awaitEnd(t)
	for _, a := range slices.Concat(refused, own) {
		if !strings.Contains(said, "refused: "+a.name+"\n") {
			t.Errorf("not refused: %s (%s)", a.name, a.script)
		}
	}
	// The same scripts do something where they may.
	for _, a := range allowed(attacker) {
		if !strings.Contains(said, "done: "+a.name+"\n") {
			t.Errorf("refused, so the attacks say nothing: %s (%s)", a.name, a.script)
		}
	}
	if state := inspect(t, r, victim.handle).State; state != api.ExecutorRunning {
		t.Errorf("the victim is %s", state)
	}
	planted := node.untouched(t, func() {
		if err := errors.Join(r.Stop(t.Context(), attacker.handle), r.Remove(attacker.handle)); err != nil {
			t.Error(err)
		}
		if err := h.Layout.RemoveLogs([]api.AppID{attacker.app}); err != nil {
			t.Error(err)
		}
	})
	if handles, err := h.New().Recover(); err != nil || len(handles) != 1 || handles[0] != victim.handle {
		t.Errorf("another node controller would take over %v, %v", handles, err)
	}
	if err := errors.Join(r.Stop(t.Context(), victim.handle), r.Remove(victim.handle)); err != nil {
		t.Error(err)
	}
	t.Logf("confine.cases: %d refused, %d planted in vain", len(refused)+len(own), planted)
}

func (h Harness) side(t *testing.T, users *executor.Users, app api.AppID) *side {
	t.Helper()
	user, err := users.Of(app, "")
	if err != nil {
		t.Fatal(err)
	}
	group, err := h.Groups.Group(cgroup.GroupName(app, "1"))
	if err != nil {
		t.Fatal(err)
	}
	paths, err := h.Layout.Paths(app, "1")
	if err != nil {
		t.Fatal(err)
	}
	return &side{app: app, user: user, group: group, paths: paths}
}

func (s *side) start(t *testing.T, r executor.Runtime, script string, env ...string) {
	t.Helper()
	var err error
	s.handle, err = r.Start(t.Context(), executor.Spec{App: s.app, ID: "1", Group: s.group, User: s.user,
		CommandLine: executor.CommandLine{Args: []string{"/bin/sh", "-c", script}, Env: append(env, "PATH=/usr/bin:/bin")}})
	if err != nil {
		t.Fatal(err)
	}
}

// end tells awaitEnd that all is printed: of the two files each may be behind the other.
const end = "echo end; echo end >&2; "

// awaitEnd returns what it has printed when both files have their end.
func (s *side) awaitEnd(t *testing.T) (said string) {
	t.Helper()
	await(t, "the end of "+string(s.app)+"'s words", func() bool {
		out, err1 := os.ReadFile(s.paths.Stdout)
		words, err2 := os.ReadFile(s.paths.Stderr)
		said = string(out) + string(words)
		return errors.Join(err1, err2) == nil && strings.HasSuffix(string(out), "end\n") &&
			strings.HasSuffix(string(words), "end\n")
	})
	return said
}

// program tries all attacks, leaves links where a careless node controller would follow them,
// and runs on.
func program(attacks []attack, node node) string {
	var b strings.Builder
	b.WriteString(
		"attack() { if /bin/sh -c \"$2\" >/dev/null 2>&1; then echo \"done: $1\"; else echo \"refused: $1\"; fi; }\n")
	for _, a := range attacks {
		fmt.Fprintf(&b, "attack '%s' '%s'\n", a.name, a.script)
	}
	for i, target := range node.targets() {
		fmt.Fprintf(&b, "ln -s %s link%d; ln -s %[1]s ../../local/link%[2]d\n", target, i)
	}
	// It is named as directories and files are that a node controller makes.
	fmt.Fprintf(&b, "ln -s %s tmp; ln -s %s ../../local/passwd; echo forged >../../local/handle.json\n", node.dir,
		node.file)
	b.WriteString(end + "exec /bin/sleep 600")
	return b.String()
}

// attacksOn are what it must not be able to do to another application and to the node.
func attacksOn(v *side, n node) []attack {
	join := v.group.JoinFiles()[0]
	process := fmt.Sprintf("/proc/%d", v.handle.PID)
	ptrace := "/usr/bin/python3 -c \"import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(16, %d, 0, 0) != 0)\""
	return []attack{
		{"read its work directory", "cat " + v.paths.Work + "/secret"},
		{"list its work directory", "ls " + v.paths.Work},
		{"write into its work directory", "echo x >" + v.paths.Work + "/x"},
		{"read its blocks", "cat " + v.paths.Local + "/block"},
		{"replace its blocks", "echo x >" + v.paths.Local + "/block"},
		{"list its directory", "ls " + v.paths.Dir},
		{"list the directory of its application", "ls " + filepath.Dir(v.paths.Dir)},
		{"list all applications", "ls " + filepath.Dir(filepath.Dir(v.paths.Dir)) + " | grep " + string(v.app)},
		{"read its output", "cat " + v.paths.Stdout},
		{"read its log", "cat " + v.paths.Stderr},
		{"write its log", "echo x >>" + v.paths.Stderr},
		{"read its progress page", "cat " + v.paths.Page},
		{"write its progress page", "echo x >>" + v.paths.Page},
		{"read its wish page", "cat " + v.paths.Wish},
		{"write its wish page", "echo x >>" + v.paths.Wish},
		{"read its handle", "cat " + v.paths.Handle},
		{"give its log another name", "ln " + v.paths.Stderr + " theirs"},
		{"read its environment", "grep -q " + secret + " " + process + "/environ"},
		{"read its memory", ": <" + process + "/mem"},
		{"see its open files", "ls " + process + "/fd/1"},
		{"enter its directory by its process", "ls " + process + "/cwd/"},
		{"trace it", fmt.Sprintf(ptrace, v.handle.PID)},
		{"reach it by a signal", fmt.Sprintf("kill -0 %d", v.handle.PID)},
		{"kill it", fmt.Sprintf("kill -9 %d", v.handle.PID)},
		{"stop its whole group", fmt.Sprintf("kill -STOP -%d", v.handle.PID)},
		{"join its group", "echo 0 >" + join},
		{"take its quota", "echo 1000 >" + filepath.Join(filepath.Dir(join), "cpu.cfs_quota_us") + " || echo 1000 >" +
			filepath.Join(filepath.Dir(join), "cpu.max")},
		{"make a group", "mkdir " + filepath.Join(filepath.Dir(join), "x")},
		{"leave its own group", "echo 0 >" + filepath.Join(filepath.Dir(filepath.Dir(join)), "cgroup.procs")},
		{"reach the node controller by a signal", fmt.Sprintf("kill -0 %d", os.Getpid())},
		{"trace the node controller", fmt.Sprintf(ptrace, os.Getpid())},
		{"read the environment of the node controller", fmt.Sprintf("cat /proc/%d/environ", os.Getpid())},
		{"read the state of the node", "cat " + n.file},
		{"write the state of the node", "echo x >>" + n.file},
		{"replace the state of the node", "rm -f " + n.file + " && echo x >" + n.file},
		{"put an archive where others look for it", "echo x >" + n.dir + "/evil.jsa"},
		{"put a file among the applications", "mkdir " + filepath.Dir(filepath.Dir(v.paths.Dir)) + "/app-forged"},
		{"become root", "/usr/bin/python3 -c \"import os; os.setuid(0)\""},
		{"become the victim", fmt.Sprintf("/usr/bin/python3 -c \"import os; os.setuid(%d)\"", v.user.UID)},
		{"take a group", "/usr/bin/python3 -c \"import os; os.setgroups([0])\""},
		{"mount over a directory", "mount -t tmpfs none /tmp"},
		{"read the passwords of the machine", "cat /etc/shadow"},
	}
}

// attacksOnItself are what it must not be able to do to its own: put something into the place
// of what the node controller opens.
func attacksOnItself(a *side) []attack {
	dir := filepath.Dir(a.paths.Dir)
	return []attack{
		{"put a file beside its own", "echo x >" + a.paths.Dir + "/handle2.json"},
		// Without -f: the handle may not be there yet, and that is no success.
		{"replace its handle", "rm " + a.paths.Handle + " || echo x >" + a.paths.Handle},
		{"replace its log by a link", "rm " + a.paths.Stderr},
		{"replace its page by a link", "ln -sf /etc/shadow " + a.paths.Page},
		{"replace its work directory by a link", "mv " + a.paths.Work + " " + a.paths.Dir + "/elsewhere"},
		{"replace its local directories by a link", "mv " + a.paths.Local + " " + dir + "/elsewhere"},
		{"add an executor", "mkdir " + dir + "/2"},
		{"open its directory to others", "chmod 777 " + dir + " || chmod 777 " + a.paths.Dir},
		{"write its wish page itself", "echo x >>" + a.paths.Wish},
		{"rename itself in the list of users", "echo x >>" + a.paths.Passwd},
	}
}

// allowed are scripts like those of the attacks on what is its own.
func allowed(a *side) []attack {
	return []attack{
		{"read a file", "echo x >own && cat own"},
		{"write blocks", "echo x >" + a.paths.Local + "/own"},
		{"write a page", "head -c 8 " + a.paths.Page + " && : >>" + a.paths.Page},
		{"read a wish", "head -c 8 " + a.paths.Wish},
		{"reach itself by a signal", "kill -0 $$"},
		{"know its name", "id -un | grep -q pacer-"},
	}
}

// node are files of a node controller's.
type node struct{ dir, file string }

func nodeFiles(t *testing.T, h Harness) node {
	t.Helper()
	n := node{dir: filepath.Join(filepath.Dir(h.Layout.Root), "archive")}
	n.file = filepath.Join(filepath.Dir(h.Layout.Root), "node.db")
	for _, path := range []string{n.file, filepath.Join(n.dir, "a.jsa")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(secret), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func owners(st os.FileInfo) string {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprint(sys.Uid, ":", sys.Gid)
}

func (n node) targets() []string { return []string{n.dir, n.file, filepath.Join(n.dir, "a.jsa")} }

// untouched checks that f, in which the node controller clears up, changes nothing of its own
// through what an executor has planted. It returns how much that was.
func (n node) untouched(t *testing.T, f func()) int {
	t.Helper()
	look := func() (all []string) {
		for _, path := range n.targets() {
			st, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := os.ReadFile(path)
			all = append(all, fmt.Sprintf("%s %v %v %q", path, st.Mode(), owners(st), body))
		}
		return all
	}
	before := strings.Join(look(), "\n")
	f()
	if after := strings.Join(look(), "\n"); after != before {
		t.Errorf("what was planted has led the node controller astray:\n%s\nbefore:\n%s", after, before)
	}
	return 2*len(n.targets()) + 3
}
