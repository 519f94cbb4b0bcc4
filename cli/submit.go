package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/bus"
	"github.com/sparkpacer/pacer/command"
	"github.com/sparkpacer/pacer/config"
)

const submitHelp = `Run spark-submit under Pacer.

Usage:
  pacer submit [--pacer-...] [any spark-submit flag] APP [arguments of APP]

Flags of its own (before APP; all others go to spark-submit in their order):
  --pacer-deadline 90s|15m     finish this long after now: pacer submit has exited by then
  --pacer-by 06:00             finish by this time (the next 06:00, local time)
  --pacer-profile NAME         profile to plan with (default: the application's name)
  --pacer-mode MODE            control (default), observe (hold nothing back, say
                               what would be), off (executors only)
  --pacer-require-feasible     refuse (exit code 76) instead of running at all cores
  --pacer-planner HOST:PORT    planner's address
  --pacer-config FILE          configuration file

The same without this wrapper:
  spark-submit --master sparkpacer://HOST:PORT --jars $(pacer jar) \
      --conf spark.pacer.deadline=90s APP      (or spark.pacer.by=06:00)

A run with a deadline ends with one line about it on standard error. When pacer submit is
killed, its spark-submit gets SIGTERM.

Exit code: spark-submit's own; 64 wrong command line, 69 no planner answers,
76 refused as infeasible, 127 no spark-submit found.
spark-submit --help lists its flags.
`

func (sh *shell) submitCommand() *cobra.Command {
	return &cobra.Command{
		Use: "submit [--pacer-...] [any spark-submit flag] APP [arguments]", Short: "Run spark-submit under Pacer",
		DisableFlagParsing: true, DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error { return sh.submit(c.Context(), args) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if !strings.HasPrefix(prefix, "-") {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return append(slices.Sorted(maps.Keys(pacerOptions)), slices.Sorted(maps.Keys(sparkOptions))...), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func (sh *shell) submit(ctx context.Context, args []string) error {
	s, err := scanSubmit(args)
	if err != nil {
		return err
	}
	if s.help || len(args) == 0 {
		fmt.Fprint(sh.Stdout, submitHelp)
		if len(args) == 0 {
			return command.Usagef("submit needs an application")
		}
		return nil
	}
	if s.query {
		sp, err := findSpark(ctx, sh.getenv)
		if err != nil {
			return err
		}
		signals := catchSignals()
		defer signal.Stop(signals)
		return sh.runSpark(ctx, sp, s.args, signals)
	}
	return sh.submitApp(ctx, s)
}

// submitApp checks everything that can be checked before anything starts, runs
// spark-submit, tells the planner of its exit and the user how it ended.
func (sh *shell) submitApp(ctx context.Context, s submission) error {
	settings, err := sh.submitSettings(s)
	if err != nil {
		return err
	}
	if _, err := sh.submitConfig(s, nil); err != nil {
		return err // What the command line alone gives away needs no Spark.
	}
	sp, err := findSpark(ctx, sh.getenv)
	if err != nil {
		return err
	}
	if err := sp.supported(); err != nil {
		return err
	}
	files, err := sp.properties(s, sh.getenv)
	if err != nil {
		return err
	}
	cfg, err := sh.submitConfig(s, files)
	if err != nil {
		return err
	}
	arguments, err := sh.sparkArguments(s, sp, files, settings, cfg)
	if err != nil {
		return err
	}
	_, done, err := dialPlanner(ctx, cfg)
	if err != nil {
		return command.Coded(command.ExitUnavailable, err)
	}
	done()
	for _, flag := range s.stray {
		fmt.Fprintf(sh.Stderr, "pacer: %s stands after the application and is passed to it\n", flag)
	}
	signals := catchSignals()
	defer signal.Stop(signals)
	clock := sh.deadlineClock(settings[confSubmitted])
	err = sh.runSpark(ctx, sp, arguments, signals)
	app := reportExit(cfg, api.ControlRequest{Submission: settings[confSubmission], ExitCode: command.ExitCode(err), Elapsed: clock(), Suspended: sh.suspended()})
	if app.State == api.AppRefused && strings.EqualFold(settings[confRequire], "true") {
		return command.Coded(command.ExitInfeasible, nil) // The driver has said why.
	}
	if app.Outcome != "" {
		fmt.Fprintf(sh.Stderr, "pacer: %s\n", app.Outcome)
	}
	return err
}

// The driver's settings that pacer submit gives (docs/configuration.md).
const (
	confDeadline    = "spark.pacer.deadline"
	confProfile     = "spark.pacer.profile"
	confMode        = "spark.pacer.mode"
	confRequire     = "spark.pacer.requireFeasible"
	confSubmission  = "spark.pacer.submission"
	confSubmitted   = "spark.pacer.submitted"
	confWatched     = "spark.pacer.watched"
	confBy          = "spark.pacer.by"
	confCredentials = "spark.pacer.credentials"
	confTLSCA       = "spark.pacer.tls.ca"
	confDriverHost  = "spark.driver.host"
	confDriverBind  = "spark.driver.bindAddress"
)

// modes are the values of --pacer-mode.
var modes = []api.Mode{api.ModeControl, api.ModeObserve, api.ModeOff}

// submitSettings turns pacer's own flags into driver settings. A setting that
// the user gave with --conf stays as it is; the same thing said twice and
// differently is an error.
func (sh *shell) submitSettings(s submission) (map[string]string, error) {
	out := map[string]string{
		confSubmission: uuid.NewString(),
		confSubmitted:  fmt.Sprint(sh.now.UnixMilli()),
		confWatched:    "true",
	}
	deadline, err := sh.deadline(s)
	if err != nil {
		return nil, err
	}
	if mode, given := s.own["--pacer-mode"]; given && !slices.Contains(modes, api.Mode(mode)) {
		return nil, command.Usagef("--pacer-mode %q: want one of %v", mode, modes)
	}
	for key, value := range map[string]string{
		confDeadline: deadline, confProfile: s.own["--pacer-profile"], confRequire: s.own["--pacer-require-feasible"],
		confMode: s.own["--pacer-mode"],
	} {
		if value != "" {
			out[key] = value
		}
	}
	for key := range out {
		given, ok := s.conf[key]
		if !ok {
			continue
		}
		ours := key == confSubmission || key == confSubmitted || key == confWatched
		if !ours && given != out[key] {
			return nil, command.Usagef("--conf %s=%s and its --pacer- flag (%s) differ", key, given, out[key])
		}
		out[key] = given
	}
	if given, ok := s.conf[confRequire]; ok {
		out[confRequire] = given
	}
	return out, nil
}

// deadline returns the deadline that pacer's own flags ask for, "" for none, and
// checks the one given with --conf.
func (sh *shell) deadline(s submission) (string, error) {
	if text, ok := s.conf[confDeadline]; ok {
		if _, err := deadlineValue("--conf "+confDeadline, text); err != nil {
			return "", err
		}
	}
	if text := s.conf[confBy]; text != "" {
		if s.conf[confDeadline] != "" || s.own["--pacer-deadline"] != "" || s.own["--pacer-by"] != "" {
			return "", command.Usagef("--conf %s and another deadline exclude each other", confBy)
		}
		if _, err := untilClock("--conf "+confBy, text, sh.now); err != nil {
			return "", err
		}
	}
	after, by := s.own["--pacer-deadline"], s.own["--pacer-by"]
	_, hasAfter := s.own["--pacer-deadline"]
	_, hasBy := s.own["--pacer-by"]
	switch {
	case hasAfter && hasBy:
		return "", command.Usagef("--pacer-deadline and --pacer-by exclude each other")
	case hasAfter:
		d, err := deadlineValue("--pacer-deadline", after)
		if err != nil {
			return "", err
		}
		return sparkTime(after, d.Duration()), nil
	case hasBy:
		d, err := untilClock("--pacer-by", by, sh.now)
		if err != nil {
			return "", err
		}
		return sparkTime("", d), nil
	}
	return "", nil
}

// sparkTime returns text if Spark reads it as d does, else d in milliseconds.
func sparkTime(text string, d time.Duration) string {
	if digits := strings.TrimRight(text, "smhd"); len(digits) < len(text) && strings.Trim(digits, "0123456789") == "" && digits != "" {
		return text
	}
	return fmt.Sprintf("%dms", d.Milliseconds())
}

// untilClock returns the time from now until the next HH:MM or HH:MM:SS in now's
// time zone, or until a full date and time, which may not be past. what names the text in
// errors.
func untilClock(what, text string, now time.Time) (time.Duration, error) {
	for _, layout := range []string{"15:04", "15:04:05"} {
		clock, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		// Days are added by date, so that 06:00 is 06:00 after a change of clocks.
		at := func(days int) time.Time {
			return time.Date(now.Year(), now.Month(), now.Day()+days, clock.Hour(), clock.Minute(), clock.Second(), 0, now.Location())
		}
		for days := 0; ; days++ {
			if t := at(days); t.After(now) {
				return t.Sub(now), nil
			}
		}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			if !t.After(now) {
				return 0, command.Usagef("%s: %s is past", what, text)
			}
			return t.Sub(now), nil
		}
	}
	return 0, command.Usagef("%s %q: want a time such as 06:00, or a date and time such as 2026-01-31T06:00", what, text)
}

// submitConfig finds the planner: --pacer-planner, the master if it names one,
// the configuration. It refuses masters and deploy modes that Pacer cannot run.
func (sh *shell) submitConfig(s submission, files map[string]string) (config.Client, error) {
	if remote := cmp.Or(s.last["--remote"], s.conf["spark.remote"]); remote != "" {
		return config.Client{}, command.Usagef("--remote %s: Pacer runs classic applications, not Spark Connect clients", remote)
	}
	if mode := cmp.Or(s.last["--deploy-mode"], s.conf["spark.submit.deployMode"], files["spark.submit.deployMode"]); mode != "" && mode != "client" {
		return config.Client{}, command.Usagef("deploy mode %s is not supported: Pacer runs drivers in client mode only", mode)
	}
	if path := s.own["--pacer-config"]; path != "" {
		sh.ConfigPath = path
	}
	cfg, err := sh.Config()
	if err != nil {
		return config.Client{}, err
	}
	master, given := cmp.Or(s.last["--master"], s.conf["spark.master"]), true
	if master == "" {
		master, given = files["spark.master"], false
	}
	address, ours := plannerOf(master)
	if given && master != "" && !ours {
		return config.Client{}, command.Usagef("--master %s: pacer submit runs on %sHOST:PORT (leave --master out)", master, masterPrefix)
	}
	if ours {
		cfg.Client.Planner = address
	}
	if own := s.own["--pacer-planner"]; own != "" {
		if given && ours && own != address {
			return config.Client{}, command.Usagef("--pacer-planner %s and --master %s differ", own, master)
		}
		cfg.Client.Planner = own
	}
	if err := cfg.Client.Validate(); err != nil {
		return config.Client{}, command.Usagef("%w", err)
	}
	return cfg.Client, nil
}

const masterPrefix = "sparkpacer://"

// plannerOf returns the address in a master URL as the driver reads it: the port
// may be left out.
func plannerOf(master string) (address string, ours bool) {
	rest, ours := strings.CutPrefix(master, masterPrefix)
	rest = strings.TrimSuffix(rest, "/")
	if _, _, err := net.SplitHostPort(rest); ours && rest != "" && err != nil {
		_, port, _ := net.SplitHostPort(bus.DefaultAddress)
		rest = net.JoinHostPort(strings.Trim(rest, "[]"), port)
	}
	return rest, ours
}

// sparkArguments returns spark-submit's arguments: what Pacer adds, then the
// user's own in their order, so that a setting repeated by the user wins.
func (sh *shell) sparkArguments(s submission, sp spark, files, settings map[string]string, cfg config.Client) ([]string, error) {
	has := func(key string) bool {
		_, conf := s.conf[key]
		_, file := files[key]
		return conf || file
	}
	var front []string
	if s.last["--master"] == "" && s.conf["spark.master"] == "" {
		front = append(front, "--master", masterPrefix+bus.HostPort(cfg.Planner))
	}
	if bus.IsLoopback(bus.HostPort(cfg.Planner)) && !has(confDriverHost) && !has(confDriverBind) && sh.getenv("SPARK_LOCAL_IP") == "" {
		settings[confDriverHost], settings[confDriverBind] = "127.0.0.1", "127.0.0.1"
	}
	if forDrivers(cfg.Credentials) && !has(confCredentials) {
		settings[confCredentials] = cfg.Credentials
	}
	all, err := sh.Config()
	if err != nil {
		return nil, err
	}
	if options := sh.driverOptions(s, sp, files, all.Node); options != "" {
		settings[confDefaultOptions] = options
	}
	if settings[confDeadline] != "" && files[confBy] != "" {
		settings[confBy] = "" // What the command line says wins.
	}
	if cfg.TLS.CA != "" && !has(confTLSCA) {
		settings[confTLSCA] = cfg.TLS.CA
	}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if _, given := s.conf[key]; !given {
			front = append(front, "--conf", key+"="+settings[key])
		}
	}
	jar, err := sh.jarFor(sp)
	if err != nil {
		return nil, err
	}
	args := s.args
	if jar != "" {
		// --jars replaces spark.jars of --conf and of files, so all are merged.
		args = s.withJars(joinJars(cmp.Or(s.last["--jars"], s.conf["spark.jars"], files["spark.jars"]), jar))
	}
	return append(front, args...), nil
}

// forDrivers reports whether a credentials file has the line that drivers need
// beside the operator's.
func forDrivers(path string) bool {
	if path == "" {
		return false
	}
	credentials, err := bus.LoadCredentials(path)
	return err == nil && credentials[bus.RoleApplication] != ""
}

func joinJars(users, jar string) string {
	if users == "" {
		return jar
	}
	return users + "," + jar
}
