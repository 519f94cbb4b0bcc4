package executor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/infra/executor"
)

func TestTheCauseOfAnExceptionIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ log, want string }{
		"a host that nothing resolves": {
			"Using Spark's default log4j profile: org/apache/spark/log4j2-defaults.properties\n" +
				"Exception in thread \"main\" java.lang.reflect.UndeclaredThrowableException\n\tat java.base/a.b(C.java:1)\n" +
				"Caused by: java.lang.ExceptionInInitializerError\n\tat org.apache.spark.x.Y(Z.scala:2)\n" +
				"Caused by: java.net.UnknownHostException: c0ffee: c0ffee: Name or service not known\n\t... 12 more\n",
			"java.net.UnknownHostException: c0ffee: c0ffee: Name or service not known"},
		"an option that the JVM does not know": {"Error: Could not create the Java Virtual Machine.\n", ""},
		"the last of several": {"java.io.IOException: first\nsomething else\norg.apache.spark.SparkException: last\r\n",
			"org.apache.spark.SparkException: last"},
		"words about an exception": {"26/11/28 WARN Executor: java.io.IOException was ignored here\n", ""},
		"an error":                 {"java.lang.OutOfMemoryError: Java heap space\n", "java.lang.OutOfMemoryError: Java heap space"},
		"a command for terminals":  {"a.b.CException: \x1b[31mred\n", "a.b.CException: [31mred"},
		"a long one":               {"a.b.CException: " + strings.Repeat("x", 900) + "\n", "a.b.CException: " + strings.Repeat("x", 184)},
		"nothing":                  {"", ""},
	} {
		path := filepath.Join(t.TempDir(), "stderr")
		if err := os.WriteFile(path, []byte(c.log), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := executor.Thrown(path); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	link := filepath.Join(t.TempDir(), "stderr")
	if err := os.Symlink("/etc/passwd", link); err != nil {
		t.Fatal(err)
	}
	if got := executor.Thrown(link); got != "" {
		t.Errorf("a link was followed: %q", got)
	}
}
