package executor

import (
	"io"
	"os"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"
)

// lastWords are what a training run said last.
func lastWords(paths Paths) string {
	for _, path := range []string{paths.Stderr, paths.Stdout} {
		if line, err := LastLine(path); err == nil && line != "" {
			return line
		}
	}
	return "it said nothing"
}

// LastLine is the last line of a log that is not empty, at most 300 bytes of it.
func LastLine(path string) (string, error) {
	text, err := logTail(path, 4096)
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	line := lines[len(lines)-1]
	return line[max(0, len(line)-300):], nil
}

// logTail is the end of a log, at most so many bytes. Its writer is an executor's user: the
// path leads to no link and no pipe is waited for.
func logTail(path string, most int64) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.NewSectionReader(f, max(0, st.Size()-most), most))
	return string(text), err
}

// thrown is a line that names what a JVM has thrown, and why; a stack's frames begin with a tab.
var thrown = regexp.MustCompile(`^(Exception in thread "[^"]*" |Caused by: |Error: )?` +
	`((?:[a-z_][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error|Throwable|Failure)\b.*)$`)

// mostReason bounds, in bytes, what is told of an exception.
const mostReason = 200

// Thrown is the cause of the last exception that ended a program, as its log names it; "" where
// the log has none. The cause at the end of a chain says what is wrong, the ones above it
// where that was noticed.
func Thrown(path string) string {
	text, err := logTail(path, 64<<10)
	if err != nil {
		return ""
	}
	last := ""
	for line := range strings.Lines(text) {
		if m := thrown.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			last = m[2]
		}
	}
	last = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, last)
	return strings.ToValidUTF8(last[:min(len(last), mostReason)], "")
}
