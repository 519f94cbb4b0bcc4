package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// example is the rigid group of plain programs that the documents have.
const example = "../../docs/examples/parameters"

// described writes a description made of the example's, with ports that are free, and returns its path.
func described(t *testing.T, change ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(example, "app.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	program, err := filepath.Abs(filepath.Join(example, "parameters.py"))
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(realenv.FreePort(t))
	changes := append([]string{"port: 17700", "port: " + port, "[parameters.py]", "[" + program + "]"}, change...)
	path := filepath.Join(t.TempDir(), "app.yaml")
	if err := os.WriteFile(path, []byte(strings.NewReplacer(changes...).Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDescription is the story of a rigid group: 4 workers and 2 servers, as plain programs on two nodes. All start, with
// each other's addresses, and end with the main one; one that fails fails them all, and one line says what cannot be.
func TestDescription(t *testing.T) {
	realenv.RequireSpark(t)
	s := realenv.New(t)
	s.UseArchives(t.TempDir())
	s.StartPlanner()
	s.StartNode()
	s.StartNode("--name", s.Node+"-b", "--state-dir", t.TempDir())
	submit := func(args ...string) (int, string) {
		c := exec.Command(realenv.Binary(t, "pacer"), append([]string{"submit", "--pacer-planner", s.Address}, args...)...)
		c.Env = append(os.Environ(), "PACER_CREDENTIALS_DIR="+s.Credentials())
		out, _ := c.CombinedOutput() // Its exit code says it.
		return c.ProcessState.ExitCode(), string(out)
	}
	s.Await("two nodes", patience, func() bool { return len(s.Nodes()) == 2 })

	code, said := submit("--dry-run", described(t))
	if code != 0 || strings.Count(said, " on node "+s.Node) != 6 || !strings.Contains(said, "servers-1 (128 MiB) on node ") {
		t.Errorf("a dry run ends with %d:\n%s", code, said)
	}
	if code, said = submit(described(t)); code != 0 || !strings.Contains(said, "runs, its chief-0 on node ") {
		t.Fatalf("it ends with %d:\n%s", code, said)
	}
	app := s.Newest()
	nodes := map[string]bool{}
	for _, x := range app.Executors {
		nodes[x.Node] = true
	}
	if app.State != api.AppFinished || app.Name != "parameters" || len(app.Executors) != 6 || len(nodes) != 2 {
		t.Errorf("%s is %s: %+v", app.Name, app.State, app.Executors)
	}
	if code, log := s.Pacer("logs", string(app.ID), "chief-0", "--stream", "stdout"); code != 0 || !strings.Contains(log, "found [3.0, -1.0, 4.0, 1.5]") {
		t.Errorf("the chief's log, with code %d:\n%s", code, log)
	}

	if code, said = submit(described(t, "work, '{{hosts", "fail, '{{host")); code != 64 || !strings.Contains(said, "components[1]: command") {
		t.Errorf("a placeholder of nobody ends with %d:\n%s", code, said)
	}
	if code, said = submit(described(t, "work,", "work, x,")); code != 1 ||
		!strings.Contains(said, "invalid literal for int()") {
		t.Errorf("workers that fail end it with %d:\n%s", code, said)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	path := described(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(text), "port: ")
	if err := os.WriteFile(path, []byte(string(text[:at])+fmt.Sprintf("port: %d #", port)+string(text[at:])), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, said = submit(path); code != 1 || !strings.Contains(said, fmt.Sprintf("port %d of component servers-", port)) {
		t.Errorf("a port that is taken ends it with %d:\n%s", code, said)
	}
	if apps := s.Apps(); apps[0].State != api.AppFailed {
		t.Errorf("with a taken port it is %s", apps[0].State)
	}
}
