package attached

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/infra/executor"
)

// FuzzProc: whatever the texts of /proc say, each is refused or means what it says. A process chooses its
// command line and its name.
func FuzzProc(f *testing.F) {
	f.Add([]byte("/usr/bin/java\x00-Xmx1g\x00org.apache.spark.executor.YarnCoarseGrainedExecutorBackend\x00--app-id\x00a_1\x00--executor-id\x001\x00"))
	f.Add([]byte("4242 (java) (x)) S 1 4242 4242 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 30 0 98765 1 1\n"))
	f.Add([]byte("Name:\tjava\nUid:\t1000\t1000\t1000\t1000\nCpus_allowed_list:\t0-3,8\n"))
	f.Add([]byte("Name:\tjava\nNSpid:\t4242\t17\nUid:\t0\t0\t0\t0\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if c, is := parseCommand(text); is {
			args := strings.Split(string(text), "\x00")
			for key, value := range c.pairs {
				if !strings.HasPrefix(key, "--") || !strings.Contains("\x00"+string(text)+"\x00", "\x00"+key+"\x00"+value+"\x00") {
					t.Errorf("%q has no %q %q", args, key, value)
				}
			}
		}
		if s, err := executor.ParseStat(text); err == nil && s.State == 0 {
			t.Errorf("%q has no state", text)
		}
		if _, cpus, err := parseStatus(text); err == nil && cpus < 0 {
			t.Errorf("%d CPUs", cpus)
		}
		if pid := innerPID(text, 4242); pid != 4242 && !strings.Contains(string(text), "NSpid:") {
			t.Errorf("its id is %d", pid)
		}
		if group := containerOf(string(text)); group != "" && !strings.HasPrefix(group, "/") {
			t.Errorf("%q", group)
		}
	})
}
