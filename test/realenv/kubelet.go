package realenv

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/cli/sparkrun"
)

// Kubelet is a real Kubernetes of one node on this machine, with a kubelet, containers and images
// (scripts/kubernetes.sh real).
type Kubelet struct {
	*Process
	// Dir has its files, as the script says. Share is a directory that its pods have at the same path.
	Dir, Share string
	// Inside is the command in front of what runs on the node, outside of pods.
	Inside []string
	t      testing.TB
}

// NewKubelet starts it, built where it is not in the cache yet, and it ends with the test. Its logs are left of a test
// that fails.
func NewKubelet(t testing.TB) *Kubelet {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command(filepath.Join(root, "scripts", "kubernetes.sh"), "real", "build")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build Kubernetes: %v: %s", err, said)
	}
	dir, err := os.MkdirTemp("", "pacer-kubernetes-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the logs of the Kubernetes are in %s", dir)
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	k := &Kubelet{Dir: dir, Share: filepath.Join(dir, "share"), Inside: []string{filepath.Join(dir, "enter")}, t: t}
	k.Process = script(t, "kubernetes.sh", "real", "run", dir)
	return k
}

// Env is what the environment of a submission to it has.
func (k *Kubelet) Env() []string { return []string{"KUBECONFIG=" + filepath.Join(k.Dir, "kubeconfig")} }

// Flags are those of a submission to it whose driver is on the node, outside of pods.
func (k *Kubelet) Flags() []string {
	return append(k.Pods(), "--conf", "spark.driver.host="+k.Node(), "--conf", "spark.driver.bindAddress="+k.Node())
}

// Node is the address of its node.
func (k *Kubelet) Node() string { return "10.213.9.2" }

// Pods are the flags of a submission to it, wherever its driver is: two executors of a core each that request half
// of it.
func (k *Kubelet) Pods() []string {
	flags := []string{"--master", "k8s://https://" + k.Node() + ":6443", "--num-executors", "2", "--executor-cores", "1"}
	for _, conf := range []string{
		"spark.kubernetes.container.image=docker.io/local/spark:4.3.0", "spark.kubernetes.container.image.pullPolicy=Never",
		"spark.kubernetes.authenticate.driver.serviceAccountName=spark",
		"spark.pyspark.python=python3", "spark.pyspark.driver.python=python3", "spark.kubernetes.driver.request.cores=200m",
		"spark.kubernetes.executor.request.cores=500m",
		"spark.kubernetes.executor.limit.cores=1",
	} {
		flags = append(flags, "--conf", conf)
	}
	for _, pod := range []string{"driver", "executor"} {
		at := "spark.kubernetes." + pod + ".volumes.hostPath.share."
		flags = append(flags, "--conf", at+"mount.path="+k.Share, "--conf", at+"options.path="+k.Share)
	}
	return flags
}

// Executors are the groups of pods' containers in which Spark's executors run now, by their directories.
func (k *Kubelet) Executors() map[string]Group {
	k.t.Helper()
	return executors(k.t, "/sys/fs/cgroup/cpu/kubepods/burstable/pod*/*")
}

// Kubectl is what kubectl prints on its standard output.
func (k *Kubelet) Kubectl(args ...string) string {
	k.t.Helper()
	out, err := k.Try(args...)
	if err != nil {
		k.t.Fatalf("kubectl %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// Try is Kubectl of a command that may fail.
func (k *Kubelet) Try(args ...string) (string, error) {
	return output(exec.Command(filepath.Join(k.Dir, "kubectl"), args...))
}

// Helm is what helm prints on its standard output.
func (k *Kubelet) Helm(args ...string) string {
	k.t.Helper()
	out, err := output(exec.Command(filepath.Join(k.Dir, "helm"), args...))
	if err != nil {
		k.t.Fatalf("helm %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// Apply has it make what a manifest says.
func (k *Kubelet) Apply(manifest string) {
	k.t.Helper()
	command := exec.Command(filepath.Join(k.Dir, "kubectl"), "apply", "-f", "-")
	command.Stdin = strings.NewReader(manifest)
	if out, err := output(command); err != nil {
		k.t.Fatalf("kubectl apply: %v: %s", err, out)
	}
}

// Submit starts a plain spark-submit on the node, outside of pods.
func (k *Kubelet) Submit(args ...string) *Process {
	k.t.Helper()
	line := slices.Concat(k.Inside, []string{filepath.Join(SparkHome(k.t), "bin", "spark-submit")}, k.Pods(), args)
	return start(k.t, sparkrun.Command{Path: line[0], Args: line[1:], Env: environment(k.Env())})
}

// output is what a command prints on its standard output; an error has what it printed on the other one.
func output(command *exec.Cmd) (string, error) {
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, said.String())
	}
	return string(out), err
}
