package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestApplicationSecret has Spark authenticate by default, and encrypt where its user
// wants that: the secret of an application is in the environments of its executors and in
// nothing that others see, and an executor that does not have it is none of the
// application's.
func TestApplicationSecret(t *testing.T) {
	realenv.RequireSpark(t)
	realenv.Beside(t)
	s := realenv.New(t)
	settings := t.TempDir() // The file beside which the secret is given goes on to count.
	// Spark logs slow listener events with what is in them: each one counts as slow.
	defaults := "spark.network.crypto.enabled true\nspark.io.encryption.enabled true\nspark.scheduler.listenerbus.logSlowEvent.threshold 1us\n"
	if err := os.WriteFile(filepath.Join(settings, "spark-defaults.conf"), []byte(defaults), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Env = []string{"SPARK_CONF_DIR=" + settings}
	s.StartUp()
	ui := realenv.FreePort(t)
	_, port, _ := strings.Cut(ui, ":")
	seen := filepath.Join(t.TempDir(), "seen") // Until then the executor runs and the page is there.
	run := s.Submit("--conf", "spark.ui.enabled=true", "--conf", "spark.ui.port="+port, "testdata/entrance.py", "2", seen)
	app := awaitTasks(t, s, run)
	pid := executorPID(t, s, app.ID, app.Executors[0].ID)
	env := variables(t, pid)
	at := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, secretVariable) })
	if at < 0 || len(env[at]) < len(secretVariable)+43 {
		t.Fatal("the executor has no secret")
	}
	secret := env[at][len(secretVariable):]
	lacks := func(what, text string) {
		t.Helper()
		for line := range strings.Lines(text) {
			if strings.Contains(line, secret) {
				t.Errorf("%s has the secret: %s", what, strings.ReplaceAll(line, secret, "..."))
			}
		}
	}
	hides := func(what, text string) {
		t.Helper()
		if text == "" {
			t.Errorf("%s has nothing at all", what)
		}
		lacks(what, text)
	}
	if !slices.Contains(processes(t)[pid], "-Dspark.network.crypto.enabled=true") {
		t.Error("the executor does not encrypt, as the driver does")
	}
	stranger := impostor(t, pid, slices.Delete(slices.Clone(env), at, at+1))
	var table strings.Builder
	for _, args := range processes(t) {
		fmt.Fprintln(&table, args)
	}
	hides("the process table", table.String())
	for _, of := range [][]string{{"apps", "show", string(app.ID)}, {"apps", "show", string(app.ID), "-o", "json"}, {"nodes", "-o", "json"}} {
		_, out := s.Pacer(of...)
		hides("pacer "+strings.Join(of, " "), out)
	}
	page := get(t, fmt.Sprintf("http://%s/api/v1/applications/%s/environment", ui, app.ID))
	hides("Spark's environment page", page)
	if !strings.Contains(page, "spark.authenticate") {
		t.Error("the environment page is another one")
	}
	if err := stranger.Wait(); err == nil {
		t.Error("an executor without the secret ended well")
	}
	if err := os.WriteFile(seen, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, run, entranceAnswer)
	app = s.AwaitApp("the run to be finished", patience, ended)
	if app.State != api.AppFinished {
		t.Errorf("%s: %s", app.State, app.Notices)
	}
	for _, e := range app.Executors {
		if e.ID == strangersID {
			t.Error("the stranger became an executor")
		}
	}
	hides("what pacer submit printed", run.Output())
	if !strings.Contains(run.Output(), "Process of event SparkListenerJobStart(") {
		t.Error("Spark logs no slow events")
	}
	hides("what the daemons printed", s.Up.Output())
	for _, pattern := range []string{filepath.Join(s.Events(), "*"), filepath.Join(s.Events(), "*", "*"), filepath.Join(s.Dir, "state", "*", "work", "*", "*", "*", "*.log")} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if body, err := os.ReadFile(file); err == nil {
				lacks(file, string(body))
			}
		}
	}
}

const (
	// secretVariable is where Spark has an executor find its secret.
	secretVariable = "_SPARK_AUTH_SECRET="
	strangersID    = "9999"
)

// variables are the environment of a process.
func variables(t *testing.T, pid int) []string {
	t.Helper()
	body, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(string(body), "\x00"), "\x00")
}

// impostor starts an executor as that of pid, which does not authenticate.
func impostor(t *testing.T, pid int, env []string) *exec.Cmd {
	t.Helper()
	args := slices.Clone(processes(t)[pid])
	args = slices.DeleteFunc(args, func(a string) bool { return strings.HasPrefix(a, "-Dspark.authenticate") })
	args[slices.Index(args, "--executor-id")+1] = strangersID
	c := exec.CommandContext(t.Context(), args[0], args[1:]...)
	c.Env, c.Dir = env, t.TempDir()
	c.WaitDelay = time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

func get(t *testing.T, url string) string {
	t.Helper()
	reply, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, reply.Status, err)
	}
	return string(body)
}
