package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/demo"
	"github.com/sparkpacer/pacer/internal/benchline"
	"github.com/sparkpacer/pacer/internal/realenv"
)

// demonstration runs what `make demo` runs and takes its figures.
func demonstration(t testing.TB, add adder) {
	out, err := filepath.Abs("out")
	if err != nil {
		t.Fatal(err)
	}
	run := realenv.Start(t, []string{realenv.RuntimeEnv + "=auto"}, realenv.Binary(t, "pacer"), "demo", "--out", out)
	if code := run.Wait(20 * time.Minute); code != 0 {
		t.Errorf("demo: exit %d", code)
	}
	t.Log(run.Output())
	body, err := os.ReadFile(filepath.Join(out, "demo.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	full := 0.0
	var paced []float64
	for d := json.NewDecoder(strings.NewReader(string(body))); ; {
		var line demo.Line
		if err := d.Decode(&line); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if line.ErrorPct == nil {
			full = float64(line.CoreSeconds)
			continue
		}
		add("demo.error_pct."+line.Run, benchline.One(*line.ErrorPct), "%")
		paced = append(paced, float64(line.CoreSeconds))
	}
	if full <= 0 || len(paced) == 0 {
		t.Fatal("the full run used no CPU, or none was paced")
	}
	add("demo.core_seconds_ratio", benchline.Ratio(paced, []float64{full}), "ratio")
}
