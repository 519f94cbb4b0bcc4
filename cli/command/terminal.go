package command

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// terminal is a writer for texts of others: what would make a terminal do something else
// than show it is written as an escape of JSON, so that JSON stays what it was.
type terminal struct{ w io.Writer }

// Write implements io.Writer. Lines and columns are the caller's own: a line feed and a tab
// pass. A character must not be cut in two by two calls.
func (t terminal) Write(p []byte) (int, error) {
	text := string(p)
	if !strings.ContainsFunc(text, func(r rune) bool {
		return hidden(r) && r != '\n' && r != '\t'
	}) && utf8.ValidString(text) {
		return t.w.Write(p)
	}
	if _, err := io.WriteString(t.w, escape(text, "\n\t")); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Raw is what a writer of a Shell writes to: for programs that the user has started
// there, and for logs that are the user's to read as they are.
func Raw(w io.Writer) io.Writer {
	if t, ok := w.(terminal); ok {
		return t.w
	}
	return w
}

// OnTerminal reports whether somebody reads what is written to w as it comes.
func OnTerminal(w io.Writer) bool {
	f, ok := Raw(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Visible is s in one line and one column, with all escaped that is not shown.
func Visible(s string) string { return escape(s, "") }

// hidden reports whether a terminal shows something else than r: control characters, and
// those that change the direction of what follows.
func hidden(r rune) bool { return !unicode.IsGraphic(r) }

func escape(s, keep string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !hidden(r) || strings.ContainsRune(keep, r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.String()
}
