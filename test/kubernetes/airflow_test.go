package kubernetes

import (
	"fmt"
	"maps"
	"path/filepath"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// airflow has tasks of Airflow's operator run, with a driver outside of pods and in one. Airflow follows the pod of the
// latter itself (durable), and spark-submit has gone by then.
func (c *site) airflow() {
	c.t.Helper()
	a := realenv.NewAirflow(c.t)
	c.copy(filepath.Join("..", "e2e", "airflow", "testdata", "report.py"), "report.py")
	program, err := filepath.Abs(filepath.Join("..", "e2e", "airflow", "testdata", "nightly.py"))
	c.must(err)
	c.k.Kubectl("create", "namespace", "spark") // The provider finds the driver's pod in a namespace of this name only.
	c.k.Kubectl("-n", "spark", "create", "serviceaccount", "spark")
	c.k.Kubectl("-n", "spark", "create", "rolebinding", "spark", "--clusterrole=edit", "--serviceaccount=spark:spark")
	report := filepath.Join(c.k.Share, "report.py")
	outside, inside := realenv.Settings(c.k.Flags()), realenv.Settings(c.k.Pods())
	maps.Copy(inside, map[string]string{"spark.pacer.planner": planner, "spark.plugins": "org.apache.spark.pacer.PacerPlugin",
		"spark.jars": "local://" + filepath.Join(c.k.Share, "pacer.jar"), "spark.pacer.deadline": "10m"})
	for _, task := range []struct {
		name, application, exit string
		conf                    map[string]string
		cluster                 bool
		state                   string
		app                     api.AppState
	}{
		{"k8s-client", report, "0", outside, false, "success", api.AppFinished},
		{"k8s-failure", report, "1", outside, false, "failed", api.AppFailed},
		{"k8s-durable", "local://" + report, "0", inside, true, "success", api.AppFinished},
		{"k8s-durable-failure", "local://" + report, "1", inside, true, "failed", api.AppFailed},
	} {
		operator := map[string]any{"application": task.application, "application_args": []any{task.exit}, "conf": task.conf,
			"driver_memory": "512m", "executor_memory": "768m", "num_executors": 2, "executor_cores": 1}
		extra := map[string]any{"namespace": "default"}
		if task.cluster {
			extra["namespace"], extra["deploy-mode"], operator["track_driver_via_k8s_api"] = "spark", "cluster", true
		}
		got := a.Outcome(a.Start(c.s, realenv.Task{DAG: task.name, Program: program, Operator: operator, At: time.Now(),
			Connection: map[string]any{"conn_type": "spark", "host": "k8s://https://" + c.k.Node(), "port": 6443, "extra": extra},
			Env: append(c.k.Env(), "AIRFLOW__KUBERNETES_EXECUTOR__IN_CLUSTER=False",
				"AIRFLOW__KUBERNETES_EXECUTOR__CONFIG_FILE="+filepath.Join(c.k.Dir, "kubeconfig"))}))
		if got.State != task.state {
			c.t.Errorf("%s: in Airflow it is %q: %s", task.name, got.State, got.Said)
		}
		app := c.s.AwaitApp("its end", patience, func(a api.AppDetail) bool { return a.Name != "" && a.State == task.app })
		if app.Profile != task.name+".report" {
			c.t.Errorf("%s: its profile is %q", task.name, app.Profile)
		}
		if code, said := c.s.Pacer("profiles", "show", task.name+".report"); (code == 0) != (task.exit == "0") {
			c.t.Errorf("%s: a profile is shown with %d: %s", task.name, code, said)
		}
		fmt.Printf("airflow: %s is %s\n", task.name, got.State)
	}
}
