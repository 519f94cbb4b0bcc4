package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
)

// podExit is what spark-submit logs of the exit of a driver's container, whose code it does not exit with.
var podExit = regexp.MustCompile(`^\s*exit code: ([0-9]+)\s*$`)

// mostLogLine bounds how much of a line of a log is looked at.
const mostLogLine = 256

// podLog passes on what spark-submit logs while it waits for a driver's pod, and keeps the exit code in it.
type podLog struct {
	io.Writer
	line []byte
	// said says that the log has told the exit code.
	said bool
	code int
}

// Write implements io.Writer.
func (p *podLog) Write(text []byte) (int, error) {
	for rest := text; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte{'\n'})
		p.line = append(p.line, line[:min(len(line), mostLogLine-len(p.line))]...)
		if rest = after; !ended {
			break
		}
		if found := podExit.FindSubmatch(p.line); found != nil {
			p.code, _ = strconv.Atoi(string(found[1]))
			p.said = true
		}
		p.line = p.line[:0]
	}
	return p.Writer.Write(text)
}

// ended is the end of a spark-submit that has waited for a driver's pod, with the exit code of that. Where the log is
// without it, the planner knows what the driver has told.
func (p *podLog) ended(ctx context.Context, l *launch) error {
	said, failed := "", false
	if conn, done, err := dialPlanner(ctx, l.config.Client); err == nil {
		defer done()
		app, there := l.registered(ctx, conn)
		if said = app.Headline; !there {
			said = l.unregistered(p.code)
		}
		failed = app.State == api.AppFailed
	}
	if said != "" {
		fmt.Fprintf(l.Stderr, "pacer: %s\n", said)
	}
	switch {
	case p.said && p.code != 0:
		return command.Coded(min(p.code, 255), nil)
	case !p.said && failed:
		return command.Coded(1, nil)
	}
	return nil
}
