package command

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sparkpacer/pacer/cli/config"
	"github.com/sparkpacer/pacer/daemon"
)

// owners are who runs this process and, if that is root by sudo, who has called it.
func owners(environ []string) ([]daemon.Owner, error) {
	uid := os.Geteuid()
	self := daemon.Owner{Name: strconv.Itoa(uid), UID: uid, GID: os.Getegid(), Dir: config.CredentialDir(environ)}
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		self.Name = u.Username
		if self.Dir == "" && u.HomeDir != "" {
			self.Dir = config.CredentialDir([]string{"HOME=" + u.HomeDir})
		}
	}
	caller := config.Variable(environ, "SUDO_USER")
	if uid != 0 || caller == "" || caller == self.Name || config.Variable(environ, config.CredentialDirEnv) != "" {
		return []daemon.Owner{self}, nil
	}
	u, err := user.Lookup(caller)
	if err != nil {
		return nil, err
	}
	by := daemon.Owner{Name: u.Username, Dir: config.CredentialDir([]string{"HOME=" + u.HomeDir})}
	if by.UID, err = strconv.Atoi(u.Uid); err == nil {
		by.GID, err = strconv.Atoi(u.Gid)
	}
	if err != nil {
		return nil, err
	}
	// Where sudo keeps the caller's home, root's commands look there, too.
	if rel, err := filepath.Rel(u.HomeDir, self.Dir); err == nil && !strings.HasPrefix(rel, "..") {
		return []daemon.Owner{by}, nil
	}
	return []daemon.Owner{self, by}, nil
}
