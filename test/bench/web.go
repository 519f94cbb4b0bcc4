package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/sparkpacer/pacer/test/benchline"
)

// figureLine is what a test prints of a figure: its name, value and n.
var figureLine = regexp.MustCompile(`figure ([a-z0-9_.]+) (\S+) (\d+)`)

// watchUnits are those of what is measured of who looks.
var watchUnits = map[string]string{"watch.asks_per_s.0": "/s", "watch.asks_per_s.20": "/s", "watch.kib_per_s": "KiB/s",
	"watch.age_s.max": "s", "api.documented_pct": "%"}

// watched measures what it costs that somebody looks and what they see, in virtual time, and which answers of the API
// are as openapi.yaml says. Tests do: virtual time is theirs.
func watched(t testing.TB, add adder) {
	for test, folder := range map[string]string{"TestWatched": "./test/bench", "TestEveryAnswerIsAsDescribed": "./web"} {
		command := exec.CommandContext(t.Context(), "go", "test", "-count", "1", "-v", "-run", "^"+test+"$", folder)
		command.Env = append(os.Environ(), "PACER_BENCH=1")
		out, err := command.CombinedOutput()
		lines := figureLine.FindAllSubmatch(out, -1)
		if err != nil || len(lines) == 0 {
			t.Fatalf("%s: %v: %s", test, err, out)
		}
		for _, m := range lines {
			value, err1 := strconv.ParseFloat(string(m[2]), 64)
			n, err2 := strconv.Atoi(string(m[3]))
			if err1 != nil || err2 != nil {
				t.Fatalf("%s prints %q", test, m[0])
			}
			name := string(m[1])
			add(name, benchline.Measured{Value: value, N: n, Spread: [2]float64{value, value}}, watchUnits[name])
		}
	}
}
