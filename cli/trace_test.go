package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A trace that is generated is read and summed up, as a table and as JSON; a file is never overwritten.
func TestTrace(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	if o := w.run(t, "trace", "generate", "--scale", "0.002", dir); o.code != 0 {
		t.Fatalf("generate: %d: %s", o.code, o.err)
	}
	if o := w.run(t, "trace", dir); o.code != 0 || !strings.Contains(o.out, "26 jobs") ||
		!strings.Contains(o.out, "CPU and memory of 3 machines: correlation") || !strings.Contains(o.out, "22 services") {
		t.Errorf("trace: %d: %s%s", o.code, o.out, o.err)
	}
	if o := w.run(t, "trace", dir, "-o", "json"); o.code != 0 || !strings.Contains(o.out, `"jobs":26`) && !strings.Contains(o.out, `"jobs": 26`) {
		t.Errorf("trace -o json: %d: %s%s", o.code, o.out, o.err)
	}
	if o := w.run(t, "trace", "generate", "--scale", "0.002", dir); o.code == 0 {
		t.Error("a trace is overwritten")
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]string{{"trace", file}, {"trace", filepath.Join(dir, "gone")}, {"trace", t.TempDir()},
		{"trace", "generate", "--scale", "-1", t.TempDir()}, {"trace"}} {
		if o := w.run(t, bad...); o.code == 0 || strings.Count(o.err, "\n") > 2 {
			t.Errorf("%v: %d: %s", bad, o.code, o.err)
		}
	}
}
