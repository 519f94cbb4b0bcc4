package ledger

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
)

// Line is what a fact says to those who read logs or watch a planner.
type Line struct {
	// Name is the same for all facts that say alike, as in "stage planned".
	Name string
	// Text says it on one line. It is "" for what happens all the time, which a log leaves out.
	Text string
	// Trouble says that an operator should see it without asking.
	Trouble bool
	// Fields are what it is about, as keys and values by turns: app, executor, node, stage,
	// attempt, profile.
	Fields []any
}

// quiet is the line of a fact that a log leaves out.
func quiet(name string) Line { return Line{Name: name} }

// usual is the line of a fact that is told to those who ask.
func usual(name string, about []any, format string, args ...any) Line {
	return Line{Name: name, Text: fmt.Sprintf(format, args...), Fields: about}
}

// trouble is the line of a fact that an operator should see.
func trouble(name string, about []any, format string, args ...any) Line {
	line := usual(name, about, format, args...)
	line.Trouble = true
	return line
}

func ofApp(id api.AppID) []any    { return []any{"app", string(id)} }
func ofNode(name string) []any    { return []any{"node", name} }
func ofProfile(name string) []any { return []any{"profile", name} }

func ofStage(id api.AppID, s api.StageKey) []any {
	return []any{"app", string(id), "stage", s.Stage, "attempt", s.Attempt}
}

func ofExecutor(id api.AppID, x api.ExecutorID, node string) []any {
	return []any{"app", string(id), "executor", string(x), "node", node}
}
