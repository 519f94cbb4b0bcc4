package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// standWait is how long a node controller may be away before a guard that stands for itself puts quotas back.
const standWait = 10 * time.Second

// vacancy decides for a guard that knows its node controller by its lock alone. The zero value has seen nothing.
type vacancy struct{ since time.Time }

// next takes in whether a node controller runs, and reports whether quotas are to be put back: once in each wait in
// which none has.
func (v *vacancy) next(runs bool, now time.Time, wait time.Duration) bool {
	switch {
	case runs:
		v.since = time.Time{}
	case v.since.IsZero():
		v.since = now
	case now.Sub(v.since) >= wait:
		v.since = now
		return true
	}
	return false
}

// stand is the guard of a node controller in a container. A container's guards end with its first process, so this
// one has a container of its own beside it, and is started with the state directory in place of a pipe. It puts back
// the quotas of other managers' executors where no node controller has run there for the wait. On SIGTERM it does so
// at once, after the end of a node controller that runs, and ends.
func stand(state, root string, wait time.Duration, signals <-chan os.Signal) error {
	r := guardRequest{NodeLock: filepath.Join(state, "node.lock"), Root: root, Wait: wait,
		Attached: NodeConfig{State: state}.attached()}
	log := slog.New(slog.NewTextHandler(os.Stdout, nil)).With("component", "guard")
	every := time.NewTicker(guardAgain)
	defer every.Stop()
	var v vacancy
	for ending := false; ; {
		select {
		case s := <-signals:
			ending = ending || s == unix.SIGTERM
			every.Reset(lockAgain)
		case <-every.C:
		}
		runs, err := Running(state, "node")
		switch {
		case errors.Is(err, fs.ErrNotExist): // None has run yet.
			err = nil
		case err != nil:
			return fmt.Errorf("guard: %w", err)
		case v.next(runs, time.Now(), r.Wait), ending && !runs:
			err = r.lift(log) // It has logged what it could not do, and tries again.
		}
		if ending && !runs {
			return err
		}
	}
}
