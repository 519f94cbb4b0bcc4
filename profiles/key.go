package profiles

import (
	"iter"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// Key is the name of the profile of a run for which nobody names one: the application's name with
// Blind. program is what runs, as pacer submit knows it: the file, the class, the script of SQL; "" where
// nobody does. It stands in where the name is none of the user's: the file's own without its directory,
// that of spark-sql, one that an orchestrator gives (Unnamed), or one in which nothing is left.
func Key(name, program string) string {
	if program != "" && (name == path.Base(program) || Unnamed(name) || strings.HasPrefix(name, "SparkSQL::") ||
		!strings.ContainsFunc(Blind(name), unicode.IsLetter)) {
		return Blind(program)
	}
	return Blind(name)
}

// Unnamed reports whether a name is one that Airflow's operators and hooks for Spark (provider apache-spark 6.3) give
// each application to which nobody gives one. PacerConf.Unnamed of the jar has the same.
func Unnamed(name string) bool {
	switch name {
	case "arrow-spark", "airflow-spark", "default-name", "airflow-spark-jdbc":
		return true
	}
	return false
}

// blank is what Blind puts in the place of what differs from run to run.
const blank = "*"

// Parts of a name that are of one run alone: UUIDs and long hexadecimal ids, dates (days, months, weeks, quarters) with
// or without a time, times of day, and numbers of eight digits or more. A shorter number may be a size, of which each
// has a profile of its own.
var passing = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`,
	date + `(?:[T _-]*` + clock + `|[T_-][0-2][0-9][0-5][0-9](?:[0-5][0-9])?Z?)?`,
	`[0-9a-f]*(?:[0-9][a-f]|[a-f][0-9])[0-9a-f]{14,}`,
	`[0-9]{8,}(?:[_-][0-9]{4,6}\b)?`,
	clock,
}, "|"))

const (
	year = `(?:19|20)[0-9]{2}`
	word = `(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*`
	date = `(?:` + year + `[-_./](?:1[0-2]|0?[1-9])[-_./](?:[12][0-9]|3[01]|0?[1-9])` + // 2026-11-27
		`|` + year + `[-_./]?(?:1[0-2]|0[1-9])(?:[12][0-9]|3[01]|0[1-9])?` + // 20261127, 202611, 2026-11
		`|` + year + `-?(?:W[0-9]{2}|Q[1-4])` +
		`|(?:[12][0-9]|3[01]|0[1-9])[-_./](?:1[0-2]|0[1-9])[-_./]` + year + // 27.11.2026
		`|[0-9]{1,2}[-_ ]` + word + `[-_ ]` + year + `|` + year + `[-_ ]` + word + `[-_ ][0-9]{1,2})`
	clock = `[0-2][0-9]:[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?`
)

// Blind returns a name with * for all that passes with a run.
func Blind(name string) string { return passing.ReplaceAllString(name, blank) }

// Nearest returns that of names which is most like a name that is not there, "" where none is much like it. A name is
// like it which has half of it, or of its own, at both ends together, or is the same file elsewhere.
func Nearest(names iter.Seq[string], want string) string {
	best, most := "", 0.5
	for name := range names {
		near := likeness(name, want)
		if path.Base(name) == path.Base(want) {
			near = max(near, 0.75)
		}
		if near > most || near == most && (best == "" || name < best) {
			best, most = name, near
		}
	}
	return best
}

// likeness is the part of the longer of two texts that both begin and end with.
func likeness(a, b string) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return 0
	}
	head := 0
	for head < len(a) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return float64(head+tail) / float64(len(b))
}
