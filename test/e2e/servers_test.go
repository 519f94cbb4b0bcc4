package e2e

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestServersOfSQL gives sessions of a Thrift server and of a Connect server a deadline by their own clients, twice: SET
// by beeline, and the session's settings by Python. The servers have none.
func TestServersOfSQL(t *testing.T) {
	realenv.RequireAll(t)
	realenv.Beside(t)
	s := realenv.StartUp(t, "--set", "node.archives="+daemon.NoArchives)
	for _, server := range []struct {
		name, class, key string
		flags            []string
		// client runs the queries of a group with that name at a port; its answer has result.
		client func(t *testing.T, port, group string) *realenv.Process
		result string
	}{
		{"thrift", "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2", "spark.hadoop.hive.server2.thrift.port",
			[]string{"--conf", "spark.hadoop.hive.server2.thrift.bind.host=127.0.0.1", "--conf", "spark.sql.catalogImplementation=in-memory"},
			func(t *testing.T, port, group string) *realenv.Process {
				return realenv.Start(t, []string{"SPARK_SUBMIT_OPTS="}, "spark-class", "org.apache.hive.beeline.BeeLine", "-u", "jdbc:hive2://127.0.0.1:"+port,
					"-e", "SET spark.pacer.group.name="+group, "-e", "SET spark.pacer.group.deadline=10m",
					"-e", "SELECT sum(id) FROM range(0, 1000000, 1, 8)")
			}, "499999500000"},
		{"connect", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark.connect.grpc.binding.port",
			[]string{"--conf", "spark.connect.grpc.binding.address=127.0.0.1"},
			func(t *testing.T, port, group string) *realenv.Process {
				return realenv.Start(t, pythonWith(t, s, "connect"), "python3", "-c", fmt.Sprintf(`
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote("sc://127.0.0.1:%s").getOrCreate()
spark.conf.set("spark.pacer.group.name", "%s")
spark.conf.set("spark.pacer.group.deadline", "10m")
print("RESULT", spark.range(0, 1000000, 1, 8).selectExpr("sum(id)").collect()[0][0])
`, port, group))
			}, "RESULT 499999500000"},
	} {
		t.Run(server.name, func(t *testing.T) {
			address := realenv.FreePort(t)
			_, port, _ := net.SplitHostPort(address)
			args := append([]string{"-c", `cd "$0" && exec spark-submit "$@"`, t.TempDir(), "--master", "sparkpacer://" + s.Address, "--jars", jarOf(t, s),
				"--name", "e2e-" + server.name, "--class", server.class, "--driver-memory", "768m", "--executor-memory", "768m",
				"--conf", "spark.ui.enabled=false", "--conf", server.key + "=" + port}, server.flags...)
			run := realenv.Start(t, []string{"SPARK_SUBMIT_OPTS=", "PACER_CREDENTIALS_DIR=" + s.Credentials()}, "/bin/sh", append(args, "spark-internal")...)
			s.Await("the server to listen", patience, func() bool {
				c, err := net.Dial("tcp", address)
				if err == nil {
					c.Close()
				}
				return err == nil
			})
			group, out := "e2e-group-"+server.name, ""
			for n := 1; n <= 2; n++ {
				client := server.client(t, port, group)
				if code := client.Wait(patience); code != 0 || !strings.Contains(client.Answer(), server.result) {
					t.Fatalf("exit %d:\n%s\n%s\nthe server:\n%s", code, client.Answer(), client.Output(), run.Output())
				}
				out += client.Output()
				s.Await("the group to be a run of the history", patience, func() bool { return len(named(s, group)) == n })
			}
			run.Signal(syscall.SIGTERM)
			if app := sessionEnd(s, "e2e-"+server.name); app.Pacing != "unpaced" || app.Deadline != 0 {
				t.Errorf("the server is %s with a deadline of %v", app.Pacing, app.Deadline)
			}
			twice(t, named(s, group), out+run.Output())
		})
	}
}
