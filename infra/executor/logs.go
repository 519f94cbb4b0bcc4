package executor

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
)

// LogPiece is the most of a log that one reply carries.
const LogPiece = 256 << 10

// ReadLog returns a piece of an executor's log. Whatever the request says, it
// reads nothing outside the layout: names are checked and links that lead out
// are not followed. Faults come back in the reply: api.KindInvalid for a bad
// request, api.KindNotFound for an executor without logs here.
func (l Layout) ReadLog(r api.LogRequest) api.LogReply {
	reply := api.LogReply{V: api.Version, Next: r.Offset}
	data, at, eof, err := l.readLog(r)
	if err != nil {
		var known *api.Error
		if !errors.As(err, &known) {
			known = api.Errorf(api.KindInternal, "log of executor %s of %s: %v", r.Executor, r.App, err)
		}
		reply.Error = known
		return reply
	}
	reply.Data, reply.Next, reply.EOF = data, at+int64(len(data)), eof
	return reply
}

// readLog returns a piece and where it begins: what was trimmed before it is left out.
func (l Layout) readLog(r api.LogRequest) (data []byte, at int64, eof bool, err error) {
	if err := r.Validate(); err != nil {
		return nil, 0, false, err
	}
	paths, err := l.Paths(r.App, r.Executor)
	if err != nil {
		return nil, 0, false, err
	}
	root, err := os.OpenRoot(filepath.Dir(filepath.Dir(paths.Dir)))
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0, false, noLog(r)
	}
	if err != nil {
		return nil, 0, false, err
	}
	defer root.Close()
	// An executor may put nothing in the place of its logs; a pipe there would hold who opens it.
	f, err := root.OpenFile(filepath.Join(string(r.App), string(r.Executor), r.Stream), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0, false, noLog(r)
	}
	if err != nil {
		return nil, 0, false, err
	}
	defer f.Close()
	buf := make([]byte, LogPiece)
	at = skipHole(f, r.Offset)
	n, err := f.ReadAt(buf, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, false, err
	}
	return buf[:n], at, err != nil, nil
}

func noLog(r api.LogRequest) error {
	return api.Errorf(api.KindNotFound, "executor %s of application %s has no %s on this node", r.Executor, r.App,
		r.Stream)
}
