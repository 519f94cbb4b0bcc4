package executor

import (
	"fmt"
	"os"
	"os/user"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// Credential is a user that executors run as, with its first group alone: what others let
// their group's members do is not meant for whoever submits an application.
type Credential struct {
	Name string `json:"name"`
	// Home is "" where the user has none: its executors' is where they work.
	Home string `json:"home"`
	UID  uint32 `json:"uid"`
	GID  uint32 `json:"gid"`
	// Made says that the user is one application's alone, and in no list of users.
	Made bool `json:"made,omitempty"`
}

// IsRoot reports whether the executors would be able to do anything: the caller
// refuses that where nobody has asked for it, and says so in a line.
func (c Credential) IsRoot() bool { return c.UID == 0 }

// LookupUser returns the credential of a user by name or number.
func LookupUser(name string) (Credential, error) {
	u, err := user.Lookup(name)
	if err != nil {
		if byID, err2 := user.LookupId(name); err2 == nil {
			u, err = byID, nil
		}
	}
	if err != nil {
		return Credential{}, fmt.Errorf("executor user %q: %w", name, err)
	}
	return credential(u)
}

// CurrentUser returns the credential of the invoking user: that behind sudo when
// there is one, else the one this process runs as.
func CurrentUser() (Credential, error) {
	if name := os.Getenv("SUDO_USER"); name != "" && os.Geteuid() == 0 {
		return LookupUser(name)
	}
	return LookupUser(strconv.Itoa(os.Geteuid()))
}

func credential(u *user.User) (Credential, error) {
	c := Credential{Name: u.Username, Home: u.HomeDir}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return c, fmt.Errorf("executor user %q: user id: %w", u.Username, err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return c, fmt.Errorf("executor user %q: group id: %w", u.Username, err)
	}
	c.UID, c.GID = uint32(uid), uint32(gid)
	return c, nil
}

// As runs f with the user's rights to files and none of this process's. A path that an application names, links of its
// own included, leads a node controller that is root no further than the application itself. f may not start goroutines
// that open files. Only root can be anybody else; a process that is not runs f as it is.
func (c Credential) As(f func() error) error {
	if os.Geteuid() != 0 || c.IsRoot() {
		return f()
	}
	done := make(chan error)
	go func() {
		// The rights are the thread's, which ends with its goroutine.
		runtime.LockOSThread()
		err := c.lower()
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}

// lower gives the calling thread the user's rights to files.
func (c Credential) lower() error {
	if err := unix.Setgroups(nil); err != nil {
		return fmt.Errorf("as user %s: set groups: %w", c.Name, err)
	}
	// These two return what was before, and say nothing of what is now: asked again, with
	// what nobody has, they do.
	_, _ = unix.SetfsgidRetGid(int(c.GID))
	_, _ = unix.SetfsuidRetUid(int(c.UID))
	gid, _ := unix.SetfsgidRetGid(-1)
	uid, _ := unix.SetfsuidRetUid(-1)
	if uint32(gid) != c.GID || uint32(uid) != c.UID {
		return fmt.Errorf("as user %s: this process may not become it", c.Name)
	}
	return nil
}
