package spark_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sparkpacer/pacer/spark"
)

// TestMain puts something in the jar's place where the jar is not built, and
// remembers what there is.
func TestMain(m *testing.M) {
	carried = spark.Jar
	if len(spark.Jar) == 0 {
		spark.Jar = []byte("not built")
	}
	os.Exit(m.Run())
}

// carried is the jar that this binary was built with, if any.
var carried []byte

func TestWithoutAJarNothingIsInstalled(t *testing.T) {
	jar := spark.Jar
	spark.Jar = nil
	t.Cleanup(func() { spark.Jar = jar })
	dir := t.TempDir()
	if _, err := spark.Install(dir); !errors.Is(err, spark.ErrNoJar) {
		t.Errorf("installing nothing: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v, want no file", entries, err)
	}
}

func TestInstallWritesTheJarOnceUnderItsHash(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "jars")
	path, err := spark.Install(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, spark.Name()); path != want {
		t.Errorf("path %s, want %s", path, want)
	}
	first, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if first.Mode().Perm() != 0o644 {
		t.Errorf("mode %v: an executor's user could not read it", first.Mode())
	}
	if _, err := spark.Install(dir); err != nil {
		t.Fatal(err)
	}
	second, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(first, second) {
		t.Error("a jar in use was replaced by the same one")
	}
}

func TestInstallMendsADamagedJar(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, spark.Name())
	if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := spark.Install(dir); err != nil {
		t.Fatal(err)
	}
	if body, err := os.ReadFile(path); err != nil || !bytes.Equal(body, spark.Jar) {
		t.Errorf("the jar is still damaged (%v)", err)
	}
}

func TestInstallsSideBySideLeaveOneFile(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := spark.Install(dir); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v %v, want the jar alone", entries, err)
	}
}

func TestInstallSaysWhatFailed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := spark.Install(file); err == nil || !strings.Contains(err.Error(), "install the pacer jar") {
		t.Errorf("installing into a file: %v", err)
	}
}

func TestTheJarHasWhatSparkLooksFor(t *testing.T) {
	if len(carried) == 0 {
		t.Skip("needs pacer-spark.jar: run make jar")
	}
	z, err := zip.NewReader(bytes.NewReader(carried), int64(len(carried)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := z.Open("META-INF/services/org.apache.spark.scheduler.ExternalClusterManager")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	class := strings.TrimSpace(string(body))
	if _, err := z.Open(strings.ReplaceAll(class, ".", "/") + ".class"); err != nil {
		t.Errorf("service %s: %v", class, err)
	}
	for _, file := range z.File {
		if !strings.HasPrefix(file.Name, "org/apache/spark/") && strings.HasSuffix(file.Name, ".class") {
			t.Errorf("%s is not relocated: it could meet the user's own", file.Name)
		}
	}
}
