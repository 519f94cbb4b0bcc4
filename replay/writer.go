package replay

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// Writer writes the lines of a history. It is not safe for concurrent use.
type Writer struct {
	out   *bufio.Writer
	lines int
	bytes int64
}

// NewWriter returns a writer of a history that has no line yet.
func NewWriter(out io.Writer) *Writer { return &Writer{out: bufio.NewWriterSize(out, 1<<16)} }

// Head writes the first line.
func (w *Writer) Head(l Line) error {
	l.History = Version
	return w.Write(&l)
}

// Write writes a line; one that JSON cannot express is an error and not written.
func (w *Writer) Write(l *Line) error {
	body, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("write line %d of the history: %w", w.lines+1, err)
	}
	if _, err := w.out.Write(append(body, '\n')); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	w.lines++
	w.bytes += int64(len(body)) + 1
	return nil
}

// End writes the last line and all that is still buffered; said is why the history
// ends before its time, "" when it does not. More may follow.
func (w *Writer) End(at float64, said string) error {
	if err := w.Write(&Line{At: at, Said: said, End: w.lines}); err != nil {
		return err
	}
	return w.flush()
}

func (w *Writer) flush() error {
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	return nil
}
