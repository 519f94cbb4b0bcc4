package cli

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
)

// stands is a planner that knows how an application stands, one state for each question, the last one for ever; "" does
// not answer. An application that it is told to end has failed from then on.
type stands struct {
	client
	states []api.AppState
	verbs  []api.Verb
	stays  bool // It does not end, whatever is asked.
	deaf   int  // That often it does not hear that it is to end something.
}

func (s *stands) Control(_ context.Context, verb api.Verb, _ api.ControlRequest) (api.ControlReply, error) {
	s.verbs = append(s.verbs, verb)
	switch verb {
	case api.VerbKill:
		if s.deaf--; s.deaf >= 0 {
			return api.ControlReply{}, api.Errorf(api.KindTransient, "no connection")
		}
		if !s.stays {
			s.states = []api.AppState{api.AppFailed}
		}
		return api.ControlReply{Message: "app-1 is ended"}, nil
	case api.VerbExit:
		if s.states[0] == api.AppFailed {
			return api.ControlReply{Apps: []api.AppSummary{{Headline: "why it failed"}}}, nil
		}
		return api.ControlReply{Message: "the closing line"}, nil
	}
	now := s.states[0]
	s.states = s.states[min(1, len(s.states)-1):]
	if now == "" {
		return api.ControlReply{}, api.Errorf(api.KindTransient, "no connection")
	}
	a := api.AppDetail{AppSummary: api.AppSummary{ID: "app-1", State: now, EndedBy: api.EndedByExit}}
	if now == api.AppFailed {
		a.ExitCode = 7
	}
	return api.ControlReply{App: &a}, nil
}

// pacer submit follows an application to its end, and ends with its driver's exit code. A signal ends the application, a
// second one pacer submit alone; a planner that does not answer for a while ends nothing.
func TestAnApplicationIsFollowedToItsEnd(t *testing.T) {
	const runs, queued, over = api.AppRunning, api.AppQueued, api.AppFinished
	for name, c := range map[string]struct {
		states  []api.AppState
		stays   bool
		deaf    int
		signals []os.Signal
		code    int
		kills   int
		says    string
	}{
		"ends":             {states: []api.AppState{queued, runs, over}, says: "the closing line"},
		"fails":            {states: []api.AppState{runs, api.AppFailed}, code: 7, says: "why it failed"},
		"is refused":       {states: []api.AppState{queued, api.AppRefused}, code: command.ExitInfeasible},
		"is interrupted":   {states: []api.AppState{runs}, signals: []os.Signal{syscall.SIGINT}, code: 130, kills: 1, says: "app-1 is ended"},
		"is terminated":    {states: []api.AppState{runs}, signals: []os.Signal{syscall.SIGTERM}, code: 143, kills: 1, says: "app-1 is ended"},
		"does not end":     {states: []api.AppState{runs}, stays: true, signals: []os.Signal{syscall.SIGINT, syscall.SIGTERM}, code: 143, kills: 1},
		"is ended late":    {states: []api.AppState{runs, runs, runs, runs, runs, runs, over}, deaf: 2, signals: []os.Signal{syscall.SIGTERM}, code: 143, kills: 3, says: "app-1 is ended"},
		"is not disturbed": {states: []api.AppState{runs, runs, runs, over}, signals: []os.Signal{syscall.SIGUSR1}},
		"is not seen":      {states: []api.AppState{runs, "", "", over}, says: "the planner does not answer now, app-1 goes on"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var said bytes.Buffer
			planner := &stands{states: c.states, stays: c.stays, deaf: c.deaf}
			sh := &shell{Shell: &command.Shell{Stderr: &said}, getenv: func(string) string { return "" }}
			f := &following{l: &launch{shell: sh, settings: map[string]string{confSubmission: "s"}}, conn: planner, app: "app-1"}
			signals := make(chan os.Signal, 2)
			for _, s := range c.signals {
				signals <- s
			}
			err := f.run(t.Context(), signals)
			kills := len(planner.verbs) - len(slices.DeleteFunc(slices.Clone(planner.verbs), func(v api.Verb) bool { return v == api.VerbKill }))
			if command.ExitCode(err) != c.code || kills != c.kills || !strings.Contains(said.String(), c.says) {
				t.Errorf("one that %s: exit code %d after %d kills, want %d and %d with %q:\n%s", name, command.ExitCode(err), kills, c.code, c.kills, c.says, said.String())
			}
		})
	}
}
