package vm_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/test/e2e/vm"
)

// suites are what runs on cgroup v2 in the machine, with tests that have to be
// among those that passed: a name that is mistyped in Run selects nothing.
var suites = []struct {
	vm.Suite
	among []string
}{
	{vm.Suite{Package: "infra/cgroup", Run: "."}, []string{"TestRealQuota", "TestRealQuotaThrottles", "TestRealRemoveKillsAll",
		"TestRealForeignPeriodIsSeenAndPutBack", "TestRealGroupInside", "TestRealQuotaIsKept", "TestRealWeightIsKept", "TestRealLift", "TestRealSlices",
		"TestRealGrantIsEnough", "TestRealMemoryLimit", "TestRealMemoryLimitTakesPageCache", "TestRealMemoryOverTheLimit",
		"TestRealV2FilesHoldWhatWasSet", "TestRealV2RemoveGetsAtProcessesThatForkOn", "TestRealV2RootOfAnothers",
		"TestRealV2Adopted", "TestRealShield", "TestRealV2WhatIsPromisedStays"}},
	{vm.Suite{Package: "infra/executor", Run: "^Test(Process|What|Quota|Start|Work|Unknown|Zombie|Recover|KilledForLack)"},
		[]string{"TestProcessOnRealGroups/stop_ends_its_descendants", "TestWhatTheProgramSees", "TestQuotaDoesNotDelayStop", "TestKilledForLackOfMemory/the_process"}},
	{vm.Suite{Package: "infra/executor/attached", Run: "^TestRealV2"}, []string{"TestRealV2NamesOfProcessOne"}},
	{vm.Suite{Package: "daemon", Run: "^Test(A.*Guard|AFailedStartIsGuarded|UpHasAGuard|RealForeign)"},
		[]string{"TestAGuardLiftsTheQuotasOfADeadNodeController", "TestUpHasAGuard", "TestRealForeignQuotaIsInsistedOnAndYieldedTo"}},
}

// mayBeSkipped are tests that cannot run inside: the machine has one tree of groups.
var mayBeSkipped = []string{"TestRealMemoryGroupsAreBelowTheOwnOne", "TestRealAdopted", "TestRealMemoryOfAContainerThatIsGone"}

// The tests of the kernel's groups pass on cgroup v2 as they do on the machine at
// hand, in a virtual machine.
func TestOnCgroupV2(t *testing.T) {
	if testing.Short() {
		t.Skip("a virtual machine takes half a minute")
	}
	parts, err := vm.Find()
	if err != nil {
		t.Skipf("cgroup v2 is not tested on a real kernel: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Minute) // Neighbours slow emulation down twenty times over.
	defer cancel()
	var list []vm.Suite
	for _, s := range suites {
		list = append(list, s.Suite)
		seeSources(t, s.Package)
	}
	dir := t.TempDir()
	image := filepath.Join(dir, "image")
	if err := parts.Build(ctx, list, filepath.Join(dir, "root"), image); err != nil {
		t.Fatal(err)
	}
	booted := time.Now()
	out, console, err := parts.Run(ctx, image, dir)
	if err != nil {
		t.Errorf("%v\nits console:\n%s", err, console)
	}
	t.Logf("the machine ran for %v", time.Since(booted).Round(time.Second))
	results, err := vm.Parse(ctx, out)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != len(suites) {
		t.Errorf("%d suites of %d ran; the machine's console:\n%s", len(results), len(suites), console)
	}
	for i, s := range results {
		t.Run(s.Name, func(t *testing.T) { report(t, s, suites[i].among) })
	}
}

// report makes a suite's results those of sub-tests.
func report(t *testing.T, s vm.SuiteResult, among []string) {
	passed := map[string]bool{}
	for _, r := range s.Tests {
		passed[r.Test] = r.Action == "pass"
		t.Run(r.Test, func(t *testing.T) {
			switch {
			case r.Action == "pass":
			case r.Action == "skip" && slices.Contains(mayBeSkipped, r.Test):
				t.Skip(r.Output)
			default:
				t.Errorf("%s on cgroup v2:\n%s", r.Action, r.Output)
			}
		})
	}
	for _, name := range among {
		if !passed[name] {
			t.Errorf("%s did not pass", name)
		}
	}
	if s.Fault != "" {
		t.Errorf("the test binary ended with: %s\n%s", s.Fault, s.Output)
	}
}

// seeSources looks at the sources that a suite is made of, so that go test knows
// this test's result to depend on them.
func seeSources(t *testing.T, pkg string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-test", "-f", "{{if .Module}}{{if .Module.Main}}{{.Dir}}{{end}}{{end}}",
		"github.com/sparkpacer/pacer/"+pkg).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range strings.Fields(string(out)) {
		if _, err := os.ReadDir(dir); err != nil {
			t.Fatal(err)
		}
	}
}
