package bus

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Role says what a peer may do on the bus.
type Role string

// The roles. RolePlanner connects to a server that is not embedded; inside the
// planner's process it has a password of its own, whatever the file says.
const (
	RolePlanner     Role = "planner"
	RoleNode        Role = "node"
	RoleApplication Role = "application"
	RoleOperator    Role = "operator"
)

// Credentials maps roles to their passwords.
type Credentials map[Role]string

// LoadCredentials reads a credentials file (see the package documentation). It
// reports every fault at once: lines that are not "role:password", unknown or
// repeated roles, empty passwords, no line at all, and a file that everybody
// can read or others than its owner can write. Messages never contain a password.
func LoadCredentials(path string) (Credentials, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	defer func() { _ = f.Close() }()
	var faults []error
	if info, err := f.Stat(); err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	} else {
		if info.Mode().Perm()&0o004 != 0 {
			faults = append(faults, fmt.Errorf("everybody can read it: chmod o-r %s", path))
		}
		if info.Mode().Perm()&0o022 != 0 {
			faults = append(faults, fmt.Errorf("others than its owner can write it: chmod go-w %s", path))
		}
	}
	out := Credentials{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if err := out.add(strings.TrimSpace(lines.Text())); err != nil {
			faults = append(faults, fmt.Errorf("line %d: %w", n, err))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("credentials %s: %w", path, err)
	}
	if len(out) == 0 && len(faults) == 0 {
		faults = append(faults, errors.New("it has no role:password line"))
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("credentials %s: %w", path, errors.Join(faults...))
	}
	return out, nil
}

func (c Credentials) add(line string) error {
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	role, password, ok := strings.Cut(line, ":")
	switch r := Role(role); {
	case !ok:
		return errors.New("want role:password")
	case !slices.Contains([]Role{RolePlanner, RoleNode, RoleApplication, RoleOperator}, r):
		return errors.New("the role is none of planner, node, application, operator")
	case c[r] != "":
		return fmt.Errorf("role %s is there twice", r)
	case password == "":
		return fmt.Errorf("role %s has an empty password", r)
	default:
		c[r] = password
	}
	return nil
}

// inboxPrefix is where a role's replies go. Applications keep NATS' default,
// which their Java client uses; the others have their own, so that no
// application can listen to replies meant for them.
func inboxPrefix(role Role) string {
	if role == RoleApplication {
		return "_INBOX"
	}
	return "_INBOX_" + string(role)
}

// replyWindow bounds how long a responder may answer one request.
const replyWindow = time.Minute

// permissions are what the server lets a role do; nil for everything.
func permissions(role Role) *server.Permissions {
	inbox := inboxPrefix(role) + ".>"
	allow := func(subjects ...string) *server.SubjectPermission {
		return &server.SubjectPermission{Allow: subjects}
	}
	switch role {
	case RoleApplication:
		return &server.Permissions{
			Publish:   allow(registerSubject(), eventsSubscribe()),
			Subscribe: allow(directiveSubscribe(), inbox),
		}
	case RoleNode:
		return &server.Permissions{
			Publish:   allow(helloSubscribe(), statusSubscribe()),
			Subscribe: allow(planSubscribe(), logsSubscribe(), inbox),
			Response:  &server.ResponsePermission{MaxMsgs: 1, Expires: replyWindow},
		}
	case RoleOperator:
		return &server.Permissions{
			Publish:   allow(controlSubscribe(), logsSubscribe()),
			Subscribe: allow(inbox),
		}
	}
	return nil
}

func (c Credentials) users() []*server.User {
	var out []*server.User
	for role, password := range c {
		out = append(out, &server.User{Username: string(role), Password: password, Permissions: permissions(role)})
	}
	return out
}
