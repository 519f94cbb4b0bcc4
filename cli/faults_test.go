package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
)

// A fault has the same exit code in every command, and one line with the value, the rule and what to do.
func TestFaultsHaveOneCodeEach(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{apps: []api.AppDetail{{AppSummary: api.AppSummary{ID: "app-1", Name: "etl"}}}})
	w.fakeSpark(t, "exit 0")
	dir := t.TempDir()
	for name, body := range map[string]string{"broken.yaml": "planner: {listen: [\n", "twice.yaml": "node: {name: a}\nnode: {}\n", "wrong.yaml": "planner: {max-pool: many, history: -1}\nnode: {memory: lots}\n",
		"broken.json": "{\"v\": 1,\n \"name\": ,}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	const none, away = "/does/not/exist", "127.0.0.1:1"
	linked := in("linked")
	if err := errors.Join(os.Mkdir(linked, 0o755), os.WriteFile(filepath.Join(linked, SubmitNames[0]), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	rows := map[string]struct {
		code int
		says string
	}{
		"apps extra":                                              {command.ExitUsage, `unknown command "extra"`},
		"apps --frob":                                             {command.ExitUsage, "--frob"},
		"apps cap app-1 lots":                                     {command.ExitUsage, `"lots", want a number of cores, 0 for no cap`},
		"cap app-1 -- -1":                                         {command.ExitUsage, `"-1", want a number of cores`},
		"identify app-1 --stage abc":                              {command.ExitUsage, `"abc" for "--stage" flag: want a whole number`},
		"deadline app-1 soon":                                     {command.ExitUsage, `"soon": want a number with us, ms, s, m, h or d`},
		"deadline app-1 15":                                       {command.ExitUsage, `"15" has no unit: 15s or 15m?`},
		"submit --pacer-deadline 15 app.py":                       {command.ExitUsage, `--pacer-deadline: "15" has no unit: 15s or 15m?`},
		"submit --pacer-deadline x app.py":                        {command.ExitUsage, `"x": want a number`},
		"--planner " + away + " submit app.py":                    {command.ExitUnavailable, "no planner answers at " + away},
		"submit --planner " + away + " app.py":                    {command.ExitUnavailable, "no planner answers at " + away},
		"--set client.planner=" + away + " submit app.py":         {command.ExitUnavailable, "no planner answers at " + away},
		"submit --set client.planner=" + away + " app.py":         {command.ExitUnavailable, "no planner answers at " + away},
		"submit --set frob=1 app.py":                              {command.ExitConfig, "unknown key frob"},
		"submit --pacer-by never app.py":                          {command.ExitUsage, "never"},
		"submit":                                                  {command.ExitUsage, "needs an application"},
		"plan --deadline 5m":                                      {command.ExitUsage, "want one of --profile and --eventlog"},
		"plan --profile p --deadline 15":                          {command.ExitUsage, `"15" has no unit`},
		"auth issue --node a --user b":                            {command.ExitUsage, "give one of --node, --user and --join"},
		"auth issue --join --nodes worker-[":                      {command.ExitUsage, `"worker-[" is not a pattern of names`},
		"auth issue --user ann --role king":                       {command.ExitUsage, `role is "king", want one of`},
		"report --by colour":                                      {command.ExitUsage, "colour"},
		"logs app-1 --stream stdin":                               {command.ExitUsage, `"stdin": want stderr or stdout`},
		"profiles put " + in("broken.json"):                       {command.ExitUsage, "broken.json: profile: line 2"},
		"--set frob=1 apps":                                       {command.ExitConfig, "unknown key frob"},
		"--config " + in("broken.yaml") + " apps":                 {command.ExitConfig, "line"},
		"--config " + in("twice.yaml") + " apps":                  {command.ExitConfig, `configuration: ` + in("twice.yaml") + `: line 2: mapping key "node" already defined at line 1`},
		"--config " + in("wrong.yaml") + " apps":                  {command.ExitConfig, `planner.max-pool: "many", want 1 or more executors`},
		"--config " + in("wrong.yaml") + " apps show x":           {command.ExitConfig, "node.memory"},
		"--config " + none + " apps":                              {command.ExitNoInput, none},
		"profiles put " + none:                                    {command.ExitNoInput, none},
		"replay " + none:                                          {command.ExitNoInput, none},
		"simulate " + none + ".txt":                               {command.ExitNoInput, none},
		"trace " + none:                                           {command.ExitNoInput, none},
		"restore " + none:                                         {command.ExitNoInput, none},
		"restore " + in("broken.json"):                            {command.ExitUsage, "broken.json: at byte 0 of 20: no record"},
		"profiles from-eventlog " + none:                          {command.ExitNoInput, none},
		"--planner " + away + " apps":                             {command.ExitUnavailable, "no planner answers at " + away},
		"--planner " + away + " plan --profile p --deadline 5m":   {command.ExitUnavailable, "no planner answers"},
		"--planner " + away + " auth list":                        {command.ExitUnavailable, "no planner answers"},
		"link " + none:                                            {command.ExitNoInput, none},
		"link " + in("broken.json"):                               {command.ExitNoInput, "not a directory"},
		"link " + linked:                                          {command.ExitFailure, "spark-submit: file exists"},
		"jar install " + none:                                     {command.ExitNoInput, none},
		"submit " + in("broken.yaml"):                             {command.ExitUsage, "broken.yaml: yaml: line"},
		"submit " + none + ".yaml":                                {command.ExitNoInput, none},
		"profiles put " + dir:                                     {command.ExitNoInput, "is a directory"},
		"profiles knee":                                           {command.ExitUsage, "accepts 1 arg(s), received 0"},
		"profiles knee p --frob":                                  {command.ExitUsage, "--frob"},
		"profiles knee p --owner a --shared":                      {command.ExitUsage, "[owner shared] were all set"},
		"--planner " + away + " profiles knee p":                  {command.ExitUnavailable, "no planner answers"},
		"report --since soon":                                     {command.ExitUsage, `"soon", want a time such as 30d`},
		"report --since 30d extra":                                {command.ExitUsage, `"extra"`},
		"--planner " + away + " report":                           {command.ExitUnavailable, "no planner answers"},
		"replay " + dir:                                           {command.ExitNoInput, "is a directory"},
		"replay " + in("broken.json"):                             {command.ExitUsage, "no history of pacer"},
		"profiles from-eventlog " + in("broken.yaml"):             {command.ExitUsage, "broken.yaml makes no profile"},
		"plan --deadline 5m --eventlog " + in("broken.yaml"):      {command.ExitUsage, "broken.yaml makes no profile"},
		"trace " + in("broken.json"):                              {command.ExitNoInput, "not a directory"},
		"supervisor frob":                                         {command.ExitUsage, `unknown command "frob"`},
		"supervisor":                                              {command.ExitUsage, "needs a sub-command"},
		"down extra":                                              {command.ExitUsage, `"extra"`},
		"down --state-dir " + none:                                {command.ExitFailure, "no pacer up runs with its state in " + none},
		"--config " + none + " down":                              {command.ExitNoInput, none},
		"up --detach extra":                                       {command.ExitUsage, `"extra"`},
		"--config " + none + " up --detach":                       {command.ExitNoInput, none},
		"up --detach --runtime podman":                            {command.ExitConfig, `node.runtime: "podman"`},
		"up --detach --state-dir " + in("broken.json"):            {command.ExitConfig, "not a directory"},
		"--set client.credentials=" + none + " apps":              {command.ExitConfig, none},
		"--set client.tls-ca=" + none + " apps":                   {command.ExitConfig, none},
		"--set client.credentials=" + in("broken.json") + " apps": {command.ExitDenied, "want login:secret"},
		"show app-1":                                              {command.ExitUsage, `unknown command "show"`},
		"apps show app-9":                                         {command.ExitFailure, "app-9"},
	}
	fmt.Printf("errors.rows %d\n", len(rows))
	for line, want := range rows {
		args := strings.Fields(line)
		if !strings.HasPrefix(line, "--planner") && !strings.HasPrefix(line, "--set client.planner") && !strings.HasPrefix(line, "submit") {
			args = append([]string{"--planner", f.address}, args...)
		}
		o := w.run(t, args...)
		if lines := strings.Count(strings.TrimSuffix(o.err, "\n"), "\n"); o.code != want.code || !strings.Contains(o.err, want.says) || lines > 0 ||
			strings.Contains(o.err, "strconv") {
			t.Errorf("%s: exit code %d, want %d; want one line with %q, got %q", line, o.code, want.code, want.says, o.err)
		}
	}
	for err, want := range map[error]int{
		errors.Join(fs.ErrNotExist): command.ExitNoInput, command.Usagef("x: %w", fs.ErrNotExist): command.ExitNoInput,
		command.Usagef("x: %w", fs.ErrPermission): command.ExitNoInput, command.Configured(fs.ErrNotExist): command.ExitConfig,
		command.Configured(command.Usagef("x: %w", fs.ErrNotExist)): command.ExitNoInput, command.Configured(fs.ErrPermission): command.ExitDenied,
		command.Coded(command.ExitNotFound, fs.ErrNotExist): command.ExitNotFound, api.Errorf(api.KindInfeasible, "x"): command.ExitInfeasible,
		api.Errorf(api.KindDenied, "x"): command.ExitDenied,
	} {
		if got := command.ExitCode(err); got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
}

// A variable that looks like Pacer's and sets nothing is another program's, or misspelt: a line says so, and all goes on.
func TestAnUnknownVariableIsSaidAndEndsNothing(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	w.env["PACER_PLANNER_GAMMA"], w.env["PACER_PLANNER_MAX_POOLS"] = "1", "2"
	o := w.run(t, "--planner", f.address, "apps")
	if o.code != 0 || o.err != "pacer: environment PACER_PLANNER_GAMMA sets nothing: unknown key planner.gamma (is it node.gamma?)\n"+
		"pacer: environment PACER_PLANNER_MAX_POOLS sets nothing: unknown key planner.max-pools (is it planner.max-pool?)\n" {
		t.Errorf("exit code %d, %q", o.code, o.err)
	}
}

// Every command that can be run has an example, which names it, and no example is of a command that there is not.
func TestEveryCommandHasAnExample(t *testing.T) {
	paths := map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		paths[c.CommandPath()] = true
		if c.HasSubCommands() && !c.Runnable() && c.HasParent() {
			t.Errorf("%s takes any word for one of its commands", c.CommandPath())
		}
		own := c.Runnable() && !c.Hidden && !(c.HasSubCommands() && c.Args == nil) && c.Name() != "demo"
		if groups := c.HasSubCommands() && c.Flags().NFlag() == 0 && c.Example == ""; own && !groups && !strings.Contains(c.Example, c.CommandPath()) {
			t.Errorf("%s has no example of its own: %q", c.CommandPath(), c.Example)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(Program())
	for path := range examples {
		if !paths[path] {
			t.Errorf("there is no command %s", path)
		}
	}
}
