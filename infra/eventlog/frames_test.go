package eventlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"pgregory.net/rapid"

	_ "github.com/sparkpacer/pacer/test/draws"
)

// packers write what Spark's streams do, in blocks of a size.
var packers = map[string]func(text []byte, size int) []byte{
	"zstd": func(text []byte, size int) []byte {
		e, _ := zstd.NewWriter(nil)
		defer e.Close()
		return each(text, size, nil, func(b []byte) []byte { return e.EncodeAll(b, nil) })
	},
	"lz4": func(text []byte, size int) []byte {
		block := func(b []byte) []byte {
			packed := make([]byte, lz4.CompressBlockBound(len(b)))
			n, _ := lz4.CompressBlock(b, packed, nil)
			method := byte(0x25)
			if packed = packed[:n]; n == 0 || n >= len(b) {
				packed, method = b, 0x15
			}
			head := append([]byte("LZ4Block"), method)
			head = binary.LittleEndian.AppendUint32(head, uint32(len(packed)))
			head = binary.LittleEndian.AppendUint32(head, uint32(len(b)))
			return append(append(head, 0, 0, 0, 0), packed...)
		}
		return append(each(text, size, nil, block), block(nil)...)
	},
	"snappy": func(text []byte, size int) []byte {
		head := append([]byte("\x82SNAPPY\x00"), 0, 0, 0, 1, 0, 0, 0, 1)
		return each(text, size, head, func(b []byte) []byte {
			packed := snappy.Encode(nil, b)
			return append(binary.BigEndian.AppendUint32(nil, uint32(len(packed))), packed...)
		})
	},
	"lzf": func(text []byte, size int) []byte {
		return each(text, size, nil, func(b []byte) []byte {
			return append(binary.BigEndian.AppendUint16([]byte{'Z', 'V', 0}, uint16(len(b))), b...)
		})
	},
}

func each(text []byte, size int, head []byte, block func([]byte) []byte) []byte {
	for len(text) > 0 {
		n := min(size, len(text))
		head, text = append(head, block(text[:n])...), text[n:]
	}
	return head
}

// What a codec has packed comes back, and of a file that is cut off all whole blocks.
func TestWhatIsPackedComesBack(t *testing.T) {
	for codec, pack := range packers {
		rapid.Check(t, func(t *rapid.T) {
			word := rapid.StringMatching(`[a-z]{1,9}`)
			text := []byte("{" + strings.Join(rapid.SliceOfN(word, 1, 400).Draw(t, "text"), " "))
			size := rapid.IntRange(1, 700).Draw(t, "size")
			packed := pack(text, size)
			if got, err := unpack(codec, packed); err != nil || !bytes.Equal(got, text) {
				t.Fatalf("%s: %d of %d bytes, %v", codec, len(got), len(text), err)
			}
			at := rapid.IntRange(1, len(packed)-1).Draw(t, "cut")
			got, err := unpack(codec, packed[:at])
			if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.HasPrefix(text, got) {
				t.Fatalf("%s cut at %d of %d: %v", codec, at, len(packed), err)
			}
			for n := size; n < len(text); n += size {
				if whole := pack(text[:n], size); len(whole) <= at && codec != "lz4" && len(got) < n {
					t.Fatalf("%s cut at %d: %d bytes, want %d", codec, at, len(got), n)
				}
			}
		})
	}
}

func unpack(name string, packed []byte) ([]byte, error) {
	r, err := unpacked(name, bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// The example is liblzf's: a run, a short copy and a long one.
func TestLZFCopiesWhatCameBefore(t *testing.T) {
	in := append([]byte{2, 'a', 'b', 'c', 1 << 5, 2}, 7<<5, 3, 0)
	out := make([]byte, 3+3+12)
	n, err := unpackLZF(out, in)
	if want := "abcabc" + strings.Repeat("c", 12); err != nil || string(out[:n]) != want {
		t.Errorf("%q, %v, want %q", out[:n], err, want)
	}
}

func FuzzFrames(f *testing.F) {
	for codec, pack := range packers {
		f.Add(codec, pack([]byte(strings.Repeat(`{"Event":"SparkListenerLogStart"}`, 9)), 64))
	}
	f.Fuzz(func(t *testing.T, name string, packed []byte) {
		if len(packed) > 1<<16 {
			return
		}
		r, err := unpacked(name, bytes.NewReader(packed))
		if err != nil {
			return
		}
		defer r.Close()
		_, _ = io.Copy(io.Discard, io.LimitReader(r, 1<<24)) // Whatever comes out, it ends.
	})
}
