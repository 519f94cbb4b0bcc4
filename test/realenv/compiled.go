package realenv

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// Compiled is a jar of a program in Java, made against the environment's Spark.
func Compiled(t testing.TB, source string) string {
	t.Helper()
	classes, jar := t.TempDir(), filepath.Join(t.TempDir(), "program.jar")
	for _, line := range [][]string{
		{"javac", "-nowarn", "-d", classes, "-cp", filepath.Join(SparkHome(t), "jars", "*"), source},
		{"jar", "--create", "--file", jar, "-C", classes, "."},
	} {
		if out, err := exec.CommandContext(t.Context(), line[0], line[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line[0], err, out)
		}
	}
	return jar
}
