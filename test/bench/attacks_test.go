package main

import (
	"maps"
	"strings"
	"testing"
)

// An attack is a test, or a part of one, without parts; those that are skipped have not been tried.
func TestAttacksAreCountedByName(t *testing.T) {
	got, err := attackResults([]byte(strings.Join([]string{
		`{"Action":"start","Package":"p"}`,
		`{"Action":"run","Package":"p","Test":"TestAttackA"}`,
		`{"Action":"run","Package":"p","Test":"TestAttackA/one"}`,
		`{"Action":"run","Package":"p","Test":"TestAttackA/one/deep"}`,
		`{"Action":"output","Package":"p","Test":"TestAttackA/one/deep","Output":"x"}`,
		`{"Action":"fail","Package":"p","Test":"TestAttackA/one/deep"}`,
		`{"Action":"fail","Package":"p","Test":"TestAttackA/one"}`,
		`{"Action":"run","Package":"p","Test":"TestAttackA/two"}`,
		`{"Action":"pass","Package":"p","Test":"TestAttackA/two"}`,
		`{"Action":"fail","Package":"p","Test":"TestAttackA"}`,
		`{"Action":"run","Package":"q","Test":"TestAttackA"}`,
		`{"Action":"pass","Package":"q","Test":"TestAttackA"}`,
		`{"Action":"run","Package":"q","Test":"TestAttackB"}`,
		`{"Action":"skip","Package":"q","Test":"TestAttackB"}`,
		`{"Action":"fail","Package":"p"}`,
	}, "\n")))
	want := map[string]bool{"p.TestAttackA/one/deep": true, "p.TestAttackA/two": false, "q.TestAttackA": false}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}
