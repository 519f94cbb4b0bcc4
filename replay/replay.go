package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sparkpacer/pacer/node"
)

// Replayed says what a replay has shown.
type Replayed struct {
	Title   string `json:"title"`
	Seed    uint64 `json:"seed"`
	Release string `json:"release,omitempty"`
	// Lines were read, Calls of Nodes were asked again, and Actions were the same.
	Lines   int `json:"lines"`
	Calls   int `json:"calls"`
	Nodes   int `json:"nodes"`
	Actions int `json:"actions"`
	// Starts are the engines' beginnings: a node controller has one a start.
	Starts int `json:"starts"`
	// Stopped is why the recording ended before what it recorded, "" if it did not.
	Stopped string `json:"stopped,omitempty"`
}

// Run reads a history and asks node engines again what the recorded ones were
// asked: each answer has to be the recorded one. name picks one node, "" takes
// all. The error says on which line the history breaks, or on which line the
// engine answers differently and how.
func Run(history io.Reader, name string) (Replayed, error) {
	var out Replayed
	r := bufio.NewReaderSize(history, 1<<16)
	engines := map[string]*node.Engine{}
	seen := map[string]bool{}
	ended := false
	for {
		text, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(text) == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return out, fmt.Errorf("read the history: %w", err)
		}
		out.Lines++
		l, err := readLine(text, out.Lines)
		if err != nil {
			return out, err
		}
		if ended = l.End > 0; ended && l.End != out.Lines-1 {
			return out, fmt.Errorf("line %d: the history says that %d lines come before its end, %d do: some are missing",
				out.Lines, l.End, out.Lines-1)
		}
		if out.Lines == 1 {
			out.Title, out.Seed, out.Release = l.Title, l.Seed, l.Release
		}
		if ended {
			out.Stopped = l.Said
		}
		if l.Call == "" || (name != "" && l.Name != name) {
			continue
		}
		if !seen[l.Name] {
			seen[l.Name] = true
			out.Nodes++
		}
		out.Calls++
		if l.Call == callNew {
			out.Starts++
		}
		out.Actions += len(l.Actions)
		if err := repeat(engines, l); err != nil {
			return out, fmt.Errorf("line %d (%.3f s, node %s, %s): %w", out.Lines, l.At, l.Name, l.Call, err)
		}
	}
	switch {
	case out.Lines == 0:
		return out, errors.New("line 1: the history is empty")
	case !ended:
		return out, fmt.Errorf("line %d: the history ends here without its last line: it was cut off", out.Lines)
	case name != "" && out.Calls == 0:
		return out, fmt.Errorf("the history has no node %q", name)
	case out.Calls == 0:
		return out, fmt.Errorf("line %d: the history ends without a call of a node's engine, so there is nothing to compare",
			out.Lines)
	}
	return out, nil
}

// readLine reads one line; the first has to be a history's head.
func readLine(text []byte, n int) (*Line, error) {
	var l Line
	if text[len(text)-1] != '\n' {
		return nil, fmt.Errorf("line %d: it has no end: the history was cut off after %d bytes of it", n, len(text))
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(&l)
	if rest := bytes.TrimSpace(text[d.InputOffset():]); err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes follow its JSON object, want one object a line", len(rest))
	}
	switch {
	case n == 1 && (err != nil || l.History == 0):
		return nil, errors.New(`line 1: this is no history of pacer: want a JSON object with "pacer_history"`)
	case n == 1 && l.History != Version:
		return nil, &layoutError{l.History}
	case err != nil:
		return nil, fmt.Errorf("line %d: %w", n, err)
	}
	return &l, nil
}

// layoutError says that a history is of a layout that this build does not read.
type layoutError struct{ layout int }

// Error implements error.
func (e *layoutError) Error() string {
	return fmt.Sprintf("line 1: the history has layout %d, this build reads %d", e.layout, Version)
}

// repeat makes one recorded call again.
func repeat(engines map[string]*node.Engine, l *Line) error {
	if l.Call == callNew {
		return renew(engines, l)
	}
	e := engines[l.Name]
	if e == nil {
		return errors.New("the node was not there before: lines are missing")
	}
	var actions []node.Action
	switch {
	case l.Call == node.CallStatus:
		e.Status(l.Now)
		return nil
	case l.Call == node.CallApply && l.Plan != nil:
		actions = e.Apply(l.Now, *l.Plan)
	case l.Call == node.CallStep && l.Sample != nil:
		actions = e.Step(l.Now, l.Sample.sample())
	case l.Call == node.CallObserve && l.Sample != nil:
		actions = e.Observe(l.Now, l.Sample.sample())
	case l.Call == node.CallConfigure && l.Config != nil:
		var err error
		if actions, err = e.Configure(l.Now, *l.Config); err != nil {
			return err
		}
	case l.Call == node.CallShutdown:
		actions = e.Shutdown(l.Now, l.Ending)
	default:
		return fmt.Errorf("call %q without what belongs to it", l.Call)
	}
	return compare(sayActions(actions), l.Actions)
}

func renew(engines map[string]*node.Engine, l *Line) error {
	if l.Config == nil {
		return errors.New("a node without its configuration")
	}
	var saved *node.State
	if len(l.State) > 0 && string(l.State) != "null" {
		saved = &node.State{}
		if err := json.Unmarshal(l.State, saved); err != nil {
			return fmt.Errorf("its saved state: %w", err)
		}
	}
	e, err := node.New(*l.Config, saved)
	if err != nil {
		return err
	}
	engines[l.Name] = e
	return nil
}

// compare says where the answers differ.
func compare(got, want []actionLine) error {
	text := func(all []actionLine) []string {
		out := make([]string, len(all))
		for i := range all {
			out[i] = all[i].String()
		}
		return out
	}
	g, w := text(got), text(want)
	for i := range max(len(g), len(w)) {
		switch {
		case i >= len(g):
			return fmt.Errorf("action %d was %s, now there is none", i+1, w[i])
		case i >= len(w):
			return fmt.Errorf("there were %d actions, now there is %s, too", len(w), g[i])
		case g[i] != w[i]:
			return fmt.Errorf("action %d was %s, now it is %s", i+1, w[i], g[i])
		}
	}
	if !slices.Equal(g, w) {
		return errors.New("the actions differ")
	}
	return nil
}
