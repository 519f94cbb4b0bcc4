package attached_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor/attached"
)

// Why an executor is refused fits into a status, whatever command line a process of the machine shows.
func TestAttackByACommandLine(t *testing.T) {
	for name, url := range map[string]string{"long": strings.Repeat("x", 64<<10), "no letters": strings.Repeat("\xff", 64<<10)} {
		t.Run("a driver URL that is "+name, func(t *testing.T) {
			m := newMachine(t, cgrouptest.V1Separate)
			args := command(yarnClass, "1")
			for i := range args {
				if args[i] == "--driver-url" {
					args[i+1] = "spark://" + url
				}
			}
			m.run(t, process{pid: 4242, parent: 1, session: 4242, args: args, groups: m.in(yarnGroup, true)})
			s := spec("1")
			s.CommandLine = attached.CommandLine(&api.Attach{App: sparkApp}, "1", driver)
			_, err := m.runtime(t).Start(t.Context(), s)
			if api.KindOf(err) != api.KindConflict {
				t.Fatal(err)
			}
			if n := len(err.Error()); n > api.MostText/2 {
				t.Errorf("it takes %d bytes", n)
			}
		})
	}
}
