package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
)

// settingFiles are the settings that spark-submit takes from files, and the file of each.
type settingFiles struct {
	all, from map[string]string
	// missing is of a file that is not there, which spark-submit itself reports where that runs.
	missing error
}

// said names where a user says a setting that the flag sets too ("" for none): the flag, --conf, or the
// file.
func (f settingFiles) said(line submission, key, flag string) string {
	if flag != "" && line.last[flag] != "" {
		return flag
	}
	if _, given := line.conf[key]; given {
		return "--conf " + key
	}
	if path := f.from[key]; path != "" {
		return path + ": " + key
	}
	return key
}

// modeAside leaves out the deploy mode of a file whose master is left out, too: both are those of
// submissions without Pacer. It returns the line that says so, "" where the mode counts: one on the command
// line is the user's, and one of a file whose master is Pacer's goes with that.
func (f settingFiles) modeAside(line submission) string {
	master, path, mode := f.all["spark.master"], f.from[confDeployMode], f.all[confDeployMode]
	_, given := line.conf[confDeployMode]
	if given || line.last["--deploy-mode"] != "" || path == "" || master == "" || strings.HasPrefix(master, masterPrefix) {
		return ""
	}
	return fmt.Sprintf(
		"master %s and deploy mode %s in %s are set aside: Pacer's nodes run the executors, this machine the driver",
		master, mode, path)
}

// check checks what files say to Pacer where the command line does not say it, in the words of which
// the driver would refuse it without a word of the file. counts is what holds of a setting. The line that it returns
// beside an error is about a moment that is past.
func (f settingFiles) check(line submission, counts func(key string) string, required bool, now time.Time) (past string,
	err error) {
	text := func(key string) string {
		if counts(key) != f.all[key] {
			return ""
		}
		return f.all[key]
	}
	if d := text(confDeadline); d != "" {
		if _, err := deadlineValue(f.said(line, confDeadline, ""), d); err != nil {
			return "", err
		}
	}
	if mode := text(confMode); mode != "" && !slices.Contains(modes, api.Mode(strings.ToLower(mode))) {
		return "", command.Usagef("%s %q: want one of %v", f.said(line, confMode, ""), mode, modes)
	}
	if class := text(confClass); class != "" && !api.Class(strings.ToLower(class)).Known() {
		return "", command.Usagef("%s %q: want one of %v", f.said(line, confClass, ""), class, api.Classes())
	}
	if way := counts(confOutput); way != "" && !slices.Contains(outputs, strings.ToLower(way)) {
		return "", command.Usagef("%s %q: want one of %v", f.said(line, confOutput, ""), way, outputs)
	}
	if by := text(confBy); by != "" && counts(confDeadline) == "" {
		return checkMoment(f.said(line, confBy, ""), by, required, now)
	}
	return "", nil
}

// checkMoment checks the moment of a deadline. A moment that is past is no mistake: the application of a chain that is
// behind is late and runs at all cores, which the line says, unless it is to be refused then.
func checkMoment(what, text string, required bool, now time.Time) (line string, err error) {
	left, err := untilClock(what, text, now)
	switch {
	case err != nil || left > 0:
		return "", err
	case required:
		return "", command.Coded(command.ExitInfeasible,
			fmt.Errorf("%s: %s is past, and the deadline has to be feasible", what, text))
	}
	return fmt.Sprintf("%s: %s is past: the application is late and runs at all cores", what, text), nil
}

// requires reports whether a deadline that cannot be met is to be refused.
func (f settingFiles) requires(line submission) bool {
	said := cmp.Or(line.conf[confRequire], f.all[confRequire], line.own["--pacer-require-feasible"])
	return strings.EqualFold(said, "true")
}

// uninterpreted is a line about an interpreter for Python workers that is on this machine and runs nothing, "" for
// none: their tasks will fail with it, and the application may have no such tasks. An interpreter that is
// not here may be on other machines.
func (f settingFiles) uninterpreted(line submission, getenv func(string) string) string {
	path, said := cmp.Or(line.conf[confPython], f.all[confPython]), f.said(line, confPython, "")
	if path == "" {
		path, said = getenv("PYSPARK_PYTHON"), "PYSPARK_PYTHON"
	}
	if _, err := os.Stat(path); err != nil || !filepath.IsAbs(path) || executable(path) {
		return ""
	}
	return said + ": " + path + " is no program, and Python workers will not start with it"
}
