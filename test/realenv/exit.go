package realenv

import (
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// Unseen is how much longer than Pacer tells `pacer submit` may run as its caller sees
// it: its own start and the report of the exit. On a busy machine either takes a while.
const Unseen = time.Second

// AtExit says what is wrong with the end that Pacer tells of an application, which took
// so long for the caller of its `pacer submit`.
func AtExit(took time.Duration, a api.AppDetail) error {
	told := a.Duration.Duration()
	switch {
	case a.EndedBy != api.EndedByExit:
		return fmt.Errorf("its end is taken from %q, not from its exit", a.EndedBy)
	case told > took || told < took-Unseen:
		return fmt.Errorf("Pacer tells %v, pacer submit took %v", told, took)
	}
	return nil
}
