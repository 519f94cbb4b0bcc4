package main

import (
	"bytes"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/sparkpacer/pacer/test/benchline"
)

// attackTests try what must be refused, each for its reason, and log how many that are. Those
// of the docker runtime are skipped where Docker cannot run.
var attackTests = []string{"-run",
	"^(TestPrincipalsReachOnlyTheirSubjects|TestWhoMayAskForWhat|TestAnotherUserOfTheMachineIsKeptOut|TestAttacks)$",
	"./infra/bus", "./daemon", "./infra/executor", "./infra/executor/docker"}

var attackCases = regexp.MustCompile(`(?:auth\.cases|confine\.cases:) (\d+)`)

// attacks counts what was tried by whom has no right to it: on the bus and with each verb, on
// HTTP, page, disk and process table, on both runtimes.
func attacks(t testing.TB, add adder) {
	command := exec.CommandContext(t.Context(), "go", append([]string{"test", "-count", "1", "-v"}, attackTests...)...)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	var each []float64 // Of a table.
	for _, m := range attackCases.FindAllStringSubmatch(out.String(), -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		each = append(each, n)
	}
	if len(each) == 0 {
		t.Fatalf("no attack was tried\n%s", &out)
	}
	add("auth.cases", benchline.Sum(each), "attacks")
}
