package replay

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// file is a history on the disk, positioned behind its last whole line.
type file struct {
	*os.File
	lines int
	bytes int64
}

// openFile opens the history at path for writing, made when it is not there. One
// larger than most or of another layout is moved to path.1 first.
func openFile(path string, most int64) (*file, error) {
	for {
		f, err := lockFile(path)
		if err != nil {
			return nil, err
		}
		h := &file{File: f}
		err = h.survey()
		var other *layoutError
		switch {
		case errors.As(err, &other), err == nil && h.bytes > most:
			if err := errors.Join(os.Rename(path, path+".1"), f.Close()); err != nil {
				return nil, err
			}
			continue
		case err == nil:
			err = h.cut()
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
		}
		return h, nil
	}
}

// lockFile opens path for this process alone.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: another process writes it: %w", path, err), f.Close())
	}
	return f, nil
}

// survey counts whole lines and looks at the first.
func (h *file) survey() error {
	r := bufio.NewReaderSize(h.File, 1<<16)
	for {
		text, err := r.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) && h.lines > 0 {
			h.bytes += int64(len(text))
			text, err = r.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) && len(text) == 0 && h.lines == 0 {
			return nil
		}
		if h.lines == 0 {
			if _, err := readLine(text, 1); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		h.lines++
		h.bytes += int64(len(text))
	}
}

// cut removes what follows the last whole line: a node controller was killed while
// it wrote.
func (h *file) cut() error {
	if err := h.Truncate(h.bytes); err != nil {
		return err
	}
	_, err := h.Seek(h.bytes, io.SeekStart)
	return err
}
