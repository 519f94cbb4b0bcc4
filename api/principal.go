package api

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// PrincipalKind says what a peer of the bus is.
type PrincipalKind string

const (
	// PrincipalPlanner may do everything: a planner on a NATS server that is not embedded.
	PrincipalPlanner PrincipalKind = "planner"
	// PrincipalNode is the node controller of one node.
	PrincipalNode PrincipalKind = "node"
	// PrincipalUser is a person, or a program that acts for one.
	PrincipalUser PrincipalKind = "user"
	// PrincipalApplication is one application's driver.
	PrincipalApplication PrincipalKind = "application"
	// PrincipalTicket is whoever has the ticket of a submission: it may register that, as its user, and nothing else.
	PrincipalTicket PrincipalKind = "ticket"
	// PrincipalJoin is a machine that is to become a node: it may have a node's credential issued, and nothing else.
	PrincipalJoin PrincipalKind = "join"
)

// Role says what a user may do.
type Role string

const (
	// RoleView sees applications, profiles and nodes.
	RoleView Role = "view"
	// RoleSubmit also registers applications and commands its own ones.
	RoleSubmit Role = "submit"
	// RoleOperate may do everything.
	RoleOperate Role = "operate"
)

// Roles are all of them, the one that may least first.
func Roles() []Role { return []Role{RoleView, RoleSubmit, RoleOperate} }

// Principal is who has a credential. The zero value is the planner's own process: nothing
// that comes over the bus is from it.
type Principal struct {
	Kind PrincipalKind `json:"kind,omitempty"`
	// Name is the node's or the user's, the application's id, the submission of a ticket, or the one that a join
	// credential got when it was issued; "" of a planner.
	Name string `json:"name,omitempty"`
	// Role is a user's.
	Role Role `json:"role,omitempty"`
	// Bounds are what a user's applications may have together.
	Bounds Bounds `json:"bounds,omitzero"`
	// Join says which nodes a join credential lets in.
	Join Join `json:"join,omitzero"`
	// Until is when its credentials expire; never if it is zero.
	Until time.Time `json:"until,omitzero"`
	// Ticket says that a user registers by a ticket. No message can say it.
	Ticket bool `json:"-"`
	// Scrapes says that a token for scrapes asks, not its user: it counts apart. No message can say it.
	Scrapes bool `json:"-"`
}

// Join bounds a join credential. The zero value lets in nodes of all names, without an end.
type Join struct {
	// Nodes are patterns of names as path.Match has them; a node has a name that one of them fits. None is all names.
	Nodes []string `json:"nodes,omitempty"`
	// Times is how many credentials it has issued at most; 0 is without a bound.
	Times int `json:"times,omitempty"`
}

// mostPatterns is how many patterns a join credential has at most.
const mostPatterns = 16

// Fits reports whether a node of that name may come by j.
func (j Join) Fits(node string) bool {
	fits := func(pattern string) bool { ok, err := path.Match(pattern, node); return ok && err == nil }
	return len(j.Nodes) == 0 || slices.ContainsFunc(j.Nodes, fits)
}

func (j Join) check(f *faults) {
	f.count("the number of patterns of nodes", len(j.Nodes), mostPatterns)
	for _, pattern := range j.Nodes[:min(len(j.Nodes), mostPatterns)] {
		_, err := path.Match(pattern, "")
		f.check(err == nil && pattern != "" && len(pattern) <= MostToken,
			"nodes: %q is not a pattern of names such as worker-*", Clip(pattern, MostToken))
	}
	f.count("times", j.Times, MostCount)
}

// Bounds are the most that the applications of a principal have; 0 and no Classes bound
// nothing.
type Bounds struct {
	// Classes are those that it may ask for.
	Classes []Class `json:"classes,omitempty"`
	// Cores is the most that one of its applications gets on a node.
	Cores units.Cores `json:"cores,omitempty"`
	// Memory is the most that the executors of all its applications claim together.
	Memory units.Bytes `json:"memory_bytes,omitempty"`
	// Running and Queued are how many of its applications run and wait.
	Running int `json:"running,omitempty"`
	Queued  int `json:"queued,omitempty"`
}

// Login is the name under which p connects: one token of a subject. It is as unique as kind
// and name are together, whatever the name: it begins with the kind, an application's with
// applicationLogin.
func (p Principal) Login() string {
	switch p.Kind {
	case PrincipalApplication:
		// As it is in the ids that planners make (AppID.Made): such a login is the id.
		if login := Token(p.Name); strings.HasPrefix(login, applicationLogin) {
			return login
		}
	case PrincipalPlanner, "":
		return string(PrincipalPlanner)
	}
	login := string(p.Kind) + "-" + Token(p.Name)
	if p.Scrapes {
		login += " scrapes" // No login of a credential has a space.
	}
	return login
}

// applicationLogin begins the logins of applications. No other kind begins with it.
const applicationLogin = "app-"

// String is p as people read it.
func (p Principal) String() string {
	switch p.Kind {
	case "":
		return "the planner"
	case PrincipalPlanner:
		return "a planner"
	}
	return string(p.Kind) + " " + p.Name
}

// Operates reports whether p may do everything.
func (p Principal) Operates() bool {
	return p.Kind == "" || p.Kind == PrincipalPlanner || p.Kind == PrincipalUser && p.Role == RoleOperate
}

// Token writes s as one token of a subject, another one for each s: letters, digits, "-" and "_"
// stay, other bytes become "=" and two hexadecimal digits. It is "=" for "".
func Token(s string) string {
	if s == "" {
		return "="
	}
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "=%02x", c)
		}
	}
	return b.String()
}

// Validate reports every fault of p at once, for one that a credential is issued to.
func (p Principal) Validate() error {
	var f faults
	switch p.Kind {
	case PrincipalTicket:
		f.text("submission", p.Name, MostToken/2) // It is part of a login.
		f.check(p.Name != "", "submission is empty")
		f.check(p.Role == "", "a ticket has no role")
	case PrincipalJoin:
		f.check(ValidNodeName(p.Name), "join %q is not valid: want 1 to 63 letters, digits, - and _",
			Clip(p.Name, MostToken))
		f.check(p.Role == "", "a join credential has no role")
		p.Join.check(&f)
	case PrincipalNode:
		f.check(ValidNodeName(p.Name), "node name %q is not valid: want 1 to 63 letters, digits, - and _",
			Clip(p.Name, MostToken))
		f.check(p.Role == "", "a node has no role")
	case PrincipalUser:
		f.text("name", p.Name, MostToken/4) // Of a login each byte may take three.
		f.token("user", p.Name)
		f.check(p.Name != "", "user is empty")
		f.check(slices.Contains(Roles(), p.Role), "role is %q, want one of %v", Clip(string(p.Role), MostToken), Roles())
	default:
		f.add("kind is %q, want %s, %s or %s", Clip(string(p.Kind), MostToken), PrincipalNode, PrincipalUser,
			PrincipalJoin)
	}
	f.check(p.Kind == PrincipalJoin || len(p.Join.Nodes) == 0 && p.Join.Times == 0, "join: %s is no join credential", p)
	b := p.Bounds
	f.count("the number of classes", len(b.Classes), len(Classes()))
	for _, c := range b.Classes[:min(len(b.Classes), len(Classes()))] {
		f.check(c != "" && c.Known(), "class is %q, want one of %v", Clip(string(c), MostToken), Classes())
	}
	f.between("cores", float64(b.Cores), 0, MostCores)
	f.size("memory", int64(b.Memory))
	f.count("running", b.Running, MostCount)
	f.count("queued", b.Queued, MostCount)
	return f.err("principal")
}

// Issue asks for a credential of Principal, whose secret the asker has made: only its public key
// travels (ValidKey).
type Issue struct {
	Principal Principal `json:"principal"`
	Key       string    `json:"key"`
	// Enrols says that a node asks for itself, by an operator's credential that it finds or by a join credential: a node
	// whose credentials were revoked is not given others by that.
	Enrols bool `json:"enrols,omitempty"`
}

// keyChars is the length of a public key as NATS writes those of users: U, and base32.
const keyChars = 56

// ValidKey reports whether s is a public key.
func ValidKey(s string) bool {
	return len(s) == keyChars && s[0] == 'U' && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// Validate reports every fault of i at once.
func (i Issue) Validate() error {
	if err := i.Principal.Validate(); err != nil {
		return err
	}
	if !ValidKey(i.Key) {
		return Errorf(KindInvalid, "the key of the secret is none: whoever asks has to be of this planner's release")
	}
	return nil
}

// PrincipalSummary is a principal as `pacer auth list` shows it.
type PrincipalSummary struct {
	Principal
	Login string `json:"login"`
	// Joined is how many credentials a join credential has issued to nodes.
	Joined int `json:"joined,omitempty"`
	// Credentials is how many it has, Issued when the newest one was.
	Credentials int       `json:"credentials"`
	Issued      time.Time `json:"issued_at,omitzero"`
}
