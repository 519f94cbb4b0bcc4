package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	tried, succeeded := byName(t)
	add("attacks.tried", benchline.One(float64(tried)), "attacks")
	add("attacks.succeeded", benchline.Measured{Value: float64(len(succeeded)), N: tried,
		Spread: [2]float64{0, min(1, float64(len(succeeded)))}}, "attacks")
}

// attackName begins the name of a test of attacks: each of its parts that has none of its own is one.
const attackName = "TestAttack"

// byName runs the tests of attacks of all packages that have some, and returns how many attacks were tried, and the
// names of those that succeeded: their tests have failed.
func byName(t testing.TB) (tried int, succeeded []string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go",
		append([]string{"test", "-count", "1", "-json", "-run", "^" + attackName}, attacked(t)...)...)
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	results, parseErr := attackResults(out)
	for name, failed := range results {
		if tried++; failed {
			succeeded = append(succeeded, name)
			t.Logf("this attack succeeds: %s", name)
		}
	}
	if parseErr != nil || tried == 0 || err != nil && len(succeeded) == 0 {
		t.Fatalf("the tests of attacks: %v, %v\n%s%.4000s", err, parseErr, &said, out)
	}
	return tried, succeeded
}

// attacked are the packages that have tests of attacks.
func attacked(t testing.TB) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "grep", "-l", "^func "+attackName, "--", "*_test.go").Output()
	if err != nil {
		t.Fatalf("look for tests of attacks: %v", err)
	}
	var dirs []string
	for name := range strings.Lines(string(out)) {
		dirs = append(dirs, "./"+path.Dir(strings.TrimSpace(name)))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// attackResults reads what `go test -json` tells: of each test without parts, but for those that were skipped,
// whether it has failed.
func attackResults(out []byte) (failed map[string]bool, err error) {
	failed, whole := make(map[string]bool), make(map[string]bool)
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var e struct{ Action, Package, Test string }
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go test -json: %w", err)
		}
		if e.Test == "" {
			continue
		}
		name := e.Package + "." + e.Test
		switch e.Action {
		case "run":
			if i := strings.LastIndex(name, "/"); strings.Contains(e.Test, "/") {
				whole[name[:i]] = true
			}
		case "pass", "fail":
			failed[name] = e.Action == "fail"
		}
	}
	maps.DeleteFunc(failed, func(name string, _ bool) bool { return whole[name] })
	return failed, nil
}
