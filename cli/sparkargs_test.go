package cli

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/cli/command"
)

func words(s string) []string { return strings.Fields(s) }

func TestScanKeepsEveryFlagOfSparkInOrder(t *testing.T) {
	for _, line := range []string{
		"app.py",
		"--name x --conf a=b -c c=d --verbose app.py --name y",
		"--jars a.jar,b.jar --class Main --driver-memory 1g app.jar 1 2 3",
		"--conf=a=b --executor-memory=2g app.py",
		"--supervise --load-spark-defaults app.py",
		"--unknown-to-us app.py",
		"--proxy-user u --principal p --keytab k --queue q --archives a#b app.py",
	} {
		s, err := scanSubmit(words(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if d := cmp.Diff(words(line), s.args); d != "" {
			t.Errorf("%s: %s", line, d)
		}
	}
}

func TestScanTakesItsOwnFlagsOutOfThoseBeforeTheApplication(t *testing.T) {
	for _, c := range []struct {
		line, rest, stray string
		own               map[string]string
		app               int
	}{
		{"--pacer-deadline 90s app.py", "app.py", "", map[string]string{"--pacer-deadline": "90s"}, 0},
		{"--name x --pacer-deadline=15m --verbose app.py a", "--name x --verbose app.py a", "", map[string]string{"--pacer-deadline": "15m"}, 3},
		{"--pacer-by 06:00 --pacer-require-feasible app.py", "app.py", "", map[string]string{"--pacer-by": "06:00", "--pacer-require-feasible": "true"}, 0},
		{"app.py --pacer-deadline 90s", "app.py --pacer-deadline 90s", "--pacer-deadline", map[string]string{}, 0},
		// What looks like a flag of ours is the value of one of Spark's.
		{"--name --pacer-deadline app.py", "--name --pacer-deadline app.py", "", map[string]string{}, 2},
		{"--pacer-profile p --pacer-planner h:1 --pacer-config f app.py", "app.py", "",
			map[string]string{"--pacer-profile": "p", "--pacer-planner": "h:1", "--pacer-config": "f"}, 0},
	} {
		s, err := scanSubmit(words(c.line))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if d := cmp.Diff(words(c.rest), s.args); d != "" {
			t.Errorf("%s: left over %s", c.line, d)
		}
		if d := cmp.Diff(c.own, s.own); d != "" {
			t.Errorf("%s: own %s", c.line, d)
		}
		if s.app != c.app || strings.Join(s.stray, " ") != c.stray {
			t.Errorf("%s: application at %d, stray %v", c.line, s.app, s.stray)
		}
	}
}

func TestScanRefusesWhatItCannotMean(t *testing.T) {
	for line, want := range map[string]string{
		"--pacer-dedline 90s app.py":            "unknown flag --pacer-dedline",
		"--pacer-fail-on-miss app.py":           "unknown flag --pacer-fail-on-miss",
		"--pacer- app.py":                       "unknown flag --pacer-",
		"--pacer-deadline":                      "needs a value",
		"--name":                                "needs a value",
		"--conf spark.x app.py":                 "KEY=VALUE",
		"--conf =x app.py":                      "KEY=VALUE",
		"--pacer-require-feasible=no app.py":    "takes no value",
		"--verbose --pacer-unknown=true app.py": "unknown flag --pacer-unknown",
	} {
		_, err := scanSubmit(words(line))
		if command.ExitCode(err) != command.ExitUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want exit code 64 and %q", line, err, want)
		}
	}
}

func TestScanNotesWhatSparkWouldUse(t *testing.T) {
	s, err := scanSubmit(words("--master a --master b --conf k=1 -c k=2=3 --jars x.jar --jars=y.jar --deploy-mode client app.py --jars z"))
	if err != nil {
		t.Fatal(err)
	}
	if s.last["--master"] != "b" || s.conf["k"] != "2=3" || s.last["--jars"] != "y.jar" || s.last["--deploy-mode"] != "client" {
		t.Errorf("%+v", s)
	}
	got := strings.Join(s.with(map[string]string{"--jars": "y.jar,pacer.jar", "--deploy-mode": "d", "--queue": "q"}), " ")
	want := "--queue q --master a --master b --conf k=1 -c k=2=3 --jars x.jar --jars=y.jar,pacer.jar --deploy-mode d app.py --jars z"
	if got != want {
		t.Errorf("replaced options:\n%s\n%s", got, want)
	}
}

func TestScanNotesQueriesAndHelp(t *testing.T) {
	for line, want := range map[string][2]bool{
		"--help": {true, false}, "-h": {true, false}, "--version": {false, true}, "--status driver-1 --master spark://x": {false, true},
		"--kill d": {false, true}, "app.py --help": {false, false}, "--name --version app.py": {false, false},
	} {
		s, err := scanSubmit(words(line))
		if err != nil || [2]bool{s.help, s.query} != want {
			t.Errorf("%s: help %v, query %v, %v", line, s.help, s.query, err)
		}
	}
}

// The oracle reads the line backwards from how it was made: ours are known by
// construction, everything else must come out as it went in.
func TestScanLosesAndInventsNothing(t *testing.T) {
	names := slices.Sorted(maps.Keys(sparkOptions))
	rapid.Check(t, func(t *rapid.T) {
		var line, rest []string
		own := map[string]string{}
		value := rapid.StringMatching(`[a-z0-9=:/.-]{1,12}`)
		for range rapid.IntRange(0, 8).Draw(t, "flags") {
			switch v := value.Draw(t, "value"); rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				line, own["--pacer-deadline"] = append(line, "--pacer-deadline", v), v
			case 1:
				line, own["--pacer-profile"] = append(line, "--pacer-profile="+v), v
			case 2:
				line, rest = append(line, "--supervise"), append(rest, "--supervise")
			case 3:
				name := rapid.SampledFrom(names).Draw(t, "name")
				if name == "--conf" || name == "-c" {
					v = "k=" + v
				}
				line, rest = append(line, name, v), append(rest, name, v)
			case 4:
				line, rest = append(line, "--name="+v), append(rest, "--name="+v)
			}
		}
		app := len(rest)
		tail := append([]string{"app.py"}, rapid.SliceOf(value).Draw(t, "arguments")...)
		line, rest = append(line, tail...), append(rest, tail...)
		s, err := scanSubmit(line)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if d := cmp.Diff(rest, s.args); d != "" {
			t.Fatalf("%q: %s", line, d)
		}
		if d := cmp.Diff(own, s.own); d != "" || s.app != app {
			t.Fatalf("%q: own %s, application at %d", line, d, s.app)
		}
	})
}
