package web

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// followEach is how often a log that is followed is asked for more.
const followEach = 500 * time.Millisecond

// copyLog sends an executor's log piece by piece, and with follow what is written to it, until the client goes or may
// not read it any more. Each piece is a request of its own, with its rights and its place in the allowance.
func copyLog(c *call) (any, error) {
	r := api.LogRequest{V: api.Version, App: api.AppID(c.PathValue("id")),
		Executor: api.ExecutorID(c.PathValue("executor")), Stream: cmp.Or(c.word("stream", "stderr", "stdout"), "stderr"),
		Offset: int64(c.whole("offset", 0, 0, api.MostMemory))}
	follow := c.flag("follow")
	if c.by.Scrapes { // Such a token lies in files of other programs, for months.
		return nil, api.Errorf(api.KindDenied, "a token for scrapes reads no logs: `pacer auth token` prints one that does")
	}
	shown, err := c.control(api.VerbApp, api.ControlRequest{})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(shown.App.Executors, func(e api.AppExecutor) bool { return e.ID == r.Executor })
	if i < 0 {
		return nil, api.Errorf(api.KindNotFound, "%s has no executor %s", r.App, api.Clip(string(r.Executor), api.MostToken))
	}
	login := c.by.Login()
	if !c.server.logs.Enter(login) {
		return nil, api.Errorf(api.KindTransient, "%d logs are read by %s, or %d by all: close one of them", mostOwn, login,
			mostClients)
	}
	defer c.server.logs.Leave(login)
	out := &subscriber{c.w, http.NewResponseController(c.w), false}
	for begun := false; ; begun = true {
		reply, err := c.control(api.VerbLogs, api.ControlRequest{Node: shown.App.Executors[i].Node, Log: &r})
		switch {
		case err == nil && reply.Log == nil:
			err = api.Errorf(api.KindInternal, "the planner's answer about a log is empty")
		case err == nil && !begun:
			err = out.begin("text/plain; charset=utf-8")
		}
		if err == nil {
			err = out.send(event{plain: reply.Log.Data})
		}
		switch {
		case err != nil && !begun:
			return nil, err
		case err != nil:
			panic(http.ErrAbortHandler) // A log that is cut is not to look whole.
		case reply.Log.EOF && !follow:
			return nil, nil
		}
		if r.Offset = reply.Log.Next; c.next(reply.Log.EOF) != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

// next waits until one more request may be made: for a while where there is nothing yet, or the allowance is used up.
func (c *call) next(wait bool) error {
	for ; ; wait = true {
		if wait {
			select {
			case <-time.After(followEach):
			case <-c.Context().Done():
				return c.Context().Err()
			case <-c.server.watch.ctx.Done():
				return c.server.watch.ctx.Err()
			}
		}
		if err := c.stillThere(); err != nil {
			return err
		}
		if c.admitted(0) == nil {
			return nil
		}
	}
}
