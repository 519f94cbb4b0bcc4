package draws

import (
	"flag"

	_ "pgregory.net/rapid" // Has the flag before init below runs.
)

func init() {
	if seed := flag.Lookup("rapid.seed"); seed.DefValue == "0" {
		_ = seed.Value.Set("1") // A number: it never fails.
	}
}
