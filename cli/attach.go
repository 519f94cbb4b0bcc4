package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
)

// Settings by which a driver below another cluster manager talks to Pacer's planner.
const (
	confPlanner = "spark.pacer.planner"
	confPlugins = "spark.plugins"
	// confDeployMode says where the driver runs, confWaits whether spark-submit waits for one elsewhere.
	confDeployMode = "spark.submit.deployMode"
	confWaits      = "spark.yarn.submit.waitAppCompletion"
	confPodWaits   = "spark.kubernetes.submission.waitAppCompletion"
	// confUpload is where spark-submit leaves files of this machine for pods, confPodSecret and confPodSecretOf give a
	// pod's driver its credential: as it is, or by the name of a Secret.
	confUpload      = "spark.kubernetes.file.upload.path"
	confPodSecret   = "spark.kubernetes.driverEnv.PACER_SECRET"
	confPodSecretOf = "spark.kubernetes.driver.secretKeyRef.PACER_SECRET"
	pacerPlugin     = "org.apache.spark.pacer.PacerPlugin"
)

// attaches reports whether another cluster manager starts the executors. Only the command line says
// so: a master in a file is that of submissions without Pacer.
func (l *launch) attaches() bool {
	master := l.line.master()
	return master == api.ManagerYARN || strings.HasPrefix(master, api.ManagerKubernetes+"://")
}

// inCluster reports whether that starts the driver, too.
func (l *launch) inCluster() bool {
	return l.attaches() && l.given(confDeployMode, "--deploy-mode") == "cluster"
}

// inPod reports whether l's driver starts in a pod.
func inPod(l *launch) bool { return l.inCluster() && l.line.master() != api.ManagerYARN }

// manager is how the cluster manager is called that the command line names, and the setting by which spark-submit waits
// for the end of a driver there.
func (s *submission) manager() (name, waits string) {
	if s.master() == api.ManagerYARN {
		return api.ManagerYARN, confWaits
	}
	return "Kubernetes", confPodWaits
}

// withPlugin adds Pacer's plugin to those of the user: directly before the application, where a
// setting wins.
func (l *launch) withPlugin(args []string) []string {
	plugins := l.given(confPlugins, "")
	if slices.Contains(strings.FieldsFunc(plugins, func(r rune) bool { return r == ',' || r == ' ' }), pacerPlugin) {
		return args
	}
	app := len(args) - (len(l.line.args) - l.line.app)
	return slices.Insert(args, app, "--conf", confPlugins+"="+joinJars(plugins, pacerPlugin))
}

// askedPlanner is planner. Where none answers, an application that attaches runs as its cluster
// manager runs any other, unless it was to be refused then: nil with a line about that.
func (l *launch) askedPlanner(ctx context.Context) (client, func(), error) {
	conn, done, err := l.planner(ctx)
	required := strings.EqualFold(l.setting(confRequire), "true")
	if err == nil || required || !l.attaches() || api.KindOf(err) != api.KindTransient {
		return conn, done, err
	}
	fmt.Fprintf(l.Stderr, "pacer: %v; its cluster manager runs it without Pacer\n", err)
	return nil, func() {}, nil
}
