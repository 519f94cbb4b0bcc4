package executor_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/executor"
)

// Why an executor cannot be started fits into a status, whatever its registration says.
func TestAttackByPathsOfARegistration(t *testing.T) {
	for name, piece := range map[string]string{"long": "/a", "of no letters": "/\u20ac\u20ac", "of lines": "/\n"} {
		t.Run(name, func(t *testing.T) {
			long := strings.Repeat(piece, api.MostPath/len(piece)-1)
			r := api.RegisterRequest{V: api.Version, Submission: "s", Name: "n",
				Launch: api.Launch{DriverURL: "spark://x", Heap: 1 << 30, SparkVersion: "4.2.0", SparkHome: long, JavaHome: long}}
			if err := r.Validate(); err != nil {
				t.Fatal(err)
			}
			_, err := executor.Command("app-1", "1", r.Launch, executor.Paths{}, executor.NodeSettings{Host: "127.0.0.1", Slots: 1})
			status := api.NodeStatus{V: api.Version, Node: "n", Incarnation: "i", Seq: 1, Offered: 1, Total: 1,
				Executors: []api.ExecutorStatus{{App: "app-1", ID: "1", State: api.ExecutorExited, Exit: "start: " + err.Error(), Quota: api.Unknown}}}
			if err := status.Validate(); err != nil || !strings.Contains(status.Executors[0].Exit, "no Spark 4") {
				t.Errorf("%.200v", err)
			}
		})
	}
}
