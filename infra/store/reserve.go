package store

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	reserveSuffix = ".reserve"
	// holdAgain is how long a reserve that could not be held is not tried again.
	holdAgain = time.Minute
)

// reserve is room on the disk that is let go when it is needed.
type reserve struct {
	path string
	size int64
	held bool
	// released says that it was let go and is not back.
	released bool
	tried    time.Time
}

// hold takes the room unless it is held, or was not to be had a moment ago.
func (r *reserve) hold(now time.Time) error {
	if r.held || r.size == 0 {
		return nil
	}
	if !r.tried.IsZero() && now.Sub(r.tried) < holdAgain {
		return errors.New("there was no room a moment ago")
	}
	r.tried = now
	file, err := os.OpenFile(r.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(unix.Fallocate(int(file.Fd()), 0, 0, r.size), file.Close())
	if err != nil {
		return errors.Join(err, os.Remove(r.path))
	}
	r.held = true
	return nil
}

// release lets the room go; false when there is none.
func (r *reserve) release() bool {
	if !r.held {
		return false
	}
	r.held, r.released, r.tried = false, true, time.Now()
	return os.Remove(r.path) == nil
}
