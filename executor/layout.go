package executor

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/sparkpacer/pacer/api"
)

// Layout is the directory tree in which a node keeps what belongs to executors:
//
//	ROOT/apps/APP/local/            local directories of all its executors here
//	ROOT/apps/APP/EXEC/work/        working directory
//	ROOT/apps/APP/EXEC/stdout       logs
//	ROOT/apps/APP/EXEC/stderr
//	ROOT/apps/APP/EXEC/progress     the progress page
//	ROOT/apps/APP/EXEC/wish         the wish page
//	ROOT/apps/APP/EXEC/handle.json  while the executor is not removed
//
// local, work, progress and the logs belong to the executor's user, the
// directories around them to the node controller's, so that an executor can
// write its files but not replace them by links.
type Layout struct{ Root string }

// Paths are the files of one executor, absolute.
type Paths struct {
	Dir, Work, Local                   string
	Stdout, Stderr, Page, Wish, Handle string
}

// Paths returns the files of an executor. Names that could leave the tree are
// errors of api.KindInvalid.
func (l Layout) Paths(app api.AppID, id api.ExecutorID) (Paths, error) {
	if err := errors.Join(checkName("application", string(app)), checkName("executor", string(id))); err != nil {
		return Paths{}, err
	}
	root, err := filepath.Abs(l.Root)
	if err != nil {
		return Paths{}, fmt.Errorf("executor: %w", err)
	}
	dir := filepath.Join(root, "apps", string(app), string(id))
	return Paths{
		Dir: dir, Work: filepath.Join(dir, "work"), Local: filepath.Join(filepath.Dir(dir), "local"),
		Stdout: filepath.Join(dir, "stdout"), Stderr: filepath.Join(dir, "stderr"),
		Page: filepath.Join(dir, "progress"), Wish: filepath.Join(dir, "wish"), Handle: filepath.Join(dir, "handle.json"),
	}, nil
}

func checkName(what, name string) error {
	ok := name != "" && len(name) <= 128 && name != "local"
	for _, r := range name {
		ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}
	if !ok {
		return api.Errorf(api.KindInvalid, "%s id %q: want letters, digits, - and _", what, name)
	}
	return nil
}
