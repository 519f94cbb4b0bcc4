package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// sayCores says how many of its cores something has used, "" of none.
func sayCores(used, all units.Cores) string {
	if used <= 0 {
		return ""
	}
	return fmt.Sprintf(", on %.1f of %s cores", float64(used), sayCount(float64(all)))
}

// sayCount prints a number of cores without needless decimals.
func sayCount(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }

// sayAbout prints a length of time that is about that, for a sentence.
func sayAbout(s units.Seconds) string {
	minutes := int(math.Round(float64(s / 60)))
	switch {
	case s < 99.5:
		return fmt.Sprintf("%.0f s", float64(s))
	case minutes < 100:
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
}

// saySpan prints a length of time for a sentence.
func saySpan(s units.Seconds) string {
	switch {
	case s < 9.95:
		return fmt.Sprintf("%.1f s", float64(s))
	case s < 120:
		return fmt.Sprintf("%.0f s", float64(s))
	}
	return s.Duration().Round(time.Second).String()
}
