package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/cli/config"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/units"
)

const submitHelp = `Run spark-submit under Pacer.

Usage:
  pacer submit [--pacer-...] [any spark-submit flag] APP [arguments of APP]

Flags of its own (before APP; all others go to spark-submit in their order):
  --detach                     return when the application has registered (in cluster mode: is taken), and leave
                               it running
  --pacer-deadline 90s|15m     finish this long after now: pacer submit has exited by then
  --pacer-by 06:00             finish by this time (the next 06:00, local time)
  --pacer-profile NAME         profile to plan with (default: that of the application's name
                               without dates, times and long numbers, or of the program)
  --pacer-mode MODE            control (default), observe (hold nothing back, say
                               what would be), off (executors only)
  --pacer-class CLASS          interactive, deadline (default) or batch: its part, 4, 1 or 1/4,
                               of what is left by those whose deadlines can be kept
  --pacer-certainty 0.95       how likely it is to be in time, 0.5 to 0.99 (default 0.95): time is
                               kept for what earlier runs had besides what was foreseen
  --pacer-require-feasible     refuse (exit code 76) instead of running at all cores
  --pacer-no-wait              refuse instead of waiting in the queue for memory
  --pacer-planner HOST:PORT    planner's address
  --pacer-config FILE          configuration file
  --pacer-set KEY=VALUE        override a configuration key (repeatable)

The same without this wrapper:
  spark-submit --master sparkpacer://HOST:PORT --jars $(pacer jar) \
      --conf spark.pacer.deadline=90s APP      (or spark.pacer.by=06:00)

The driver on a node of Pacer's, whose memory it counts to:
  pacer submit --deploy-mode cluster [--supervise] [--detach] [--pacer-...] APP [arguments]
Local files of APP, --jars, --files, --py-files and --archives go up; all else stays where it is.
pacer submit follows it and ends with its exit code. SIGINT and SIGTERM end it, kill -9 leaves it.

Several programs, with Spark or without, as a description says (docs/description.md):
  pacer submit [--dry-run] [--detach] [--pacer-...] app.yaml
--dry-run says what would run where, and submits nothing.

Where YARN or Kubernetes (k8s://...) starts the executors, on nodes with nodecontroller --attach:
  pacer submit --master yarn|k8s://... [--deploy-mode cluster] [--pacer-...] APP, or without this wrapper
  spark-submit --master yarn --jars $(pacer jar) \
      --conf spark.plugins=org.apache.spark.pacer.PacerPlugin \
      --conf spark.pacer.planner=HOST:PORT --conf spark.pacer.deadline=90s APP

A run with a deadline ends with one line about it on standard error, as does one of which
something was asked and that made no application of Pacer's. When pacer submit is killed,
kill -9 too, its spark-submit gets SIGTERM. With --detach a pacer submit in the background
runs it, in a session of its own and without standard input: the deadline is until that one's
exit, and its exit code is in pacer apps.

Exit code: spark-submit's own, in Kubernetes' cluster mode that of the driver's pod, with --detach 0 once it has
registered; 64 wrong command line, 69 no planner answers
(where a NATS server does, it waits 10 s for one that takes over; with --master yarn or k8s:// and without
--pacer-require-feasible it runs without Pacer then),
76 refused as infeasible, 77 no credentials, 127 no spark-submit found.
spark-submit --help lists its flags.
`

func submitCommand(sh *shell) *cobra.Command {
	return &cobra.Command{
		Use: "submit [--pacer-...] [any spark-submit flag] APP [arguments]", Short: "Run spark-submit under Pacer",
		DisableFlagParsing: true, DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error { return sh.submit(c.Context(), args) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if n := len(args); n > 0 && optionValues[args[n-1]] != nil {
				return optionValues[args[n-1]], cobra.ShellCompDirectiveNoFileComp
			}
			if !strings.HasPrefix(prefix, "-") {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return slices.Concat([]string{optionDetach}, slices.Sorted(maps.Keys(pacerOptions)),
				slices.Sorted(maps.Keys(sparkOptions))), cobra.ShellCompDirectiveNoFileComp
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
		return sh.runSpark(ctx, sp, sh.Environ, s.args, 0, signals)
	}
	if sh.getenv(boundEnv) != "" {
		outliveReader()
	}
	l := launch{shell: sh, line: s}
	switch {
	case ofTask(sh.getenv, s):
		return bound(ctx, sh, args)
	case s.isDescription():
		return describe(ctx, &l)
	case s.dry:
		return command.Usagef("%s is for a description (.yaml)", optionDry)
	case s.detach:
		return l.detach(ctx)
	}
	return l.submit(ctx)
}

// launch is an application that pacer submit runs: what its command line, the files that
// spark-submit reads and the configuration say.
type launch struct {
	*shell
	line submission
	sp   spark
	// files are the settings of spark-defaults.conf and the like, settings those that Pacer gives the driver.
	files    settingFiles
	settings map[string]string
	// aside are lines about what is not followed of what the user says.
	aside []string
	// config is the configuration; its Client is how the planner is reached.
	config config.Config
	// nodes says that one of Pacer's own nodes is to start the driver.
	nodes bool
	// described is what a description says, nil without one.
	described *described
	// shipped are the files without a name that --files brings to the driver.
	shipped []*os.File
}

// submit checks everything that can be checked before anything starts, runs
// spark-submit, tells the planner of its exit and the user how it ended.
func (l *launch) submit(ctx context.Context) error {
	if err := l.read(ctx); err != nil {
		return err
	}
	switch {
	case l.nodes:
		return onNodes(ctx, l)
	case l.described != nil:
		return command.Usagef("%s: spark: submit: --master and --deploy-mode: want none, a node of Pacer's starts the driver",
			l.described.path)
	}
	env := l.authenticate()
	conn, done, err := l.askedPlanner(ctx)
	if err != nil {
		return err
	}
	defer done() // It closes nothing twice.
	arguments, err := l.arguments(ctx, conn)
	defer func() {
		for _, f := range l.shipped {
			_ = f.Close()
		}
	}()
	if err != nil {
		return err
	}
	elapsed, nice := l.deadlineClock(l.settings[confSubmitted]), 0
	if conn != nil {
		nice = l.yields(ctx, conn, elapsed())
	}
	done()
	for _, flag := range l.line.stray {
		l.aside = append(l.aside, flag+" stands after the application and is passed to it")
	}
	sayAside(l.Stderr, l.aside)
	signals := catchSignals()
	defer signal.Stop(signals)
	run, log := l.shell, &podLog{Writer: l.Stderr}
	if inPod(l) {
		run = new(*l.shell)
		run.Stderr = log
	}
	err = run.runSpark(ctx, l.sp, env, arguments, nice, signals)
	manager, waits := l.line.manager()
	switch {
	case l.inCluster() && command.ExitCode(err) > command.ExitSignal:
		fmt.Fprintf(l.Stderr, "pacer: spark-submit was ended; %s runs the application on\n", manager)
		return err
	case err == nil && l.inCluster() && strings.EqualFold(l.given(waits, ""), "false"):
		fmt.Fprintf(l.Stderr, "pacer: %s has taken the application; its deadline is until its driver's exit: pacer apps\n",
			manager)
		return nil
	case err == nil && inPod(l):
		return log.ended(ctx, l)
	}
	end, unknown := reportExit(l.config.Client, api.ControlRequest{Submission: l.settings[confSubmission],
		ExitCode: command.ExitCode(err), Elapsed: elapsed(), Suspended: l.suspended()})
	var app api.AppSummary
	if len(end.Apps) > 0 {
		app = end.Apps[0]
	}
	said := end.Message
	if unknown {
		said = l.unregistered(command.ExitCode(err))
	}
	if said != "" {
		fmt.Fprintf(l.Stderr, "pacer: %s\n", said)
	}
	required := strings.EqualFold(l.settings[confRequire], "true") || app.Verdict == api.VerdictInfeasible
	if app.State == api.AppRefused && required {
		return command.Coded(command.ExitInfeasible, nil)
	}
	return err
}

// sayAside says what is not followed of what the user says.
func sayAside(w io.Writer, lines []string) {
	for _, line := range slices.Compact(slices.DeleteFunc(lines, func(line string) bool { return line == "" })) {
		fmt.Fprintf(w, "pacer: %s\n", line)
	}
}

// read takes what is said everywhere, the cheapest faults first.
func (l *launch) read(ctx context.Context) (err error) {
	if l.settings, err = l.ownSettings(); err != nil {
		return err
	}
	if l.config, err = l.configuration(); err != nil {
		return err // Faults that the command line alone gives away need no Spark.
	}
	if l.sp, err = findSpark(ctx, l.getenv); err != nil {
		return err
	}
	if err = l.sp.supported(); err != nil {
		return err
	}
	if l.files, err = l.sp.properties(l.line, l.getenv); err != nil {
		return err
	}
	past, err := l.files.check(l.line, l.setting, l.files.requires(l.line), l.now)
	if err != nil {
		return err
	}
	l.aside = append(l.aside, past)
	if !l.attaches() {
		l.aside = append(l.aside, l.files.uninterpreted(l.line, l.getenv))
	}
	_, waits := l.line.manager()
	if l.inCluster() && (inPod(l) || strings.EqualFold(l.given(waits, ""), "false")) {
		delete(l.settings, confWatched) // spark-submit does not tell the driver's exit code: the driver tells its own end.
	}
	// The command line wins.
	if l.settings[confDeadline] != "" && l.files.all[confBy] != "" {
		l.settings[confBy] = ""
	} else if l.settings[confBy] != "" && l.files.all[confDeadline] != "" {
		l.settings[confDeadline] = ""
	}
	l.config, err = l.configuration()
	return err
}

// The driver's settings that pacer submit gives (docs/configuration.md).
const (
	confDeadline    = "spark.pacer.deadline"
	confProfile     = "spark.pacer.profile"
	confMode        = "spark.pacer.mode"
	confClass       = "spark.pacer.class"
	confRequire     = "spark.pacer.requireFeasible"
	confCertainty   = "spark.pacer.certainty"
	confNoWait      = "spark.pacer.noWait"
	confSubmission  = "spark.pacer.submission"
	confSubmitted   = "spark.pacer.submitted"
	confWatched     = "spark.pacer.watched"
	confBy          = "spark.pacer.by"
	confProgram     = "spark.pacer.program"
	confCredentials = "spark.pacer.credentials"
	confTLSCA       = "spark.pacer.tls.ca"
	confPlaintext   = "spark.pacer.plaintext"
	confOutput      = "spark.pacer.output"
	confDriverHost  = "spark.driver.host"
	confDriverBind  = "spark.driver.bindAddress"
	confPython      = "spark.pyspark.python"
)

// modes are the values of --pacer-mode.
var modes = []api.Mode{api.ModeControl, api.ModeObserve, api.ModeOff}

// outputs are the values of spark.pacer.output (ObjectOutput.scala).
var outputs = []string{"auto", "magic", "direct", "as-is"}

// ownSettings turns pacer's own flags into driver settings. A setting that
// the user gave with --conf stays as it is; the same thing said twice and
// differently is an error.
func (l *launch) ownSettings() (map[string]string, error) {
	out := map[string]string{
		confSubmission: uuid.NewString(),
		confSubmitted:  fmt.Sprint(l.now.UnixMilli()),
		confWatched:    "true",
	}
	deadline, by, err := l.deadline()
	if err != nil {
		return nil, err
	}
	if mode, given := l.line.own["--pacer-mode"]; given && !slices.Contains(modes, api.Mode(mode)) {
		return nil, command.Usagef("--pacer-mode %q: want one of %v", mode, modes)
	}
	if class, given := l.line.own["--pacer-class"]; given && (class == "" || !api.Class(class).Known()) {
		return nil, command.Usagef("--pacer-class %q: want one of %v", class, api.Classes())
	}
	if text, given := l.line.own["--pacer-certainty"]; given {
		if c, err := strconv.ParseFloat(text, 64); err != nil || !api.ValidCertainty(units.Fraction(c)) {
			return nil, command.Usagef("--pacer-certainty %q: want a number from 0.5 to 0.99", text)
		}
	}
	for key, value := range map[string]string{
		confDeadline: deadline, confBy: by, confProfile: l.line.own["--pacer-profile"],
		confRequire: l.line.own["--pacer-require-feasible"],
		confNoWait:  l.line.own["--pacer-no-wait"], confMode: l.line.own["--pacer-mode"],
		confClass: l.line.own["--pacer-class"], confCertainty: l.line.own["--pacer-certainty"],
	} {
		if value != "" {
			out[key] = value
		}
	}
	for key := range out {
		given, ok := l.line.conf[key]
		if !ok {
			continue
		}
		ours := key == confSubmission || key == confSubmitted || key == confWatched
		if !ours && given != out[key] {
			return nil, command.Usagef("--conf %s=%s and its --pacer- flag (%s) differ", key, given, out[key])
		}
		out[key] = given
	}
	if given, ok := l.line.conf[confRequire]; ok {
		out[confRequire] = given
	}
	return out, nil
}

// given is what the user says of a setting, which the flag sets too ("" for none): the command line
// before files.
func (l *launch) given(key, flag string) string {
	return cmp.Or(l.line.last[flag], l.line.conf[key], l.files.all[key])
}

// deadline returns what pacer's own flags say of a deadline, at most one of how long after now and
// of the moment, "" for none, and checks those given with --conf. The moment is in the time zone of
// this machine, which the driver's JVM may have been told to leave.
func (l *launch) deadline() (after, by string, err error) {
	if text, ok := l.line.conf[confDeadline]; ok {
		if _, err := deadlineValue("--conf "+confDeadline, text); err != nil {
			return "", "", err
		}
	}
	if text := l.line.conf[confBy]; text != "" {
		if l.line.conf[confDeadline] != "" || l.line.own["--pacer-deadline"] != "" || l.line.own["--pacer-by"] != "" {
			return "", "", command.Usagef("--conf %s and another deadline exclude each other", confBy)
		}
		past, err := checkMoment("--conf "+confBy, text, l.files.requires(l.line), l.now)
		if err != nil {
			return "", "", err
		}
		l.aside = append(l.aside, past)
	}
	after, hasAfter := l.line.own["--pacer-deadline"]
	by, hasBy := l.line.own["--pacer-by"]
	switch {
	case hasAfter && hasBy:
		return "", "", command.Usagef("--pacer-deadline and --pacer-by exclude each other")
	case hasBy && l.line.conf[confDeadline] != "":
		return "", "", command.Usagef("--conf %s and --pacer-by exclude each other", confDeadline)
	case hasAfter:
		d, err := typedDeadline("--pacer-deadline", after)
		if err != nil {
			return "", "", err
		}
		return sparkTime(after, d.Duration()), "", nil
	case hasBy:
		past, err := checkMoment("--pacer-by", by, l.files.requires(l.line), l.now)
		if err != nil {
			return "", "", err
		}
		l.aside = append(l.aside, past)
		d, err := untilClock("--pacer-by", by, l.now)
		if err != nil {
			return "", "", err
		}
		return "", l.now.Add(d).Format(time.RFC3339), nil
	}
	return "", "", nil
}

// configuration returns the configuration with the planner of --pacer-planner, or of the
// master if that names one. It refuses masters and deploy modes that Pacer cannot run.
func (l *launch) configuration() (config.Config, error) {
	if remote := cmp.Or(l.line.last["--remote"], l.line.conf["spark.remote"]); remote != "" {
		return config.Config{}, command.Usagef("--remote %s: Pacer runs classic applications, not Spark Connect clients",
			remote)
	}
	if mode := l.given(confDeployMode, "--deploy-mode"); mode != "" && mode != "client" && !l.inCluster() {
		aside := l.files.modeAside(l.line)
		switch {
		case aside != "" && !l.attaches():
			l.settings[confDeployMode] = "client"
			l.aside = append(l.aside, aside)
		case mode == "cluster" && !l.attaches():
			l.nodes = true
		default:
			return config.Config{}, command.Usagef("%s: deploy mode %s is not supported: want client, or cluster on "+
				"Pacer's own nodes, YARN and Kubernetes", l.files.said(l.line, confDeployMode, "--deploy-mode"), mode)
		}
	}
	l.ConfigPath = cmp.Or(l.line.own["--pacer-config"], l.ConfigPath)
	l.Sets = append(l.Sets, l.line.sets...)
	cfg, err := l.Config()
	if err != nil {
		return config.Config{}, err
	}
	master, given := cmp.Or(l.line.master(), l.files.all["spark.master"]), l.line.master() != ""
	address, ours := plannerOf(master)
	if given && master != "" && !ours && !l.attaches() {
		return config.Config{}, command.Usagef("--master %s: pacer submit runs on %sHOST:PORT (leave --master out), "+
			"%s or %s://", master, masterPrefix, api.ManagerYARN, api.ManagerKubernetes)
	}
	said := "--master " + master
	if l.attaches() {
		address, given = cmp.Or(l.line.conf[confPlanner], l.files.all[confPlanner]), l.line.conf[confPlanner] != ""
		said = "--conf " + confPlanner + "=" + address
		ours = address != "" && !inPod(l) // Pods may reach the planner by another address.
	}
	if ours {
		cfg.Client.Planner = address
	}
	if own := l.line.own["--pacer-planner"]; own != "" {
		if given && ours && own != address {
			return config.Config{}, command.Usagef("--pacer-planner %s and %s differ", own, said)
		}
		cfg.Client.Planner = own
	}
	if err := cfg.Client.Validate(); err != nil {
		return config.Config{}, command.Usagef("%w", err)
	}
	return cfg, nil
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

// arguments returns spark-submit's arguments: what Pacer adds, then the
// user's own in their order, so that a setting repeated by the user wins.
func (l *launch) arguments(ctx context.Context, conn client) ([]string, error) {
	has := func(key string) bool {
		_, conf := l.line.conf[key]
		_, file := l.files.all[key]
		return conf || file
	}
	var front []string
	if l.line.master() == "" {
		front = append(front, "--master", masterPrefix+bus.HostPort(l.config.Client.Planner))
	}
	switch {
	case inPod(l) && has(confPlanner):
	case inPod(l) && bus.IsLoopback(bus.HostPort(l.config.Client.Planner)):
		return nil, command.Usagef("no pod reaches the planner at %s: name its Service by --conf %s=HOST:PORT",
			l.config.Client.Planner, confPlanner)
	case l.attaches(): // The cluster's own settings say where executors reach the driver.
		l.settings[confPlanner] = bus.HostPort(l.config.Client.Planner)
	case bus.IsLoopback(bus.HostPort(l.config.Client.Planner)) && !has(confDriverHost) && !has(confDriverBind) &&
		l.getenv("SPARK_LOCAL_IP") == "":
		l.settings[confDriverHost], l.settings[confDriverBind] = "127.0.0.1", "127.0.0.1"
	}
	own, err := l.config.Client.Credential()
	if err != nil {
		return nil, err
	}
	if own.Path != "" && !has(confCredentials) {
		l.settings[confCredentials] = own.Path
	}
	if options := l.driverOptions(false); options != "" {
		l.settings[confDefaultOptions] = options
	}
	if program := l.program(); program != "" && !has(confProgram) {
		l.settings[confProgram] = program
	}
	if l.config.Client.TLS.CA != "" && !has(confTLSCA) {
		l.settings[confTLSCA] = l.config.Client.TLS.CA
	}
	if l.config.Client.Plaintext && !has(confPlaintext) {
		l.settings[confPlaintext] = "true"
	}
	options := map[string]string{}
	if l.inCluster() {
		if err := ship(ctx, l, conn, options); err != nil {
			return nil, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(l.settings)) {
		if _, given := l.line.conf[key]; !given {
			front = append(front, "--conf", key+"="+l.settings[key])
		}
	}
	jar, err := l.jar()
	if err != nil {
		return nil, err
	}
	if inPod(l) && jar != "" && l.given(confUpload, "") == "" {
		if jar = ""; !strings.Contains(l.given("spark.jars", "--jars"), strings.TrimSuffix(installedJar, ".jar")) {
			l.aside = append(l.aside, fmt.Sprintf(
				"without %s the image has to have Pacer's jar among Spark's (pacer jar install)", confUpload))
		}
	}
	if jar != "" {
		// --jars replaces spark.jars of --conf and of files, so all are merged.
		options["--jars"] = joinJars(l.given("spark.jars", "--jars"), jar)
	}
	args := append(front, l.line.with(options)...)
	if l.attaches() {
		args = l.withPlugin(args)
	}
	return args, nil
}

func joinJars(users, jar string) string {
	if users == "" {
		return jar
	}
	return users + "," + jar
}
