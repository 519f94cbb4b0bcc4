package daemon

import (
	"fmt"
	"os"

	"github.com/sparkpacer/pacer/infra/executor"
)

// Users says whom executors run as, by c. A setting that is left out makes no executor root.
func (c NodeConfig) Users(layout executor.Layout) (*executor.Users, error) {
	u := &executor.Users{Layout: layout}
	if c.ExecutorUser != "" && c.ExecutorUser != EachUser {
		all, err := executor.LookupUser(c.ExecutorUser)
		if err != nil {
			return nil, err
		}
		if os.Geteuid() != 0 && int(all.UID) != os.Geteuid() {
			return nil,
				fmt.Errorf("executor-user: only root can start executors as another user (%s): run as root or leave it out",
					c.ExecutorUser)
		}
		u.All = &all
		return u, nil
	}
	invoker, err := executor.CurrentUser()
	if err != nil {
		return nil, err
	}
	if os.Geteuid() != 0 {
		u.All = &invoker
		return u, nil
	}
	if !invoker.IsRoot() {
		u.Invoker = &invoker
	}
	if u.UIDs, err = executor.ParseUIDs(c.ExecutorUIDs); err == nil {
		err = u.UIDs.Usable("/etc/passwd", "/etc/subuid", "/proc/self/uid_map")
	}
	if err != nil {
		return nil, fmt.Errorf("executor-uids: %w", err)
	}
	return u, nil
}
