package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
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

// Names that the driver has for what pacer submit brings it.
const (
	shippedTicket = "pacer.ticket"
	shippedCA     = "pacer-ca.pem"
)

// ship has the driver find what it reads by its settings where it runs, and returns all of --files. In place of its
// user's credential it is a ticket for this submission: the cluster manager shows all executors what it brings. Both
// are files without a name, which spark-submit inherits: nothing is left when this process is killed.
func (l *launch) ship(ctx context.Context, conn client) (string, error) {
	files := l.given("spark.files", "--files")
	bring := func(key, name string, body []byte) error {
		f, err := unnamed(name, body)
		if err != nil {
			return fmt.Errorf("%s for the driver: %w", name, err)
		}
		l.shipped = append(l.shipped, f)
		files = joinJars(files, fmt.Sprintf("/proc/self/fd/%d#%s", f.Fd(), name))
		l.settings[key] = name
		return nil
	}
	if path := l.settings[confTLSCA]; path != "" {
		body, err := os.ReadFile(path)
		if err == nil {
			err = bring(confTLSCA, shippedCA, body)
		}
		if err != nil {
			return "", fmt.Errorf("the planner's authority: %w", err)
		}
	}
	if l.settings[confCredentials] == "" {
		return files, nil
	}
	delete(l.settings, confCredentials)
	if conn == nil {
		return files, nil // It runs without Pacer.
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	who := api.Principal{Kind: api.PrincipalTicket, Name: l.settings[confSubmission]}
	ticket := bus.NewCredential(who.Login())
	_, err := conn.Control(ctx, api.VerbTicket, api.ControlRequest{Issue: &api.Issue{Principal: who, Key: ticket.Key()}})
	if err != nil {
		return "", fmt.Errorf("a ticket for the driver: %w", err)
	}
	err = bring(confCredentials, shippedTicket, ticket.Encode())
	return files, err
}

// unnamed is a file without a name, with that content. A child of this process inherits it, by the same number.
func unnamed(name string, body []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(body); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
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
