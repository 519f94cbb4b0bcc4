package main

import (
	"bytes"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/test/benchline"
)

// userRows are of the pages, errors, keys and packages that a user meets. Each figure is printed by the test that
// holds it, or by scripts/packages.sh.
func userRows() []row {
	tests := func(args ...string) func(testing.TB, adder) {
		return printed("go", append([]string{"test", "-count", "1", "-v", "-run"}, args...)...)
	}
	return []row{
		{name: "docs", minutes: 1, always: true, measure: tests(
			"^(TestUserPagesArePlain|TestTheTutorialIsShort|TestLinksOfDocumentsExist|TestEveryKeyAndSettingIsDocumented)$",
			".", "./test/pages")},
		{name: "blocks", minutes: 1, always: true, measure: tests("^TestBlocks$", "./test/guides")},
		{name: "errors", minutes: 0.5, always: true, measure: tests("^TestFaultsHaveOneCodeEach$", "./cli")},
		{name: "keys", minutes: 0.5, always: true, measure: tests("^TestOneFileMakesNodesOfAllMachines$", "./daemon")},
		{name: "doctor", minutes: 0.5, always: true, measure: tests(".", "./cli/doctor")},
		{name: "packages", minutes: 6, always: true, measure: printed("scripts/packages.sh", "check")},
		{name: "upgrade", minutes: 6, always: true, measure: printed("scripts/units-vm.sh")},
		{name: "airflow", minutes: 15, extra: true, always: true, measure: story(".", "./test/e2e/airflow")},
		{name: "groups", minutes: 3, extra: true, always: true,
			measure: story("^TestGroupsOfANotebook$", "./test/e2e")},
	}
}

// story measures by tests on real Spark.
func story(run, pkg string) func(testing.TB, adder) {
	return printed("sh", "-c", `YARN=1 PACER_TEST_ALL=1 scripts/on-spark.sh "$PYSPARK" `+
		`go test -count 1 -v -timeout 40m -run "$0" "$1"`, run, pkg)
}

// kubernetesRows are of the stories on a real Kubernetes, which print them.
func kubernetesRows() []row {
	return []row{{name: "kubelet", minutes: 25, spark: true, always: true,
		measure: printed("go", "test", "-count", "1", "-v", "-timeout", "60m", "./test/kubernetes")}}
}

// printedFigure is a line with a figure.
var printedFigure = regexp.MustCompile(`(?m)^((?:airflow|group|docs|errors|keys|doctor|packages|image|units|` +
	`upgrade|k8s)\.[a-z0-9_.]+) (-?[0-9.]+)$`)

// printed runs a command and takes the figures that it prints.
func printed(name string, args ...string) func(testing.TB, adder) {
	return func(t testing.TB, add adder) {
		command := exec.CommandContext(t.Context(), name, args...)
		var said bytes.Buffer
		command.Stderr = &said
		out, err := command.Output()
		found := printedFigure.FindAllStringSubmatch(string(out), -1)
		for _, m := range found {
			value, parse := strconv.ParseFloat(m[2], 64)
			if parse != nil {
				t.Fatal(parse)
			}
			unit := "count"
			switch {
			case strings.Contains(m[1], "_pct"):
				unit = "%"
			case strings.Contains(m[1], "_ms."):
				unit = "ms"
			case strings.HasSuffix(m[1], "_s"):
				unit = "s"
			case strings.HasSuffix(m[1], "mib"):
				unit = "MiB"
			}
			add(m[1], benchline.One(value), unit)
		}
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %d figures\n%s%s", command, err, len(found), &said, out)
		}
	}
}
