package vm_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sparkpacer/pacer/test/e2e/vm"
)

// A serial line's output becomes tests by name; a suite that the machine died in
// is a fault, and so is a test that did not end.
func TestParse(t *testing.T) {
	stream := strings.ReplaceAll("noise\n"+
		"\x01suite cgroup\n\x16=== RUN   TestA\n\x16=== RUN   TestA/b\n    a_test.go:3: wrong\n"+
		"\x16--- FAIL: TestA (0.01s)\n    \x16--- FAIL: TestA/b (0.00s)\n\x16=== RUN   TestC\n    c_test.go:4: not here\n\x16--- SKIP: TestC (0.00s)\n\x16FAIL\n"+
		"\x01end cgroup: exit status 1\n"+
		"\x01suite executor\n\x16=== RUN   TestD\n\x16--- PASS: TestD (0.00s)\n\x16PASS\n\x01end executor: ok\n"+
		"\x01suite daemon\n\x16=== RUN   TestE\nKilled", "\n", "\r\n")
	got, err := vm.Parse(t.Context(), []byte(stream))
	if err != nil {
		t.Fatal(err)
	}
	want := []vm.SuiteResult{
		{Name: "cgroup", Fault: "exit status 1", Tests: []vm.Result{{Test: "TestA", Action: "fail"}, {Test: "TestA/b", Action: "fail"}, {Test: "TestC", Action: "skip"}}},
		{Name: "executor", Tests: []vm.Result{{Test: "TestD", Action: "pass"}}},
		{Name: "daemon", Fault: "it did not end", Tests: []vm.Result{{Test: "TestE"}}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(vm.Result{}, "Output"), cmpopts.IgnoreFields(vm.SuiteResult{}, "Output")); diff != "" {
		t.Fatal(diff)
	}
	if text := got[0].Tests[1].Output; !strings.Contains(text, "a_test.go:3: wrong") {
		t.Errorf("output of TestA/b: %q", text)
	}
}
