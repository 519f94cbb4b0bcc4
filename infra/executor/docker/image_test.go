package docker_test

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/image"

	"github.com/sparkpacer/pacer/infra/executor/docker"
)

// ownImage makes an image with the machine's shell and its libraries, the files
// named, all empty, and environment variables.
func ownImage(t *testing.T, name string, env []string, files ...string) {
	t.Helper()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	put := func(name string, body []byte) {
		err := w.WriteHeader(&tar.Header{Name: strings.TrimPrefix(name, "/"), Mode: 0o755, Size: int64(len(body)), Typeflag: tar.TypeReg})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(body); err != nil {
			t.Fatal(err)
		}
	}
	libraries, err := exec.Command("ldd", "/bin/sh").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append([]string{"/bin/sh"}, regexp.MustCompile(`/\S+`).FindAllString(string(libraries), -1)...) {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		put(path, body)
	}
	for _, path := range files {
		put(path, nil)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var changes []string
	for _, e := range env {
		changes = append(changes, "ENV "+e)
	}
	c := dockerClient(t, "")
	reply, err := c.ImageImport(t.Context(), image.ImportSource{Source: &archive, SourceName: "-"}, name, image.ImportOptions{Changes: changes})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, reply)
	_ = reply.Close()
	t.Cleanup(func() {
		if _, err := c.ImageRemove(context.Background(), name, image.RemoveOptions{Force: true}); err != nil {
			t.Error(err)
		}
	})
}

func TestSparkOfAnImage(t *testing.T) {
	r := newRig(t)
	r.start(t, r.runtime(t), r.spec(t, "exec sleep 600")) // Makes the host image.
	ownImage(t, "pacer-test-spark:latest", []string{"SPARK_HOME=/spark", "JAVA_HOME=/java"}, "/spark/jars/spark-core_2.13-4.3.0.jar", "/java/bin/java")
	ownImage(t, "pacer-test-nojava:latest", []string{"PATH=/own/bin:/bin"}, "/opt/spark/jars/spark-core_2.13-4.3.0.jar")
	got, err := r.engine.Spark(t.Context(), "pacer-test-spark:latest", "4.3.0")
	if want := (docker.Spark{SparkHome: "/spark", JavaHome: "/java"}); got != want || err != nil {
		t.Errorf("found %+v, %v", got, err)
	}
	for name, c := range map[string]struct{ image, version, want string }{
		"no Spark":        {docker.HostImage, "4.3.0", "image pacer-host:latest has no Spark: there is no /opt/spark/jars in it (SPARK_HOME in its environment says where)"},
		"another version": {"pacer-test-spark:latest", "4.0.2", "the driver runs Spark 4.0.2, but the Spark in /spark of image pacer-test-spark:latest is another one: use an image with the driver's version"},
		"no Java":         {"pacer-test-nojava:latest", "4.3.0", "image pacer-test-nojava:latest has no Java: there is no java in /own/bin, /bin (JAVA_HOME or PATH in its environment says where)"},
		"no image":        {"no.such/spark:9", "4.3.0", "image no.such/spark:9 is not on this node: docker pull no.such/spark:9, or leave the image empty to use this machine's Spark"},
	} {
		if _, err := r.engine.Spark(t.Context(), c.image, c.version); err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// An executor of a user's own image sees that image's programs and environment,
// its own directories and the pacer jar.
func TestOwnImageRuns(t *testing.T) {
	r := newRig(t)
	ownImage(t, "pacer-test-own:latest", []string{"PATH=/own/bin", "OWN=yes"})
	jar := filepath.Join(filepath.Dir(r.layout.Root), "jar", "pacer.jar")
	if err := os.Mkdir(filepath.Dir(jar), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(jar, []byte("jar\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := r.spec(t, `echo $OWN $A $PATH; read -r x <`+jar+`; echo $x; [ -e /etc/passwd ] || echo alone; echo x >y; echo end; read -r x`)
	s.Image, s.Reads = "pacer-test-own:latest", []string{jar}
	_, paths := r.start(t, r.runtime(t), s)
	if got := awaitLog(t, paths); got != "yes b /own/bin\njar\nalone\nend\n" {
		t.Errorf("it printed %q", got)
	}
	if body, err := os.ReadFile(filepath.Join(paths.Work, "y")); err != nil || string(body) != "x\n" {
		t.Errorf("its file: %q, %v", body, err)
	}
}
