package registry

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/experiment"
)

// Each experiment has a name of its own, a title, cases whose names differ, flags that there are, and a source that is
// listed; each source has experiments that try it.
func TestExperimentsAreWhole(t *testing.T) {
	var tried []string
	for _, s := range Sources() {
		if len(s.Experiments) == 0 || s.Title == "" {
			t.Errorf("nothing tries source %s", s.Name)
		}
		for _, e := range s.Experiments {
			tried = append(tried, e.Name)
		}
	}
	names := map[string]bool{}
	for _, e := range Experiments() {
		cases, err := e.Cases(experiment.Options{})
		distinct := slices.Compact(slices.Sorted(slices.Values(cases)))
		if err != nil || len(cases) == 0 || len(distinct) != len(cases) {
			t.Errorf("%s: %d cases, %d names of cases, %v", e.Name, len(cases), len(distinct), err)
		}
		if names[e.Name] || e.Name == "" || e.Title == "" || (e.Source != "") != slices.Contains(tried, e.Name) {
			t.Errorf("%+v", e)
		}
		names[e.Name] = true
		for _, flag := range e.Takes {
			if !slices.Contains(experiment.Flags, flag) {
				t.Errorf("%s takes %q, which is no flag", e.Name, flag)
			}
		}
	}
}

// Every experiment in which something is drawn ends when it is told to.
func TestExperimentsAreStopped(t *testing.T) {
	stop := make(chan struct{})
	close(stop)
	for _, e := range Experiments() {
		if e.Name == "offers" {
			continue
		}
		o := experiment.Options{Seeds: 1, Stop: stop}
		if !slices.Contains(e.Takes, experiment.Only) {
			o.Only = "no case" // It is as if nothing was said.
		}
		if _, err := e.Run(o); !errors.Is(err, des.ErrStopped) {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
	for _, s := range Sources("002", "004") {
		if _, err := s.Claims(experiment.Options{Seeds: 1, Stop: stop}, nil); !errors.Is(err, des.ErrStopped) {
			t.Errorf("claims of %s: %v", s.Name, err)
		}
	}
}

// A name that ends in .csv is a trace; what is wrong with it is said with its line.
func TestATraceIsFound(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(file, []byte("arrival,time,core,elastic,cores,memory,priority\n0,10,1,0,1,1g,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if e, err := Find(file); err != nil || e.Name != file || !strings.Contains(e.Title, "1 jobs") {
		t.Errorf("%+v, %v", e, err)
	}
	for name, want := range map[string]string{"none.csv": "read the trace: open none.csv", "nobody": `no experiment "nobody": want one of table4, `} {
		if _, err := Find(name); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
