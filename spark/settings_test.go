package spark_test

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Spark's own list of an executor's settings, and the table that says who carries each out, have the
// same rows: a new Spark's setting is nobody's until a row says whose.
func TestEverySettingOfAnExecutorHasARow(t *testing.T) {
	home := os.Getenv("SPARK_HOME")
	if home == "" {
		t.Skip("SPARK_HOME names no Spark")
	}
	jars, _ := filepath.Glob(filepath.Join(home, "jars", "spark-core_2.13-*.jar"))
	if len(jars) != 1 {
		t.Fatalf("%d jars of Spark's core in %s", len(jars), home)
	}
	jar, err := zip.OpenReader(jars[0])
	if err != nil {
		t.Fatal(err)
	}
	defer jar.Close()
	table, err := os.ReadFile(filepath.FromSlash("src/main/scala/org/apache/spark/pacer/ExecutorSettings.scala"))
	if err != nil {
		t.Fatal(err)
	}
	key, found := regexp.MustCompile(`spark\.executor\.[A-Za-z0-9.]*[A-Za-z0-9]`), map[string]bool{}
	for _, f := range jar.File {
		if !strings.HasPrefix(f.Name, "org/apache/spark/internal/config/") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		for _, k := range key.FindAll(body, -1) {
			found[string(k)] = true
		}
	}
	if len(found) < 25 {
		t.Fatalf("%d settings in %s", len(found), jars[0])
	}
	for k := range found {
		if !strings.Contains(string(table), `"`+strings.TrimPrefix(k, "spark.executor.")+`"`) {
			t.Errorf("%s has no row", k)
		}
	}
}
