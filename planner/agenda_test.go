package planner_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// asked says which rows of the agenda are asked while something is done.
func (w *world) asked(do func()) []string {
	before := w.e.RowsAsked()
	do()
	asked := w.e.RowsAsked()
	maps.DeleteFunc(asked, func(row string, n uint64) bool { return n == before[row] })
	return slices.DeleteFunc(planner.Rows(), func(row string) bool { return asked[row] == 0 })
}

// mostRows is how many rows an event of a driver may ask; no landing raises it.
const mostRows = 3

// A stage that becomes ready asks few rows, and no row about another application.
func TestAStageThatBecomesReadyAsksFewRows(t *testing.T) {
	w := newWorld(t, "a")
	w.put(chain("p"))
	one, two := registration("p", 100), registration("other", 0)
	id := w.mustRegister(one).AppID
	w.mustRegister(two)
	w.to(3)
	before := w.e.RowsAsked()
	rows := w.asked(func() { w.tell(id, one.Submission, ready(3, 0, "read", 1000, "1")) })
	if want := []string{"pace again", "ready", "replace"}; !slices.Equal(rows, want) {
		t.Errorf("%q are asked, want %q", rows, want)
	}
	for row, n := range w.e.RowsAsked() {
		if n > before[row]+1 {
			t.Errorf("row %s is asked %d times", row, n-before[row])
		}
	}
	fmt.Printf("house.agenda_rows_per_event %d\n", len(rows))
	if len(rows) > mostRows {
		t.Errorf("%d rows, at most %d may be asked", len(rows), mostRows)
	}
}

// A status that says nothing new, a heartbeat and a question ask next to nothing.
func TestWhatSaysNothingNewAsksFewRows(t *testing.T) {
	w := newWorld(t, "a")
	r := registration("p", 0)
	id := w.mustRegister(r).AppID
	for _, c := range []struct {
		what string
		do   func()
		want []string
	}{
		{"a status", func() { w.step(planner.Status{Status: new(w.status("a"))}) }, nil},
		{"a heartbeat", func() { w.tell(id, r.Submission) }, []string{"unstarted", "replace"}},
		{"a question", func() { w.app(id) }, nil},
		{"a deadline", func() {
			w.control(api.VerbDeadline, api.ControlRequest{App: id, Deadline: units.Seconds(500)})
		}, []string{"judge", "due", "reservation"}},
		{"a drain", func() { w.control(api.VerbDrain, api.ControlRequest{Node: "a"}) }, []string{"vacate"}},
	} {
		if rows := w.asked(c.do); !slices.Equal(rows, c.want) {
			t.Errorf("%s: %q are asked, want %q", c.what, rows, c.want)
		}
	}
}

// The package's comment shows the rows of the table in their order, and each has a name of its own.
func TestTheCommentShowsTheTable(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(text), "stands when they are asked:")
	part, _, _ = strings.Cut(part, "// Admission is")
	var shown []string
	for line := range strings.Lines(part) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//"))
		line = regexp.MustCompile("^of .*  +").ReplaceAllString(line, "")
		for _, name := range strings.Split(line, ",") {
			if name = strings.TrimSpace(name); name != "" {
				shown = append(shown, name)
			}
		}
	}
	if rows := planner.Rows(); !slices.Equal(shown, rows) {
		t.Errorf("doc.go shows\n%q, the table has\n%q", shown, rows)
	}
}

// A row that is asked once more, with nothing changed since, has nothing to say.
func TestARowAskedTwiceSaysNothingMore(t *testing.T) {
	for _, at := range []units.Seconds{5, 30, 70, 99, 130} {
		w := newWorld(t, "a", "b")
		w.put(chain("p"))
		paced, waits := registration("p", 100), large("waits")
		id := w.mustRegister(paced).AppID
		w.register(large("first"))
		w.register(waits)
		w.tell(id, paced.Submission, ready(3, 0, "read", 1000, "1", "2"))
		w.live(at.Duration(), id)
		w.e.Again()
		if told := w.e.Again(); len(told) > 0 {
			t.Errorf("after %v: %q", at, told)
		}
	}
}
