package daemon

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/sparkpacer/pacer/infra/bus"
)

// EachUser as NodeConfig.ExecutorUser has executors be strangers to each other and to root, as they are
// without a setting, on a machine that is root's alone, too.
const EachUser = "each"

// alone is what is looked at to tell whether root has its machine for itself.
type alone struct {
	// passwd and nsswitch are the machine's list of users, and where else it looks for some.
	passwd, nsswitch string
	uid              int
	// sudo is who has called sudo, "" for nobody.
	sudo string
}

// RunAlone has executors run as root where root is alone on its machine, such as a container or a test box, and
// nothing is reached from outside: files of root's are then in nobody's way. It reports whether it did. A user who
// can log in, an address that others reach and a setting of the user's keep executors strangers
// (docs/decisions/034).
func (c *UpConfig) RunAlone() bool {
	passwd, err := os.ReadFile("/etc/passwd")
	nsswitch, _ := os.ReadFile("/etc/nsswitch.conf") // A machine without it looks into files alone.
	if err != nil {
		return false
	}
	return c.runAlone(alone{passwd: string(passwd), nsswitch: string(nsswitch), uid: os.Geteuid(),
		sudo: os.Getenv("SUDO_USER")})
}

func (c *UpConfig) runAlone(on alone) bool {
	if c.Node.ExecutorUser != "" || c.Node.Attach || on.uid != 0 || on.sudo != "" || on.others() {
		return false
	}
	if c.Planner.NatsURL != "" {
		return false
	}
	for _, address := range []string{c.Planner.Listen, c.Planner.HTTP, c.Node.HTTP} {
		if address != "" && !bus.IsLoopback(address) {
			return false
		}
	}
	c.Node.ExecutorUser = "root"
	return true
}

// firstPerson is the first user id that people have, noPerson that of nobody.
const firstPerson, noPerson = 1000, 65534

// others reports whether somebody else can log in, or may for all that the list of users says.
func (a alone) others() bool {
	for line := range strings.Lines(a.nsswitch) {
		base, sources, _ := strings.Cut(strings.TrimSpace(line), ":")
		if base != "passwd" {
			continue
		}
		own := []string{"files", "systemd", "compat"}
		if slices.ContainsFunc(strings.Fields(sources), func(s string) bool { return !slices.Contains(own, s) }) {
			return true
		}
	}
	for line := range strings.Lines(a.passwd) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) < 7 {
			continue
		}
		id, err := strconv.Atoi(fields[2])
		closed := strings.HasSuffix(fields[6], "/nologin") || strings.HasSuffix(fields[6], "/false")
		if err == nil && id >= firstPerson && id != noPerson && !closed {
			return true
		}
	}
	return false
}
