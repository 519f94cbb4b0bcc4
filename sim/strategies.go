package sim

import (
	"embed"
	"fmt"
)

// strategyTexts has a scenario for each strategy of the supervisor, which shows what it is
// good and bad for.
//
//go:embed testdata/strategy-*.txt
var strategyTexts embed.FS

// StrategyScenario is the scenario that shows a strategy of the supervisor. The error is that
// there is none of that name.
func StrategyScenario(strategy string) (*Scenario, error) {
	file := "testdata/strategy-" + strategy + ".txt"
	text, err := strategyTexts.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the scenario of strategy %s: %w", strategy, err)
	}
	return ParseScenario(file, string(text))
}
