package daemon

import "testing"

func TestRootAloneHasNoStrangers(t *testing.T) {
	const system = "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1::/usr/sbin:/usr/sbin/nologin\n" +
		"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
	own := func() UpConfig {
		c := UpConfig{Planner: DefaultPlannerConfig(), Node: DefaultNodeConfig()}
		c.Node.ExecutorUser = ""
		return c
	}
	for name, c := range map[string]struct {
		change func(*UpConfig, *alone)
		alone  bool
	}{
		"a container":                    {func(*UpConfig, *alone) {}, true},
		"a service with a high id":       {func(_ *UpConfig, on *alone) { on.passwd += "build:x:1000:1000::/srv:/usr/sbin/nologin\n" }, true},
		"a list that nobody can read":    {func(_ *UpConfig, on *alone) { on.passwd += "# comment\nbroken:line\n" }, true},
		"somebody who can log in":        {func(_ *UpConfig, on *alone) { on.passwd += "ann:x:1000:1000::/home/ann:/bin/bash\n" }, false},
		"a shell that is not named":      {func(_ *UpConfig, on *alone) { on.passwd += "ann:x:1001:1001::/home/ann:\n" }, false},
		"a directory of users":           {func(_ *UpConfig, on *alone) { on.nsswitch = "passwd: files sss\n" }, false},
		"sudo":                           {func(_ *UpConfig, on *alone) { on.sudo = "ann" }, false},
		"no root":                        {func(_ *UpConfig, on *alone) { on.uid = 1000 }, false},
		"a planner that others reach":    {func(c *UpConfig, _ *alone) { c.Planner.Listen = "0.0.0.0:4222" }, false},
		"a page that others reach":       {func(c *UpConfig, _ *alone) { c.Planner.HTTP = "10.0.0.1:4281" }, false},
		"a server of one's own":          {func(c *UpConfig, _ *alone) { c.Planner.NatsURL = "nats://127.0.0.1:4222" }, false},
		"a user who says so":             {func(c *UpConfig, _ *alone) { c.Node.ExecutorUser = EachUser }, false},
		"a user who names somebody":      {func(c *UpConfig, _ *alone) { c.Node.ExecutorUser = "spark" }, false},
		"executors of another manager's": {func(c *UpConfig, _ *alone) { c.Node.Attach = true }, false},
	} {
		up, on := own(), alone{passwd: system, nsswitch: "passwd: files systemd\nhosts: files dns\n"}
		c.change(&up, &on)
		before := up.Node.ExecutorUser
		if got := up.runAlone(on); got != c.alone || (up.Node.ExecutorUser == "root") != c.alone || !c.alone && up.Node.ExecutorUser != before {
			t.Errorf("%s: %v, executors run as %q", name, got, up.Node.ExecutorUser)
		}
	}
}
