package profiles_test

import (
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/profiles"
)

// Tomorrow's run of the same job meets today's profile, and another job does not.
func TestKeyLeavesOutWhatPasses(t *testing.T) {
	for name, want := range map[string]string{
		"sales":                    "sales",
		"sales 2026-11-27":         "sales *",
		"sales-2026/1/5-north":     "sales-*-north",
		"sales_20261127":           "sales_*",
		"sales_20261127_060000":    "sales_*",
		"sales 202611":             "sales *",
		"sales 2026-W48":           "sales *",
		"sales 27.11.2026":         "sales *",
		"sales of 27 Nov 2026":     "sales of *",
		"at 06:00":                 "at *",
		"at 06:00:00.5+02:00, all": "at *, all",
		"scheduled__2026-11-27T06:00:00+00:00__etl":     "scheduled__*__etl",
		"nightly 3f2504e0-4f89-11d3-9a0c-0305e82c3301":  "nightly *",
		"spark-9f86d081884c7d659a2feaa0c55ad015-driver": "spark-*-driver",
		"application_1700000000000_0001":                "application_*",
		"run 1764240000":                                "run *",
		// What may tell one job from another.
		"count 1000000":  "count 1000000",
		"tpcds q14b":     "tpcds q14b",
		"pagerank-v2":    "pagerank-v2",
		"sales 2026":     "sales 2026",
		"model 10.2.1":   "model 10.2.1",
		"org.apache.X$1": "org.apache.X$1",
		"Überweisungen":  "Überweisungen",
	} {
		if got := profiles.Key(name, ""); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
		if got := profiles.Key(want, ""); got != want {
			t.Errorf("%q is not its own key: %q", want, got)
		}
	}
}

// A name that is not the user's says less than what runs.
func TestKeyOfWhatHasNoName(t *testing.T) {
	for _, c := range []struct{ name, program, want string }{
		{"tiny.py", "/jobs/a/tiny.py", "/jobs/a/tiny.py"},
		{"tiny.py", "/jobs/2026-11-27/tiny.py", "/jobs/*/tiny.py"},
		{"tiny.py", "tiny.py", "tiny.py"},
		{"tiny.py", "", "tiny.py"},
		{"etl", "/jobs/a/tiny.py", "etl"},
		{"org.example.Main", "org.example.Main", "org.example.Main"},
		{"3f2504e0-4f89-11d3-9a0c-0305e82c3301", "org.example.Main", "org.example.Main"},
		{"2026-11-27", "/jobs/a/tiny.py", "/jobs/a/tiny.py"},
		{"2026-11-27", "", "*"},
		{"SparkSQL::host-7", "/sql/q.sql", "/sql/q.sql"},
		{"SparkSQL::host-7", "", "SparkSQL::host-7"},
		{"arrow-spark", "nightly.report", "nightly.report"},
		{"default-name", "/jobs/a/tiny.py", "/jobs/a/tiny.py"},
		{"airflow-spark", "", "airflow-spark"},
	} {
		if got := profiles.Key(c.name, c.program); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.name, c.program, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"sales north", "sales south", "etl", "/jobs/a/tiny.py", "Überweisungen"}
	for want, near := range map[string]string{
		"sales northern":   "sales north",
		"sales":            "", // Either is as near, and neither near.
		"sales 7 south":    "sales south",
		"tiny.py":          "/jobs/a/tiny.py",
		"/home/me/tiny.py": "/jobs/a/tiny.py",
		"Überweisung":      "Überweisungen",
		"etl2":             "etl",
		"wordcount":        "",
		"":                 "",
	} {
		if got := profiles.Nearest(slices.Values(names), want); got != near {
			t.Errorf("%q: %q, want %q", want, got, near)
		}
	}
}
