package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/cli/config"
	"github.com/sparkpacer/pacer/infra/cgroup"
)

// Role is what a machine is looked at as.
type Role string

// Status is how a check has ended.
type Status string

// The roles, and the statuses from good to bad.
const (
	Planner, Node, User Role   = "planner", "node", "user"
	OK, Warning, Fault  Status = "ok", "warning", "fault"
)

// Fact is a value that was read, or why it was not.
type Fact[T any] struct {
	Is  T
	Err error
}

// Program is where Spark, Java or Python is, with its version.
type Program struct{ Dir, Version string }

// Thing is a credential, a certificate, a server, a port or a disk that a role needs, by its key of the configuration.
// Path is its file, address or directory, From and Until are when it is good, zero for always. Has are the bytes that
// are free on a disk, or of the largest message that a server takes; Least are needed.
type Thing struct {
	Role        Role
	Key, Path   string
	From, Until time.Time
	Has, Least  int64
	Err         error
}

// YARN is the cgroup of its NodeManager on this machine, "" for none, how many executors of Spark there are, and how
// many of them have a cgroup of their own.
type YARN struct {
	Manager          string
	Executors, Apart int
}

// Machine is the facts of a machine, its lists what its roles need. Faults are those of Config. Users is why executors
// have no user to run as. Jar is the one in Spark, "" for none. Release is the planner's, Nodes has those of its nodes.
// First says that this user may put a driver's session first.
type Machine struct {
	Now                                              time.Time
	Roles                                            []Role
	Config                                           config.Config
	Faults, Users                                    error
	Kernel                                           string
	Cgroups                                          Fact[cgroup.Survey]
	Java, Spark, Python                              Fact[Program]
	Docker, Jar, Release                             Fact[string]
	Nodes                                            map[string]string
	Credentials, Certificates, Servers, Ports, Disks []Thing
	Synchronized, First                              Fact[bool]
	YARN                                             Fact[YARN]
}

// Finding is what a check has found, with the command that mends it, "" where all is well. Unseen says that the caller
// has no right to see it.
type Finding struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	Found  string `json:"found"`
	Mend   string `json:"mend,omitempty"`
	Unseen bool   `json:"unseen,omitempty"`
}

// Check is one thing to look at. Look is a pure function, Mend the command where Look names no other.
type Check struct {
	Name string
	For  []Role
	Mend string
	Look func(Machine) Finding
}

// Examine has all Checks that are for one of m's roles look at m.
func Examine(m Machine) (found []Finding) {
	for _, c := range Checks {
		if !slices.ContainsFunc(c.For, m.is) {
			continue
		}
		f := c.Look(m)
		f.Check, f.Found = c.Name, strings.ReplaceAll(f.Found, "\n", "; ")
		if f.Mend = cmp.Or(f.Mend, c.Mend); f.Status == OK {
			f.Mend = ""
		}
		found = append(found, f)
	}
	return found
}

func (m Machine) is(r Role) bool { return slices.Contains(m.Roles, r) }

func found(s Status, format string, args ...any) Finding {
	return Finding{Status: s, Found: fmt.Sprintf(format, args...)}
}

// by names the command that mends a finding; the command that gives the right to see comes first.
func (f Finding) by(mend string) Finding {
	f.Mend = cmp.Or(f.Mend, mend)
	return f
}

// of is the finding of an error: what the caller has no right to see says nothing of the machine.
func of(err error, bad Status, good string) Finding {
	switch {
	case err == nil:
		return found(OK, "%s", good)
	case errors.Is(err, fs.ErrPermission):
		return Finding{Status: Warning, Unseen: true, Found: "not seen: " + err.Error(), Mend: "sudo pacer doctor"}
	}
	return found(bad, "%v", err)
}

// unless is a warning unless a fact is true, and what of says where it could not be read.
func unless(is bool, err error, good, bad string) Finding {
	if err == nil && !is {
		return found(Warning, "%s", bad)
	}
	return of(err, Warning, good)
}

// each is the worst finding of several things, with what is as bad.
func each(things []Thing, none string, look func(Thing) Finding) Finding {
	rank, worst := []Status{OK, Warning, Fault}, found(OK, "%s", none)
	for i, t := range things {
		f := look(t)
		switch d := slices.Index(rank, f.Status) - slices.Index(rank, worst.Status); {
		case d > 0 || i == 0:
			worst = f
		case d == 0 && !strings.Contains(worst.Found, f.Found):
			worst.Found += "; " + f.Found
		}
	}
	return worst
}
