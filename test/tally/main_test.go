package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLeavesAreCountedAndFailuresShown(t *testing.T) {
	in := `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/one"}
{"Action":"run","Package":"p","Test":"TestA/two"}
{"Action":"output","Package":"p","Test":"TestA/two","Output":"    a.go:3: wrong\n"}
{"Action":"pass","Package":"p","Test":"TestA/one"}
{"Action":"fail","Package":"p","Test":"TestA/two"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p","Elapsed":1}
{"Action":"run","Package":"q","Test":"TestB"}
{"Action":"output","Package":"q","Test":"TestB","Output":"quiet\n"}
{"Action":"pass","Package":"q","Test":"TestB","Elapsed":12.5}
{"Action":"run","Package":"q","Test":"TestC"}
{"Action":"output","Package":"q","Test":"TestC","Output":"    c.go:7: needs x: not here\n"}
{"Action":"skip","Package":"q","Test":"TestC"}
{"Action":"pass","Package":"q","Elapsed":0.5}
{"Action":"fail","Package":"broken","FailedBuild":"broken"}
`
	var out bytes.Buffer
	if code := run(nil, strings.NewReader(in), &out); code != 1 {
		t.Errorf("exit code %d", code)
	}
	text := out.String()
	// The failed sub-test, its parent and the package that did not build.
	if !strings.HasSuffix(text, "\n2 passed, 3 failed, 1 skipped\n") {
		t.Errorf("it ends with %q", text[max(0, len(text)-60):])
	}
	if !strings.Contains(text, "skip  q TestC: needs x: not here\n") {
		t.Errorf("why a test was skipped is not said:\n%s", text)
	}
	if !strings.Contains(text, "0.5s\n          TestB  ") || !strings.Contains(text, "12.5s\n") {
		t.Errorf("a long test is not said under its package:\n%s", text)
	}
	if !strings.Contains(text, "a.go:3: wrong") || strings.Contains(text, "quiet") {
		t.Errorf("the output of failures, and only that, is wanted:\n%s", text)
	}
}

func TestWhatFailedIsSaidAtTheEnd(t *testing.T) {
	in := `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: 4 s late\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    system.go:9: a page of log\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p","Elapsed":1}
{"Action":"output","Package":"q","Output":"ok\n"}
{"Action":"pass","Package":"q","Elapsed":1}
`
	var out bytes.Buffer
	run(nil, strings.NewReader(in), &out)
	if want := "\nfailed TestA\n      a_test.go:3: 4 s late\n0 passed, 1 failed\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("%q does not end with %q", out.String(), want)
	}
}

func TestReportsOfScalaTestsCount(t *testing.T) {
	dir := t.TempDir()
	report := `<?xml version="1.0"?><testsuite name="PageTest" tests="5" failures="0" errors="0" skipped="1"></testsuite>`
	if err := os.WriteFile(filepath.Join(dir, "TEST-PageTest.xml"), []byte(report), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if code := run([]string{dir}, strings.NewReader(""), &out); code != 0 || !strings.HasSuffix(out.String(), "4 passed, 0 failed, 1 skipped\n") {
		t.Errorf("exit code %d, %q", code, out.String())
	}
}

func TestNothingTestedIsAFailure(t *testing.T) {
	var out bytes.Buffer
	if code := run([]string{t.TempDir()}, strings.NewReader("go: cannot find main module\n"), &out); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(out.String(), "cannot find main module") {
		t.Errorf("what is no JSON is lost: %q", out.String())
	}
}

// skipping is a run of two tests, of which the first is skipped.
const skipping = `{"Action":"run","Package":"x/p","Test":"TestA"}
{"Action":"output","Package":"x/p","Test":"TestA","Output":"    c.go:7: needs x\n"}
{"Action":"skip","Package":"x/p","Test":"TestA"}
{"Action":"run","Package":"x/p","Test":"TestB"}
{"Action":"pass","Package":"x/p","Test":"TestB"}
{"Action":"pass","Package":"x/p","Elapsed":0.5}
`

func TestASkipThatIsNotListedFails(t *testing.T) {
	for name, c := range map[string]struct {
		list, tier string
		strict     bool
		code       int
		says       string
	}{
		"listed":                {"check p TestA needs x", "check", true, 0, "  0.5s\n          1 skipped: needs x\n1 passed, 0 failed, 1 skipped\n"},
		"listed by a pattern":   {"all,check p Test? needs x", "check", true, 0, "\n1 passed, 0 failed, 1 skipped\n"},
		"of another tier":       {"all p TestA needs x", "check", true, 1, "\n1 passed, 1 failed\n"},
		"of another package":    {"check q TestA needs x", "check", true, 1, "FAIL  x/p TestA: needs x (not in the list of skips)\n"},
		"of another test":       {"check p TestB needs x", "check", true, 1, "\n1 passed, 1 failed\n"},
		"not strict":            {"# nothing", "check", false, 0, "skip  x/p TestA: needs x (not in the list of skips)\n"},
		"a line without reason": {"check p TestA", "check", false, 1, "skips:1: want tiers, package, test and reason\n"},
	} {
		file := filepath.Join(t.TempDir(), "skips")
		if err := os.WriteFile(file, []byte(c.list+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		args := []string{"-skips", file, "-tier", c.tier}
		if c.strict {
			args = append(args, "-strict")
		}
		var out bytes.Buffer
		if code := run(args, strings.NewReader(skipping), &out); code != c.code || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s", name, code, c.code, c.says, out.String())
		}
	}
}

func TestSkippedScalaTestsAreHeldToTheListToo(t *testing.T) {
	dir := t.TempDir()
	report := `<testsuite name="PageTest" tests="2" failures="0" errors="0" skipped="1"><testcase name="a" classname="PageTest"><skipped/></testcase><testcase name="b" classname="PageTest"/></testsuite>`
	list := filepath.Join(dir, "skips")
	for file, text := range map[string]string{filepath.Join(dir, "TEST-PageTest.xml"): report, list: ""} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if code := run([]string{"-skips", list, "-tier", "test", "-strict", dir}, strings.NewReader(""), &out); code != 1 || !strings.HasSuffix(out.String(), "1 passed, 1 failed\n") {
		t.Errorf("exit code %d, %q", code, out.String())
	}
}

func TestSecondAttemptsAreSaidAndCounted(t *testing.T) {
	in := `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"attr","Package":"p","Test":"TestA","Key":"repeated","Value":"3 % late"}
{"Action":"attr","Package":"p","Test":"TestA","Key":"other","Value":"x"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Elapsed":0.5}
`
	var out bytes.Buffer
	if code := run(nil, strings.NewReader(in), &out); code != 0 || !strings.HasSuffix(out.String(), "\n1 passed, 0 failed, 1 second attempts\n") {
		t.Errorf("exit code %d, %q", code, out.String())
	}
	if !strings.Contains(out.String(), "again p TestA: 3 % late\n") {
		t.Errorf("why there was a second attempt is not said:\n%s", out.String())
	}
}

// The last words of a process that the runtime ends stand with the test that ran, which has no end.
func TestAPackageThatEndsInATestSaysWhy(t *testing.T) {
	in := `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"fatal error: select on synctest channel\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.5s\n"}
{"Action":"fail","Package":"p","Elapsed":0.5}
`
	var out bytes.Buffer
	if code := run(nil, strings.NewReader(in), &out); code != 1 || !strings.Contains(out.String(), "fatal error: select on synctest channel\n") {
		t.Errorf("exit code %d, %q", code, out.String())
	}
}
