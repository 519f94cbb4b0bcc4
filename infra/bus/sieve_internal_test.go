package bus

import (
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/sparkpacer/pacer/test/draws"
)

// Whatever comes in whatever pieces, the sieve empties the messages that are not kept and hands on all else as it is.
func TestAttackMessagesThatAreNotKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sent, want strings.Builder
		for range rapid.IntRange(1, 20).Draw(t, "messages") {
			size := rapid.SampledFrom([]int{0, 1, 100, 70_000, 200_000}).Draw(t, "size")
			body := strings.Repeat("MSG x 1 9\r\n", size/11+1)[:size]
			reply := rapid.SampledFrom([]string{"", "_INBOX_user-viv.x "}).Draw(t, "reply")
			switch what := rapid.SampledFrom([]string{"MSG", "HMSG", "PING", "INFO"}).Draw(t, "what"); what {
			case "MSG", "HMSG":
				sizes := strconv.Itoa(size)
				if what == "HMSG" {
					sizes = "0 " + sizes
				}
				whole := what + " pacer.v1.control.user-viv.ping 7 " + reply + sizes + "\r\n" + body + "\r\n"
				sent.WriteString(whole)
				if size > 64<<10 {
					whole = "MSG pacer.v1.control.user-viv.ping 7 " + reply + "0\r\n\r\n"
				}
				want.WriteString(whole)
			default:
				sent.WriteString(what + " {\"a b c\":1}\r\n")
				want.WriteString(what + " {\"a b c\":1}\r\n")
			}
		}
		here, there := net.Pipe()
		s := &sieve{}
		keep := func(subject string, size int) bool { return size <= 64<<10 }
		s.keep.Store(&keep)
		in := s.through(here)
		go func() {
			for text := sent.String(); len(text) > 0; {
				n := min(len(text), 64<<10)
				_, _ = io.WriteString(there, text[:n])
				text = text[n:]
			}
			_ = there.Close()
		}()
		got, err := io.ReadAll(in)
		if err != nil || string(got) != want.String() {
			t.Fatalf("%v: %d bytes, want %d: %.200q", err, len(got), want.Len(), got)
		}
	})
}
