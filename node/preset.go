package node

import (
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/supervisor"
)

// Paper is c as [1] is printed: the law of Eq 13-19, progress in finished tasks, Eq 21 as printed. The rest, as the
// law's parameters and the strategy, is c's.
func (c Config) Paper() Config {
	c.Controller.Law, c.Meter.Progress, c.Supervisor.Eq21 = controller.LawPI, meter.Tasks, supervisor.Eq21Printed
	return c
}
