package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sparkpacer/pacer/test/realenv"
)

// driverPod is what is read of what spark-submit makes on Kubernetes for a driver: its pod and the settings beside that.
type driverPod struct {
	Kind     string
	Metadata map[string]any
	Data     map[string]string
	Spec     struct {
		Containers []struct {
			Env []struct {
				Name, Value string
				ValueFrom   struct {
					SecretKeyRef struct{ Name, Key string }
				}
			}
			VolumeMounts []struct{ Name, MountPath string }
		}
	}
}

// anAPI takes what is made and shows nothing else; made returns what it has taken, and forgets that.
func anAPI(t *testing.T) (address string, made func() (pod driverPod, settings string)) {
	var mu sync.Mutex
	var objects []driverPod
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, err := io.ReadAll(r.Body)
		var o driverPod
		if err != nil || len(body) == 0 || json.Unmarshal(body, &o) != nil {
			http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":404}`, http.StatusNotFound)
			return
		}
		objects = append(objects, o)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() (pod driverPod, settings string) {
		mu.Lock()
		defer mu.Unlock()
		for _, o := range objects {
			switch o.Kind {
			case "Pod":
				pod = o
			case "ConfigMap":
				settings += o.Data["spark.properties"]
			}
		}
		objects = nil
		return pod, settings
	}
}

// TestDriverInAPod holds what spark-submit makes on Kubernetes of the recipe for the Spark Operator, and of a command line of
// pacer submit: the driver's credential is in its environment, and no command line or file of this machine has it.
func TestDriverInAPod(t *testing.T) {
	realenv.RequireAll(t)
	address, made := anAPI(t)
	stock := append([]string{filepath.Join(realenv.SparkHome(t), "bin", "spark-submit")},
		realenv.OperatorArguments(t, "../../docs/attach.md", "k8s://"+address)...)
	if run := realenv.Start(t, nil, stock[0], stock[1:]...); run.Wait(realenv.Patience) != 0 {
		t.Fatal(run.LastWords())
	}
	pod, settings := made()
	of := func(name string) (value, secret string) {
		for _, e := range pod.Spec.Containers[0].Env {
			if e.Name == name {
				return e.Value, e.ValueFrom.SecretKeyRef.Name + ":" + e.ValueFrom.SecretKeyRef.Key
			}
		}
		return "", ""
	}
	if pod.Kind == "" {
		t.Fatal("there is no pod")
	}
	value, secret := of("PACER_SECRET")
	at := slices.IndexFunc(pod.Spec.Containers[0].VolumeMounts, func(m struct{ Name, MountPath string }) bool { return m.MountPath == "/etc/pacer" })
	if value != "" || secret != "pacer-ann:ann.key" || at < 0 {
		t.Errorf("the operator's driver has %q, %q, and %v", value, secret, pod.Spec.Containers[0].VolumeMounts)
	}
	for _, want := range []string{"spark.plugins=org.apache.spark.pacer.PacerPlugin", "spark.pacer.deadline=15m", "spark.pacer.tls.ca=/etc/pacer/ca.pem"} {
		if !strings.Contains(settings, want+"\n") {
			t.Errorf("%s is not among the driver's settings:\n%s", want, settings)
		}
	}

	s := realenv.New(t)
	s.StartPlanner()
	run := s.Submit("--master", "k8s://"+address, "--deploy-mode", "cluster", "--pacer-deadline", "90s",
		"--conf", "spark.pacer.planner=planner.example:4222", "--conf", "spark.kubernetes.container.image=none",
		"--conf", "spark.kubernetes.submission.waitAppCompletion=false", "local:///opt/app.py")
	if code := run.Wait(realenv.Patience); code != 0 || !strings.Contains(run.Output(), "Kubernetes has taken the application") {
		t.Fatalf("exit code %d: %s", code, run.LastWords())
	}
	pod, settings = made()
	if value, _ = of("PACER_SECRET"); !strings.Contains(value, "\nticket-") || !strings.Contains(settings, "spark.pacer.deadline=90s\n") {
		t.Errorf("pacer submit's driver has %q and\n%s", value, settings)
	}
}
