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
