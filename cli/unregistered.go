package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// unregistered is the line about a submission of which the planner has had no application, "" where
// nothing was asked of Pacer that could have had an effect. code is spark-submit's exit code.
func (l *launch) unregistered(code int) string {
	var asked []string
	for _, ask := range []struct{ what, said string }{
		{"the deadline", l.setting(confDeadline) + l.setting(confBy)},
		{"mode " + l.setting(confMode), l.setting(confMode)},
		{fmt.Sprintf("profile %q", l.setting(confProfile)), l.setting(confProfile)},
	} {
		if ask.said != "" {
			asked = append(asked, ask.what)
		}
	}
	if len(asked) == 0 {
		return ""
	}
	why := withoutContext(l.line.main())
	if why == "" && code != 0 {
		why = fmt.Sprintf("spark-submit ended with exit code %d before it had", code)
	} else if why == "" {
		why = "it made no SparkContext, or one with a master of its own"
	}
	return fmt.Sprintf("no application has registered, so %s had no effect: %s", strings.Join(asked, " and "), why)
}

// Texts of a program that tell that its driver never asks the planner for anything.
var (
	ownMaster = regexp.MustCompile(
		`(?:\.(?:master|setMaster)\(|["']spark\.master["']\s*[,=])\s*(?:"([^"\n]+)"|'([^'\n]+)')`)
	ownRemote = regexp.MustCompile(`\.remote\(|["']spark\.remote["']`)
	anySpark  = regexp.MustCompile(`SparkSession|SparkContext|sparkR|sparklyr`)
)

// programMost is how much of a program's text is looked at.
const programMost = 1 << 20

// withoutContext is why the program in a file makes no context that Pacer hears of, as far as its
// text tells; "" where it does not.
func withoutContext(path string) string {
	if ext := strings.ToLower(filepath.Ext(path)); ext != ".py" && ext != ".r" {
		return ""
	}
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, programMost))
	if err != nil {
		return ""
	}
	name := filepath.Base(path)
	number := 0
	for line := range bytes.Lines(text) {
		number++
		found := ownMaster.FindSubmatch(line)
		if found == nil || bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")) {
			continue
		}
		if master := string(found[1]) + string(found[2]); !strings.HasPrefix(master, masterPrefix) {
			return fmt.Sprintf("%s sets the master %s itself (line %d), and that counts", name, master, number)
		}
	}
	switch {
	case ownRemote.Match(text):
		return name + " is a client of Spark Connect"
	case !anySpark.Match(text):
		return name + " has no SparkSession and no SparkContext"
	}
	return ""
}
