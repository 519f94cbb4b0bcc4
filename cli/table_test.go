package cli

import "testing"

// Names that differ in their line alone stay apart when they are cut.
func TestStageNamesKeepTheirEnd(t *testing.T) {
	for name, want := range map[string]string{
		"collect at day.py:12":                                     "collect at day.py:12",
		"collect at /srv/jobs/daily/day.py:12":                     "collect at /…/day.py:12",
		"reduceByKey at /srv/jobs/a-name-that-is-long.py:1234":     "red…/a-name-that-is-long.py:1234",
		"count at a.name.without.any.path.that.goes.on.Main.scala": "…ny.path.that.goes.on.Main.scala",
		"sum at /srv/a-file-whose-name-is-longer-than-all.py:77":   "…e-name-is-longer-than-all.py:77",
	} {
		if got := stageName(name, 32); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
