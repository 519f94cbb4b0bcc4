package pacer_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/sparkpacer/pacer/cli/config"
	"github.com/sparkpacer/pacer/infra/metrics"
)

// object is what is read of one that deploy/kubernetes.yaml makes.
type object struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		Template struct{ Spec pod }
	}
}

type pod struct {
	Token      *bool       `yaml:"automountServiceAccountToken"`
	Links      *bool       `yaml:"enableServiceLinks"`
	HostPID    bool        `yaml:"hostPID"`
	Init       []container `yaml:"initContainers"`
	Containers []container
	Volumes    []struct {
		Name     string
		HostPath *struct{ Path string } `yaml:"hostPath"`
		Secret   *struct {
			Name     string `yaml:"secretName"`
			Optional bool
		}
	}
}

type container struct {
	Image string
	Env   []struct {
		Name, Value string
		From        map[string]map[string]string `yaml:"valueFrom"`
	}
	Ports []struct {
		ContainerPort int `yaml:"containerPort"`
		HostPort      int `yaml:"hostPort"`
	}
	Live     *probe `yaml:"livenessProbe"`
	Ready    *probe `yaml:"readinessProbe"`
	Security struct {
		Privileged   bool
		Capabilities struct{ Add, Drop []string }
	} `yaml:"securityContext"`
}

type probe struct {
	Get struct{ Path string } `yaml:"httpGet"`
}

// rendered are the objects of deploy/kubernetes.yaml by kind.
func rendered(t *testing.T) (text string, all map[string]object) {
	t.Helper()
	body, err := os.ReadFile("deploy/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all = map[string]object{}
	for d := yaml.NewDecoder(strings.NewReader(string(body))); ; {
		var o object
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return string(body), all
		} else if err != nil {
			t.Fatal(err)
		}
		all[o.Kind] = o
	}
}

// TestTheChartIsRendered holds that deploy/kubernetes.yaml is of deploy/chart as it is now, by the digest that scripts/chart.sh
// has left in it, and of this release.
func TestTheChartIsRendered(t *testing.T) {
	sums := sha256.New()
	var files []string
	err := filepath.WalkDir("deploy/chart", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, "./"+strings.TrimPrefix(path, "deploy/chart/"))
		}
		return err
	})
	slices.Sort(files)
	for _, name := range files {
		body, readErr := os.ReadFile(filepath.Join("deploy/chart", name))
		err = errors.Join(err, readErr)
		fmt.Fprintf(sums, "%x  %s\n", sha256.Sum256(body), name)
	}
	release, readErr := os.ReadFile("VERSION")
	if err = errors.Join(err, readErr); err != nil {
		t.Fatal(err)
	}
	text, all := rendered(t)
	if first, _, _ := strings.Cut(text, "\n"); !strings.Contains(first, fmt.Sprintf("%x", sums.Sum(nil))) {
		t.Errorf("deploy/kubernetes.yaml is of another deploy/chart: scripts/chart.sh render")
	}
	want := ":" + strings.TrimSpace(string(release))
	if image := all["DaemonSet"].Spec.Template.Spec.Containers[0].Image; !strings.HasSuffix(image, want) {
		t.Errorf("the image is %s, the release %s", image, want)
	}
}

// TestTheChartAsksForNoMore holds what pods on Kubernetes may: no rights on the API, the machine's processes for the node
// controller alone, the host paths of groups and of its state, and settings that the daemons have.
func TestTheChartAsksForNoMore(t *testing.T) {
	_, all := rendered(t)
	for kind := range all {
		if !slices.Contains([]string{"Service", "StatefulSet", "DaemonSet"}, kind) {
			t.Errorf("there is a %s", kind)
		}
	}
	for kind, paths := range map[string][]string{"StatefulSet": nil, "DaemonSet": {"/sys/fs/cgroup", "/var/lib/pacer-node/pacer-pacer"}} {
		o := all[kind]
		p, node := o.Spec.Template.Spec, kind == "DaemonSet"
		if p.Token == nil || *p.Token || p.Links == nil || *p.Links || p.HostPID != node {
			t.Errorf("%s: token %v, links %v, the machine's processes %v", kind, p.Token, p.Links, p.HostPID)
		}
		var host []string
		for _, v := range p.Volumes {
			if v.HostPath != nil {
				host = append(host, v.HostPath.Path)
			}
			if v.Secret != nil && v.Secret.Optional {
				t.Errorf("%s starts without the Secret %s", kind, v.Secret.Name)
			}
		}
		if !slices.Equal(host, paths) {
			t.Errorf("%s: host paths %v, want %v", kind, host, paths)
		}
		for _, c := range append(p.Init, p.Containers...) {
			want := []string(nil)
			if node {
				want = []string{"SYS_PTRACE", "DAC_OVERRIDE", "DAC_READ_SEARCH", "SYS_ADMIN"}
			}
			if got := c.Security.Capabilities; c.Security.Privileged || !slices.Equal(got.Drop, []string{"ALL"}) || !slices.Equal(got.Add, want) {
				t.Errorf("%s: capabilities %v, privileged %v", kind, got, c.Security.Privileged)
			}
		}
		c := p.Containers[0]
		if c.Live == nil || c.Live.Get.Path != metrics.HealthPath || (c.Ready == nil) != node || !node && c.Ready.Get.Path != metrics.ReadyPath {
			t.Errorf("%s: probes %v and %v", kind, c.Live, c.Ready)
		}
		var environ []string
		for _, e := range c.Env {
			value := e.Value
			if from := e.From["fieldRef"]["fieldPath"]; from == "spec.nodeName" {
				value = "ip-10-0-0-1.compute.internal"
			}
			environ = append(environ, e.Name+"="+value)
		}
		cfg, err := config.Load(config.Sources{Environ: environ})
		if err != nil || len(cfg.Ignored) > 0 {
			t.Errorf("%s: %v, ignored %v", kind, err, cfg.Ignored)
		}
		if err := errors.Join(cfg.Check(), cfg.Node.Validate()); node && (err != nil || !cfg.Node.Attach || cfg.Node.Name != "ip-10-0-0-1-compute-internal") {
			t.Errorf("node %q, attaches %v: %v", cfg.Node.Name, cfg.Node.Attach, err)
		}
		// The scheduler keeps a second release's node controller off a node by the port.
		if node && (len(c.Ports) != 1 || c.Ports[0].HostPort != c.Ports[0].ContainerPort || !strings.HasSuffix(cfg.Node.HTTP, fmt.Sprintf(":%d", c.Ports[0].HostPort))) {
			t.Errorf("ports %v, and it answers at %s", c.Ports, cfg.Node.HTTP)
		}
	}
}
