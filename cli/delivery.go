package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
)

// Names that the driver has for what pacer submit brings it.
const (
	shippedTicket = "pacer.ticket"
	shippedCA     = "pacer-ca.pem"
)

// delivery is what a driver elsewhere is given of what it reads by its settings. In place of its user's credential it
// is a ticket for this submission: the cluster manager shows all executors what it brings. YARN brings files. In a pod
// a driver has its settings and its environment alone, and a file has those: a command line is shown to all.
type delivery struct {
	l      *launch
	files  string
	hidden map[string]string
}

// ship gathers that and adds the options for it. All are files without a name, which spark-submit inherits: nothing is
// left when this process is killed.
func ship(ctx context.Context, l *launch, conn client, options map[string]string) error {
	d := delivery{l, l.given("spark.files", "--files"), map[string]string{}}
	if err := d.gather(ctx, conn); err != nil {
		return err
	}
	if len(d.hidden) > 0 {
		all := maps.Clone(l.files.all)
		maps.Copy(all, d.hidden)
		path, err := d.hold("pacer.properties", propertiesOf(all))
		if err != nil {
			return err
		}
		options[optionProperties] = path
	}
	if d.files != "" && !inPod(l) {
		options["--files"] = d.files
	}
	return nil
}

// gather takes the settings that name this machine's files, for what the driver has in their place.
func (d *delivery) gather(ctx context.Context, conn client) error {
	ca, own := d.l.settings[confTLSCA], d.l.settings[confCredentials] != ""
	delete(d.l.settings, confCredentials)
	if ca != "" {
		body, err := os.ReadFile(ca)
		if err == nil {
			body = body[max(0, bytes.Index(body, []byte("-----BEGIN"))):] // By that the jar knows it from a path.
			err = d.bring(confTLSCA, shippedCA, confTLSCA, body)
		}
		if err != nil {
			return fmt.Errorf("the planner's authority: %w", err)
		}
	}
	if !own || conn == nil || d.l.given(confPodSecretOf, "") != "" {
		return nil // Without a planner it runs without Pacer.
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	who := api.Principal{Kind: api.PrincipalTicket, Name: d.l.settings[confSubmission]}
	ticket := bus.NewCredential(who.Login())
	_, err := conn.Control(ctx, api.VerbTicket, api.ControlRequest{Issue: &api.Issue{Principal: who, Key: ticket.Key()}})
	if err != nil {
		return fmt.Errorf("a ticket for the driver: %w", err)
	}
	return d.bring(confCredentials, shippedTicket, confPodSecret, ticket.Encode())
}

// bring has the driver find body by the setting key in a file of that name, or have it itself as the setting pod.
func (d *delivery) bring(key, name, pod string, body []byte) error {
	delete(d.l.settings, key)
	if inPod(d.l) {
		d.hidden[pod] = string(body)
		return nil
	}
	path, err := d.hold(name, body)
	if err == nil {
		d.files, d.l.settings[key] = joinJars(d.files, path+"#"+name), name
	}
	return err
}

// hold is the path of a file without a name, with that content, which a child of this process inherits.
func (d *delivery) hold(name string, body []byte) (string, error) {
	fd, err := unix.MemfdCreate(name, 0)
	if err != nil {
		return "", fmt.Errorf("%s for the driver: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(body); err != nil {
		return "", errors.Join(fmt.Errorf("%s for the driver: %w", name, err), f.Close())
	}
	d.l.shipped = append(d.l.shipped, f)
	return fmt.Sprintf("/proc/self/fd/%d", fd), nil
}
