package sim

import (
	"fmt"
	"os"
	"testing"
	"time"
)

func TestTab(t *testing.T) {
	name := os.Getenv("TAB")
	if name == "" {
		t.Skip()
	}
	began := time.Now()
	o := Options{Seeds: 3, Laws: []string{"pi", "feedforward"}, Only: os.Getenv("ONLY")}
	tab, err := Run(name, o)
	for _, c := range tab.Cells {
		p, ps, pc := 0.0, 0.0, 0.0
		if c.Paper != nil {
			p = *c.Paper
		}
		if c.PaperStage != nil {
			ps = *c.PaperStage
		}
		if c.PaperCores != nil {
			pc = *c.PaperCores
		}
		fmt.Printf("%-12s %-22s err %6.2f [%6.2f %6.2f] late %d paper %6.2f | stage %5.2f (%5.2f) | cores %5.1f (%5.1f) ratio %.2f ch %5.0f var %.1f D %.0f %s\n", c.Law, c.Case, c.Error, c.Least, c.Most, c.Late, p,
			c.StageError, ps, c.MeanCores, pc, c.CoreRatio, c.Changes, c.Variation, float64(c.Runs[0].Deadline), c.Runs[0].Pacing)
	}
	fmt.Println(time.Since(began), err)
}
