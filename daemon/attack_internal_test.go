package daemon

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

// An application names files so that the reason for which it has to go is no line: a status tells of it all the same.
func TestAttackByNamesOfFiles(t *testing.T) {
	for name, file := range map[string]string{"a line's end": "x\ny", "a terminal's": "\x1b[2J", "no letters": "\xff\xfe", "long": strings.Repeat("x", 4<<10),
		"nothing but ends": "\n"} {
		t.Run(name, func(t *testing.T) {
			d := &disk{}
			faults := []api.AppFault{{App: "app-1", Reason: "its files there cannot be counted: open " + file}, {App: "app-2", Reason: "it takes too much"}}
			d.tell(faults)
			s := api.NodeStatus{V: api.Version, Node: "n", Incarnation: "i", Seq: 1, Offered: 1, Total: 1, Faults: d.faults()}
			if err := s.Validate(); err != nil || len(s.Faults) != 2 || s.Faults[1] != faults[1] {
				t.Errorf("%v, %.300v", err, s.Faults)
			}
		})
	}
}

// What a planner takes for invalid in a hello is no end of a node controller, another version is.
func TestAttackByAHello(t *testing.T) {
	for kind, ends := range map[api.Kind]bool{api.KindInvalid: false, api.KindTransient: false, api.KindDenied: false, api.KindVersion: true, api.KindConflict: true} {
		t.Run(fmt.Sprint("of kind ", kind), func(t *testing.T) {
			if got := hopeless(api.Errorf(kind, "no")); got != ends {
				t.Errorf("%v, want %v", got, ends)
			}
		})
	}
}
