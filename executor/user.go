package executor

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
)

// Credential is a user that executors run as, with its first group alone: what others let
// their group's members do is not meant for whoever submits an application.
type Credential struct {
	Name string `json:"name"`
	Home string `json:"home"`
	UID  uint32 `json:"uid"`
	GID  uint32 `json:"gid"`
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
