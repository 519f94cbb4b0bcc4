package daemon_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/units"
)

// stranger is another user of the machine, as TestMain runs it in a process with a user id of its
// own: it tries all that is named to it and prints how each has ended.
type stranger struct {
	// Files and Dirs are read, written and put files into; Daemon is the daemons' process.
	Files, Dirs []string
	Daemon      int
	// Buses are the ways to the planner, with the authority of one that is secured; Logins are
	// whom it says to be. Pages are asked over HTTP.
	Buses  map[string]string
	Logins []string
	Pages  []string
}

const strangerEnv = "PACER_TEST_STRANGER"

// attack is what was tried; Error is why it failed, "" if it did not.
type attack struct{ What, Error string }

// otherUser is a user id that is nobody's.
const otherUser = 64321

func (s stranger) run() error {
	var done []attack
	try := func(err error, what string, args ...any) {
		a := attack{What: fmt.Sprintf(what, args...)}
		if err != nil {
			a.Error = err.Error()
		}
		done = append(done, a)
	}
	for _, path := range s.Files {
		f, err := os.Open(path)
		_ = f.Close()
		try(err, "read %s", path)
		f, err = os.OpenFile(path, os.O_WRONLY, 0)
		_ = f.Close()
		try(err, "write %s", path)
		try(os.Remove(path), "remove %s", path)
		try(os.Chmod(path, 0o666), "change the mode of %s", path)
	}
	for _, dir := range s.Dirs {
		_, err := os.ReadDir(dir)
		try(err, "list %s", dir)
		try(os.WriteFile(filepath.Join(dir, "planted"), nil, 0o666), "plant in %s", dir)
		try(os.Rename(dir, dir+".away"), "move %s", dir)
	}
	try(syscall.Kill(s.Daemon, syscall.SIGKILL), "kill the daemons")
	try(syscall.PtraceAttach(s.Daemon), "trace the daemons")
	for _, name := range []string{"environ", "mem", "maps"} {
		_, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", s.Daemon, name))
		try(err, "read /proc of the daemons: %s", name)
	}
	for address, authority := range s.Buses {
		for _, login := range s.Logins {
			c := bus.Credential{}
			if login != "" {
				c = bus.NewCredential(login)
			}
			conn, err := bus.Dial(bus.Options{Address: address, Credential: c, TLS: bus.TLS{CA: authority}})
			if err == nil {
				conn.Close()
			}
			try(err, "connect to %s as %q", address, login)
		}
	}
	for _, page := range s.Pages {
		for _, token := range []string{"", "user-tester:guessed", "node-n1:guessed"} {
			request, err := http.NewRequest(http.MethodGet, page, nil)
			if err != nil {
				return err
			}
			if token != "" {
				request.Header.Set("Authorization", "Bearer "+token)
			}
			answer, err := http.DefaultClient.Do(request)
			if err == nil {
				if _ = answer.Body.Close(); answer.StatusCode != http.StatusOK {
					err = errors.New(answer.Status)
				}
			}
			try(err, "get %s by the token %q", page, token)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(done)
}

// attacks has the stranger try; its binary is a copy, for that of a test stands where root alone
// can go.
func (s stranger) attacks(t *testing.T, dir string) []attack {
	t.Helper()
	program := filepath.Join(dir, "stranger")
	body, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(program, body, 0o755)
	}
	request, encodeErr := json.Marshal(s)
	if err := errors.Join(err, encodeErr); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program)
	c.Env, c.Dir, c.Stderr = []string{strangerEnv + "=" + string(request)}, "/", os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUser, Gid: otherUser}}
	out, err := c.Output()
	var done []attack
	if err := errors.Join(err, json.Unmarshal(out, &done)); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return done
}

// open is a directory that everybody can reach, as a state directory is.
func open(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "open")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// below are the files and directories below dir that are not for everybody to read: the jar and
// archives, which executors need, are.
func below(t *testing.T, dir string) (files, dirs, public []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch rel, _ := filepath.Rel(dir, path); {
		case err != nil:
			return err
		case d.IsDir():
			dirs = append(dirs, path)
		case d.Type().IsRegular():
			if files = append(files, path); strings.HasPrefix(rel, "jar/") || strings.HasPrefix(rel, "archive/") {
				public = append(public, path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, dirs, public
}

// Another user of the machine gets nothing of a planner and a node controller, and nothing done:
// neither by their files, nor their process, nor on the bus, embedded or a nats-server, nor over
// HTTP. Each attack fails for its own reason.
func TestAnotherUserOfTheMachineIsKeptOut(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
	root := open(t)
	w, text := newWorld(t), &logs{}
	cfg := daemon.UpConfig{Planner: plannerConfig(t), Node: w.node(t)}
	state, home, groups := filepath.Join(root, "state"), filepath.Join(root, "home"), w.tree.Root
	cfg.Planner.State, cfg.Node.State, cfg.Planner.Owners[0].Dir = state, state, filepath.Join(home, "credentials")
	cfg.Planner.Logger, cfg.Node.Logger = text.logger(), text.logger()
	if err := errors.Join(os.MkdirAll(home, 0o755), os.Chmod(groups, 0o755), os.Chmod(filepath.Dir(groups), 0o755)); err != nil {
		t.Fatal(err)
	}
	line, _ := launch(t, func(ctx context.Context, ready func(string)) error {
		cfg.Ready = ready
		return daemon.Up(ctx, cfg)
	})
	address := regexp.MustCompile(`planner on (\S+),`).FindStringSubmatch(line)[1]

	// An application that runs, with a secret and an executor.
	conn, err := bus.Dial(bus.Options{Address: address, Credential: own(t, cfg.Planner, address)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	secret := bus.NewCredential("")
	app, err := conn.Register(t.Context(), api.RegisterRequest{V: api.Version, Submission: "u1", Name: "wc", Key: secret.Key(),
		Launch: api.Launch{DriverURL: "spark://x", Heap: 512 * units.MiB, SparkVersion: "4.2.0", Env: map[string]string{"_SPARK_AUTH_SECRET": "hidden"}}})
	if err != nil {
		t.Fatal(err)
	}
	h := soon(t, "an executor", w.started)
	if _, err := conn.Control(t.Context(), api.VerbIssue, api.ControlRequest{Issue: &api.Issue{
		Principal: api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: api.RoleView}, Key: bus.NewCredential("user-ann").Key()}}); err != nil {
		t.Fatal(err)
	}

	// The other way to a planner: a nats-server that asks it.
	server, credentials, trust := outside(t)
	server.Start()
	other := plannerConfig(t)
	other.NatsURL, other.Credentials, other.TLS = server.URL(), credentials, trust
	launch(t, func(ctx context.Context, ready func(string)) error {
		other.Ready = ready
		return daemon.Planner(ctx, other)
	})
	authority := filepath.Join(root, "ca.pem")
	if body, err := os.ReadFile(trust.CA); err != nil || os.WriteFile(authority, body, 0o644) != nil {
		t.Fatal(err)
	}

	s := stranger{Daemon: os.Getpid(), Buses: map[string]string{address: "", server.URL(): authority},
		Logins: []string{"", "user-tester", "user-ann", "user-" + strconv.Itoa(otherUser), "node-n1", "planner", string(app.AppID)}}
	for _, url := range regexp.MustCompile(`http=(http://\S+)`).FindAllStringSubmatch(text.String(), -1) {
		if !slices.Contains(s.Pages, url[1]+"/metrics") {
			s.Pages = append(s.Pages, url[1]+"/metrics")
		}
	}
	var public []string
	s.Files, s.Dirs, public = below(t, state)
	for _, want := range []string{"planner.db", "node.db", "audit.log", "credentials/principals.json", "work/apps/" + string(h.App) + "/1/handle.json"} {
		if !slices.Contains(s.Files, filepath.Join(state, want)) {
			t.Errorf("no file %s among %v", want, s.Files)
		}
	}
	if len(s.Pages) < 2 {
		t.Errorf("pages %v, want those of planner and node", s.Pages)
	}
	mine, dirs, _ := below(t, home)
	s.Files, s.Dirs = append(s.Files, mine...), append(s.Dirs, dirs[1:]...)
	quotas, _, _ := below(t, groups)
	done := append(s.attacks(t, root), stranger{Files: quotas, Daemon: s.Daemon}.attacks(t, root)...)

	refusedBecause := func(a attack) string {
		verb, _, _ := strings.Cut(a.What, " ")
		switch verb {
		case "connect":
			if strings.Contains(a.What, `""`) {
				return "no credentials for this planner: ask its operator for `pacer auth issue"
			}
			return "refused the credentials of"
		case "get":
			return "401 Unauthorized"
		case "kill", "trace", "change":
			return "operation not permitted"
		}
		return "permission denied"
	}
	// What is said to everybody: that there is a state directory, what executors run, and groups,
	// which the kernel shows.
	shown := func(a attack) bool {
		verb, path, _ := strings.Cut(a.What, " ")
		return verb == "list" && slices.Contains([]string{state, filepath.Join(state, "work"), filepath.Join(state, "work", "apps"), filepath.Join(state, "jar"),
			filepath.Join(state, "archive"), filepath.Join(home)}, path) || verb == "read" && (slices.Contains(public, path) || slices.Contains(quotas, path))
	}
	if len(done) < 100 {
		t.Errorf("%d attacks only", len(done))
	}
	for _, a := range done {
		why := refusedBecause(a)
		inside := strings.Contains(a.What, "change the mode") && strings.Contains(a.Error, "permission denied") // It does not even get there.
		if !shown(a) && !inside && !strings.Contains(a.Error, why) {
			t.Errorf("%s: %q, want %q", a.What, a.Error, why)
		}
		if strings.Contains(a.Error, "hidden") || strings.Contains(a.Error, secret.Secret) {
			t.Errorf("%s tells a secret", a.What)
		}
	}
	t.Logf("auth.cases %d", len(done))
	// Whoever says nothing hears nothing: the embedded server closes the connection.
	raw, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if err := errors.Join(raw.SetDeadline(time.Now().Add(time.Minute)), func() error { _, err := raw.Write([]byte("SUB pacer.v1.> 1\r\nPING\r\n")); return err }()); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(raw)
	refused := false
	for said.Scan() {
		refused = refused || strings.Contains(said.Text(), "Authorization Violation")
		if strings.HasPrefix(said.Text(), "MSG") {
			t.Errorf("it hears %s", said.Text())
		}
	}
	if !refused {
		t.Error("a connection that says nothing of whose it is was not refused")
	}
	if got := soon(t, "the planner's answer", pinged(conn)); got != nil {
		t.Errorf("after all that: %v", got)
	}
}

func pinged(c *bus.Conn) <-chan error {
	out := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err := c.Control(ctx, api.VerbPing, api.ControlRequest{})
		out <- err
	}()
	return out
}
