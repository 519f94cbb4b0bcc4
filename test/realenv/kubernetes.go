package realenv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Kubernetes is a mock of its API on this machine's loopback, and what starts pods as processes in groups that are
// named and bounded as a kubelet's are (scripts/kubernetes.sh).
type Kubernetes struct {
	dir string
	t   testing.TB
}

// NewKubernetes starts a Kubernetes, which ends with the test.
func NewKubernetes(t testing.TB) *Kubernetes {
	t.Helper()
	k := &Kubernetes{t.TempDir(), t}
	script(t, "kubernetes.sh", "run", k.dir)
	return k
}

// told is what it has written into a file.
func (k *Kubernetes) told(name string) string {
	k.t.Helper()
	text, err := os.ReadFile(filepath.Join(k.dir, name))
	if err != nil {
		k.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// Env is nothing: no file says where it is.
func (k *Kubernetes) Env() []string { return nil }

// Flags are those of a submission to it, of executors that ask for 0.9 cores and may use one.
func (k *Kubernetes) Flags() []string {
	return []string{"--master", "k8s://http://127.0.0.1:" + k.told("port"), "--num-executors", "2",
		"--executor-cores", "1",
		"--conf", "spark.kubernetes.executor.request.cores=900m", "--conf", "spark.kubernetes.executor.limit.cores=1",
		"--conf", "spark.kubernetes.container.image=none", "--conf", "spark.driver.host=127.0.0.1",
		"--conf", "spark.driver.bindAddress=127.0.0.1"}
}

// Executors are the groups of pods' containers in which Spark's executors run now, by their directories.
func (k *Kubernetes) Executors() map[string]Group {
	k.t.Helper()
	return executors(k.t, filepath.Join(k.told("groups"), "kubepods", "burstable", "pod*", "*"))
}
