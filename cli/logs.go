package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
)

func logsCommand(sh *shell) *cobra.Command {
	var stream string
	var follow bool
	var tail int
	c := &cobra.Command{
		Use: "logs ID [EXECUTOR]", Short: "Print the logs of an application's executors", Args: cobra.RangeArgs(1, 2),
		ValidArgsFunction: sh.completeApps,
	}
	c.Flags().StringVar(&stream, "stream", "stderr", "stderr or stdout")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until interrupted (needs EXECUTOR)")
	c.Flags().IntVar(&tail, "tail", -1, "only so many of the last lines of each (-1: all)")
	c.RunE = func(c *cobra.Command, args []string) error {
		if stream != "stderr" && stream != "stdout" {
			return command.Usagef("--stream %q: want stderr or stdout", stream)
		}
		if follow && len(args) < 2 {
			return command.Usagef("--follow needs an executor")
		}
		app, err := sh.app(c, args[0])
		if err != nil {
			return err
		}
		executors := app.Executors
		if len(args) == 2 {
			if executors, err = pickExecutor(app, args[1]); err != nil {
				return err
			}
		}
		if len(executors) == 0 {
			return api.Errorf(api.KindNotFound, "%s has no executor", app.ID)
		}
		conn, done, err := sh.dial(c.Context())
		if err != nil {
			return err
		}
		defer done()
		for _, e := range executors {
			if len(executors) > 1 {
				fmt.Fprintf(sh.Stdout, "==> executor %s on %s <==\n", e.ID, e.Node)
			}
			out := &lastLines{w: command.Raw(sh.Stdout), most: tail}
			if err := sh.copyLog(c.Context(), conn, app.ID, e, stream, follow, out); err != nil {
				return fmt.Errorf("logs of executor %s: %w", e.ID, err)
			}
		}
		return nil
	}
	return c
}

func pickExecutor(app *api.AppDetail, id string) ([]api.AppExecutor, error) {
	for _, e := range app.Executors {
		if string(e.ID) == id {
			return []api.AppExecutor{e}, nil
		}
	}
	return nil, api.Errorf(api.KindNotFound, "%s has no executor %s", app.ID, id)
}

// copyLog copies a log piece by piece to out; with follow it goes on until ctx ends.
func (sh *shell) copyLog(ctx context.Context, c client, app api.AppID, e api.AppExecutor, stream string,
	follow bool, out *lastLines) error {
	r := api.LogRequest{App: app, Executor: e.ID, Stream: stream}
	for {
		reply, err := sh.logPiece(ctx, c, e.Node, r)
		if err != nil {
			return err
		}
		if _, err := out.Write(reply.Data); err != nil {
			return err
		}
		r.Offset = reply.Next
		if !reply.EOF {
			continue
		}
		if err := out.end(); err != nil || !follow {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followEvery):
		}
	}
}

// lastLines writes the last lines of what is written to it until end, and from then on all.
type lastLines struct {
	w io.Writer
	// most is how many lines it holds back, below 0 for none; kept are these.
	most int
	kept []byte
}

// Write implements io.Writer.
func (l *lastLines) Write(p []byte) (int, error) {
	if l.most < 0 {
		return l.w.Write(p)
	}
	l.kept = append(l.kept, p...)
	// The last line may have no end yet, which is no line more.
	from := len(bytes.TrimSuffix(l.kept, []byte("\n")))
	for range l.most {
		if from = bytes.LastIndexByte(l.kept[:from], '\n'); from < 0 {
			return len(p), nil
		}
	}
	l.kept = append(l.kept[:0], l.kept[min(from+1, len(l.kept)):]...)
	return len(p), nil
}

// end writes what is held back, and holds nothing back any more.
func (l *lastLines) end() error {
	_, err := l.w.Write(l.kept)
	l.most, l.kept = -1, nil
	return err
}

// followEvery is how often a log that is followed is asked for more.
const followEvery = 500 * time.Millisecond

func (sh *shell) logPiece(ctx context.Context, c client, node string, r api.LogRequest) (api.LogReply, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	r.V = api.Version
	reply, err := c.Control(ctx, api.VerbLogs, api.ControlRequest{App: r.App, Node: node, Log: &r})
	if err == nil && reply.Log == nil {
		err = api.Errorf(api.KindInternal, "the planner's answer about a log is empty")
	}
	if err != nil {
		return api.LogReply{}, err
	}
	return *reply.Log, nil
}
