package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
)

// Owner is somebody to whom a planner that starts gives an operator's credential: who starts
// it, and who has called sudo for that.
type Owner struct {
	// Name is the user's, UID and GID are its ids.
	Name     string
	UID, GID int
	// Dir is its directory of credentials (bus.CredentialPath), "" for none: then the
	// credential stays in the state directory.
	Dir string
}

// OperatorPath is where an owner without a directory has its credential.
func OperatorPath(state string) string { return filepath.Join(credentialDir(state), "operator") }

// path is where o's credential for address is.
func (o Owner) path(state, address string) string {
	if o.Dir == "" {
		return OperatorPath(state)
	}
	return bus.CredentialPath(o.Dir, address)
}

// equip sees to it that each owner has an operator's credential for address. A credential that the keyring accepts
// stays as it is. So does one for a NATS server of one's own (shared): planners there may have lost the state by which
// they know it.
func (p *principals) equip(owners []Owner, state, address string, shared bool) error {
	var failed []error
	for _, o := range owners {
		path := o.path(state, address)
		have, err := bus.LoadCredential(path, api.PrincipalUser)
		if err == nil {
			if who, err := p.keyring.Knows(have); err == nil && who.Operates() {
				continue
			}
		}
		who := api.Principal{Kind: api.PrincipalUser, Name: o.Name, Role: api.RoleOperate}
		// A planner before this one has made it: who is connected by it stays so, unless it was revoked.
		theirs := shared && err == nil && have.Login == who.Login() && !p.wasRevoked(who.Login())
		c := have
		if !theirs {
			c = bus.NewCredential(who.Login())
		}
		if err := p.issue(api.Principal{}, api.Issue{Principal: who, Key: c.Key()}, time.Now()); err != nil {
			return err
		}
		if theirs {
			continue
		}
		if err := o.write(path, c.Encode()); err != nil {
			failed = append(failed, fmt.Errorf("credentials of %s: %w", o.Name, err))
		}
	}
	return errors.Join(failed...)
}

// write is bus.WriteSecret as o: what o may not do with its directories, root does not do for it.
func (o Owner) write(path string, body []byte) error {
	if o.UID == os.Geteuid() {
		return bus.WriteSecret(path, body)
	}
	done := make(chan error, 1)
	go func() {
		// Never unlocked: the thread, which is another user to the file system, ends with
		// the goroutine.
		runtime.LockOSThread()
		if err := becomeForFiles(o.UID, o.GID); err != nil {
			done <- err
			return
		}
		done <- bus.WriteSecret(path, body)
	}()
	return <-done
}

// becomeForFiles makes the calling thread another user to the file system.
func becomeForFiles(uid, gid int) error {
	// The second call returns what the first one has set; neither has errors of its own.
	for _, id := range [...]struct {
		call uintptr
		want int
	}{{unix.SYS_SETFSGID, gid}, {unix.SYS_SETFSUID, uid}} {
		_, _, _ = unix.RawSyscall(id.call, uintptr(id.want), 0, 0)
		if is, _, _ := unix.RawSyscall(id.call, uintptr(id.want), 0, 0); int(is) != id.want {
			return fmt.Errorf("this process may not write files as user %d", uid)
		}
	}
	return nil
}
