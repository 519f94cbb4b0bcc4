package cli

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
)

// sparkOptions are spark-submit's options that take a value, from
// SparkSubmitOptionParser of Spark 4.3 (4.0 has all but --extra-properties-file).
var sparkOptions = map[string]bool{
	"--archives": true, "--class": true, "--conf": true, "-c": true, "--deploy-mode": true,
	"--driver-class-path": true, "--driver-cores": true, "--driver-default-class-path": true,
	"--driver-java-options": true, "--driver-library-path": true, "--driver-memory": true,
	"--executor-cores": true, "--executor-memory": true, "--files": true, "--jars": true, "--keytab": true,
	"--kill": true, "--master": true, "--remote": true, "--name": true, "--num-executors": true,
	"--packages": true, "--exclude-packages": true, "--principal": true, optionProperties: true,
	optionExtra: true, "--proxy-user": true, "--py-files": true, "--queue": true,
	"--repositories": true, "--status": true, "--total-executor-cores": true,
}

// pacerOptions are pacer submit's own; true takes a value.
var pacerOptions = map[string]bool{
	"--pacer-deadline": true, "--pacer-by": true, "--pacer-profile": true, "--pacer-planner": true,
	"--pacer-config": true, "--pacer-set": true, "--pacer-mode": true, "--pacer-class": true, "--pacer-certainty": true,
	"--pacer-require-feasible": false, "--pacer-no-wait": false,
}

// familyOptions are those that all commands of pacer have, by which its users may say the same.
var familyOptions = map[string]string{
	"--planner": "--pacer-planner", "--config": "--pacer-config", "--set": "--pacer-set"}

// optionValues are the values of options that have a few only.
var optionValues = map[string][]string{"--pacer-mode": texts(modes), "--pacer-class": texts(api.Classes())}

func texts[S ~string](values []S) (all []string) {
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}

// optionDefaults has spark-submit read spark-defaults.conf beside the file of optionProperties,
// optionExtra has it read another one beside both, and may be given more than once.
const (
	optionDefaults   = "--load-spark-defaults"
	optionProperties = "--properties-file"
	optionExtra      = "--extra-properties-file"
)

// ownPrefix is the only one that pacer submit takes for itself, and optionDetach and optionDry the only options
// without it.
const (
	ownPrefix    = "--pacer-"
	optionDetach = "--detach"
	optionDry    = "--dry-run"
)

// submission is a command line of pacer submit, read.
type submission struct {
	// own holds the --pacer- options by name; a switch has the value "true". sets are all values of --pacer-set.
	own  map[string]string
	sets []string
	// args is everything else in its order; app is where in it the application
	// stands, len(args) without one.
	args []string
	app  int
	// last holds the value that wins for each of spark-submit's options, at where in
	// args it is; conf holds that of each --conf key, extra those of optionExtra in their order.
	last  map[string]string
	at    map[string]int
	conf  map[string]string
	extra []string
	// help asks for pacer's usage; query says that spark-submit will only
	// answer (--version, --status, --kill) and start no application.
	help, query bool
	// stray are options in our prefix that stand after the application.
	stray []string
	// detach asks for Spark in the background, dry what would run where; attached are the arguments without these.
	detach   bool
	dry      bool
	attached []string
}

// scanSubmit reads args as spark-submit does. It returns an error for an unknown
// option in pacer's prefix, a missing value and a malformed --conf.
func scanSubmit(args []string) (submission, error) {
	s := submission{own: map[string]string{}, last: map[string]string{}, at: map[string]int{}, conf: map[string]string{}}
	i := 0
	for i < len(args) && strings.HasPrefix(args[i], "-") {
		if args[i] == optionDetach || args[i] == optionDry {
			s.detach, s.dry = s.detach || args[i] == optionDetach, s.dry || args[i] == optionDry
			i++
			continue
		}
		next, err := s.option(args, i)
		if err != nil {
			return submission{}, err
		}
		s.attached = append(s.attached, args[i:next]...)
		i = next
	}
	s.attached = append(s.attached, args[i:]...)
	s.app = len(s.args)
	s.args = append(s.args, args[i:]...)
	for _, a := range s.args[s.app:] {
		if strings.HasPrefix(a, ownPrefix) {
			s.stray = append(s.stray, a)
		}
	}
	return s, nil
}

// option takes the option at args[i] and returns where the next one starts.
func (s *submission) option(args []string, i int) (int, error) {
	// spark-submit splits "--name=value" for options of two dashes only, and
	// only when there is something after the sign.
	name, value, joined := strings.Cut(args[i], "=")
	if !strings.HasPrefix(name, "--") || value == "" {
		name, joined = args[i], false
	}
	name = cmp.Or(familyOptions[name], name)
	own := strings.HasPrefix(name, ownPrefix)
	takesValue := sparkOptions[name]
	if own {
		var known bool
		if takesValue, known = pacerOptions[name]; !known {
			return 0, command.Usagef("unknown flag %s (pacer's own are %s)", name,
				strings.Join(slices.Sorted(maps.Keys(pacerOptions)), ", "))
		}
	}
	next := i + 1
	switch {
	case takesValue && !joined && next == len(args):
		return 0, command.Usagef("flag %s needs a value", name)
	case takesValue && !joined:
		value = args[next]
		next++
	case own && !takesValue && joined:
		return 0, command.Usagef("flag %s takes no value", name)
	}
	if own {
		if !takesValue {
			value = "true"
		}
		if s.own[name] = value; name == "--pacer-set" {
			s.sets = append(s.sets, value)
		}
		return next, nil
	}
	s.args = append(s.args, args[i:next]...)
	if joined && !takesValue {
		name = args[i] // A switch with "=" is not one for spark-submit either.
	}
	return next, s.spark(name, value)
}

// spark notes what one of spark-submit's own options says.
func (s *submission) spark(name, value string) error {
	switch name {
	case "--help", "-h":
		s.help = true
	case "--version", "--usage-error", "--status", "--kill":
		s.query = true
	case "--conf", "-c":
		key, v, ok := strings.Cut(value, "=")
		if !ok || key == "" {
			return command.Usagef("--conf %q: want KEY=VALUE", value)
		}
		s.conf[key] = v
	case optionExtra:
		s.extra = append(s.extra, value)
	}
	if sparkOptions[name] || name == optionDefaults {
		s.last[name], s.at[name] = value, len(s.args)-1
	}
	return nil
}

// master is the one that the command line names, "" for none.
func (s *submission) master() string {
	return cmp.Or(s.last["--master"], s.conf["spark.master"])
}

// main is what stands for the application: its file, or spark-internal, "" for none.
func (s *submission) main() string {
	if s.app < len(s.args) {
		return s.args[s.app]
	}
	return ""
}

// with returns args with the values of options replaced; those that the user did not give
// stand in front of them.
func (s *submission) with(options map[string]string) []string {
	args := append([]string(nil), s.args...)
	var front []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		at, given := s.at[name]
		switch {
		case !given:
			front = append(front, name, options[name])
		case strings.HasPrefix(args[at], name+"="):
			args[at] = name + "=" + options[name]
		default:
			args[at] = options[name]
		}
	}
	return append(front, args...)
}
