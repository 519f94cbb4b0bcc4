package eventlog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// of is a source of what a file holds.
func of(name string, body []byte) Source {
	return Source{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }}
}

// frames are the ends of what can be unpacked of a file by itself, and how many bytes that is, by the lengths that
// stand before it: none of the package's own reading.
func frames(t testing.TB, body []byte) (ends, sizes []int) {
	t.Helper()
	u32, u16 := binary.BigEndian.Uint32, binary.BigEndian.Uint16
	for at := 0; at < len(body); {
		rest, size := body[at:], 0
		switch {
		case rest[0] == '{': // Each byte is one.
			at, size = at+1, 1
			for at < len(body) && body[at-1] != '\n' {
				at, size = at+1, size+1
			}
		case bytes.HasPrefix(rest, []byte("LZ4Block")):
			at, size = at+21+int(binary.LittleEndian.Uint32(rest[9:])), int(binary.LittleEndian.Uint32(rest[13:]))
		case bytes.HasPrefix(rest, []byte("\x82SNAPPY")):
			at += 16
			continue
		case rest[0] == 'Z' && rest[2] == 0:
			at, size = at+5+int(u16(rest[3:])), int(u16(rest[3:]))
		case rest[0] == 'Z':
			at, size = at+7+int(u16(rest[3:])), int(u16(rest[5:]))
		case bytes.HasPrefix(rest, []byte{0x28, 0xb5, 0x2f, 0xfd}):
			n := zstdFrame(rest)
			d, _ := zstd.NewReader(nil)
			whole, err := d.DecodeAll(rest[:min(n, len(rest))], nil)
			d.Close()
			if n > len(rest) || err != nil { // It is open.
				return ends, sizes
			}
			at, size = at+n, len(whole)
		default: // A block of snappy.
			n, err := snappy.DecodedLen(rest[4:])
			if err != nil {
				t.Fatalf("byte %d: %v", at, err)
			}
			at, size = at+4+int(u32(rest)), n
		}
		if at > len(body) {
			break
		}
		ends, sizes = append(ends, at), append(sizes, size)
	}
	return ends, sizes
}

// zstdFrame is how long a frame of zstd is (RFC 8878, 3.1.1).
func zstdFrame(b []byte) int {
	flags := b[4]
	n := 5
	if flags&0x20 == 0 {
		n++
	}
	n += []int{0, 1, 2, 4}[flags&3] + []int{int(flags >> 5 & 1), 2, 4, 8}[flags>>6]
	for n+3 <= len(b) {
		head := int(b[n]) | int(b[n+1])<<8 | int(b[n+2])<<16
		if n += 3; head>>1&3 == 1 {
			n++
		} else {
			n += head >> 3
		}
		if head&1 != 0 {
			return n + int(flags>>2&1)*4
		}
	}
	return len(b) + 1
}

// A log that is cut off anywhere tells of every stage that is complete there what the whole one does.
func TestALogCutAnywhereGivesEveryCompleteStage(t *testing.T) {
	found, asked, cuts := 0, 0, 0
	for kind, sources := range golden(t) {
		if len(sources) > 1 {
			continue
		}
		body, err := os.ReadFile(sources[0].Name)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := Read(sources, nil)
		if err != nil {
			t.Fatal(err)
		}
		ends, sizes := frames(t, body)
		text, _ := unpack(sources[0].Name, body)
		for n := 997; n < len(body); n += 997 {
			var there int
			for i, end := range ends {
				if end <= n {
					there += sizes[i]
				}
			}
			got, err := Read([]Source{of(filepath.Base(sources[0].Name), body[:n])}, nil)
			if err != nil {
				t.Fatalf("%s cut at %d: %v", kind, n, err)
			}
			if cuts++; got.Cut == "" {
				t.Fatalf("%s cut at %d: nothing says so", kind, n)
			}
			for _, stage := range whole.Stages {
				if !endedIn(text[:min(there, len(text))], stage.ID) {
					continue
				}
				asked++
				for _, s := range got.Stages {
					if s.ID == stage.ID && s.Complete() == stage.Complete() && s.Signature == stage.Signature &&
						reflect.DeepEqual(s.Attempts[0].Done, stage.Attempts[0].Done) {
						found++
					}
				}
			}
		}
	}
	t.Logf("eventlog.complete_pct %.4g pct (%d cuts)", 100*float64(found)/float64(max(1, asked)), cuts)
	if found != asked || asked < 1000 {
		t.Errorf("%d of %d complete stages were found", found, asked)
	}
}

// endedIn reports whether the line with which a stage ended is whole in text.
func endedIn(text []byte, id int) bool {
	begins := fmt.Appendf(nil, `{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":%d,`, id)
	at := bytes.Index(text, begins)
	return at >= 0 && bytes.IndexByte(text[at:], '\n') > 0
}
