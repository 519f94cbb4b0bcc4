package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
	pacerPlugin    = "org.apache.spark.pacer.PacerPlugin"
)

// attaches reports whether another cluster manager starts the executors. Only the command line says
// so: a master in a file is that of submissions without Pacer.
func (l *launch) attaches() bool {
	master := l.line.master()
	return master == api.ManagerYARN || strings.HasPrefix(master, api.ManagerKubernetes+"://")
}

// inCluster reports whether YARN starts the driver, too.
func (l *launch) inCluster() bool {
	return l.line.master() == api.ManagerYARN && l.given(confDeployMode, "--deploy-mode") == "cluster"
}

// ship has the files of this machine that the driver reads by its settings come to where it runs, as
// copies: Hadoop takes no name with a colon, such as a planner's address. It returns all of --files.
func (l *launch) ship() (string, error) {
	dir, err := os.MkdirTemp("", "pacer-submit-")
	if err != nil {
		return "", fmt.Errorf("files for the driver: %w", err)
	}
	l.shipped = dir
	files := l.given("spark.files", "--files")
	for _, file := range [][2]string{{confCredentials, "pacer.credentials"}, {confTLSCA, "pacer-ca.pem"}} {
		path, copied := l.settings[file[0]], filepath.Join(dir, file[1])
		if path == "" {
			continue
		}
		body, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(copied, body, 0o600)
		}
		if err != nil {
			return "", fmt.Errorf("files for the driver: %w", err)
		}
		files, l.settings[file[0]] = joinJars(files, copied), file[1]
	}
	return files, nil
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
