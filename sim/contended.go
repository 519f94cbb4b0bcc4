package sim

import (
	"embed"
	"fmt"

	"github.com/sparkpacer/pacer/sim/plant"
)

// contendedTexts has a scenario for each strategy of the supervisor, which shows what it is good and
// bad for, and others in which applications run beside others.
//
//go:embed testdata/strategy-*.txt testdata/behind.txt testdata/yields.txt testdata/faults.txt testdata/flap.txt
//go:embed testdata/beside.txt testdata/arrivals.txt testdata/observed.txt
var contendedTexts embed.FS

// StrategyScenario is the scenario that shows a strategy of the supervisor. The error is that
// there is none of that name.
func StrategyScenario(strategy string) (*Scenario, error) {
	return ContendedScenario("strategy-" + strategy)
}

// ContendedScenario is the scenario of testdata of that name in which applications run beside others;
// its text may name workloads. The error is that there is none.
func ContendedScenario(name string, workloads ...plant.App) (*Scenario, error) {
	file := "testdata/" + name + ".txt"
	text, err := contendedTexts.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", name, err)
	}
	return ParseScenario(file, string(text), workloads...)
}
