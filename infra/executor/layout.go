package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sparkpacer/pacer/api"
)

// Layout is the directory tree in which a node keeps what belongs to executors:
//
//	ROOT/apps/APP/local/            local directories of all its executors here
//	ROOT/apps/APP/passwd            the machine's users and, if it has one, its own
//	ROOT/apps/APP/EXEC/work/        working directory
//	ROOT/apps/APP/EXEC/tmp/         temporary files of a container
//	ROOT/apps/APP/EXEC/stdout       logs
//	ROOT/apps/APP/EXEC/stderr
//	ROOT/apps/APP/EXEC/progress     the progress page
//	ROOT/apps/APP/EXEC/wish         the wish page
//	ROOT/apps/APP/EXEC/handle.json  while the executor is not removed
//	ROOT/apps/APP/EXEC/files/       what a component is started with
//	ROOT/apps/APP/EXEC/credential   what it proves itself by
//	ROOT/apps/APP/EXEC/exit.json    how it has ended
//
// local, work, tmp, files, credential, progress and the logs belong to the executor's user, the directories
// around them to the node controller's. So an executor can write its files but not replace them by links, nor put
// others beside them. Where executors have users of their own, only they pass through APP: the directory's group
// is theirs.
type Layout struct{ Root string }

// streams are the names of an executor's logs.
var streams = [...]string{"stdout", "stderr"}

// Paths are the files of one executor, absolute.
type Paths struct {
	Dir, Work, Local, Temp             string
	Stdout, Stderr, Page, Wish, Handle string
	// Passwd is for a user that is in no list.
	Passwd string
	// Files and Credential are a component's, Exit says how one has ended.
	Files, Credential, Exit string
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
		Temp:   filepath.Join(dir, "tmp"),
		Stdout: filepath.Join(dir, "stdout"), Stderr: filepath.Join(dir, "stderr"),
		Page: filepath.Join(dir, "progress"), Wish: filepath.Join(dir, "wish"), Handle: filepath.Join(dir, "handle.json"),
		Passwd: filepath.Join(filepath.Dir(dir), "passwd"),
		Files:  filepath.Join(dir, api.FilesDir), Credential: filepath.Join(dir, "credential"),
		Exit: filepath.Join(dir, "exit.json"),
	}, nil
}

// appDir is an application's directory.
func (l Layout) appDir(app string) string { return filepath.Join(l.Root, "apps", app) }

// apps are the applications that have a directory, in order of id.
func (l Layout) apps() ([]string, error) {
	return directories(filepath.Join(l.Root, "apps"))
}

// executors are those of an application that have a directory, in order of name. A directory that an executor can
// make, in the local directories, looks like none.
func (l Layout) executors(app string) ([]string, error) { return directories(l.appDir(app)) }

// directories are the directories in one that are named as applications and executors are.
func directories(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && checkName("", e.Name()) == nil {
			names = append(names, e.Name())
		}
	}
	return names, err
}

func checkName(what, name string) error {
	ok := name != "" && len(name) <= 128 && name != "local" && name != "passwd"
	for _, r := range name {
		ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}
	if !ok {
		return api.Errorf(api.KindInvalid, "%s id %q: want letters, digits, - and _", what, name)
	}
	return nil
}
