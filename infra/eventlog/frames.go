package eventlog

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Bounds of what a block may hold and of the window of zstd: a log that is none may say anything.
const (
	mostBlock  = 1 << 26
	mostWindow = 1 << 27
)

// How a packed file begins.
var (
	zstdMagic   = []byte{0x28, 0xb5, 0x2f, 0xfd}
	lz4Magic    = []byte("LZ4Block")
	snappyMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}
	lzfMagic    = []byte("ZV")
)

// errEmpty is of a file of 0 bytes.
var errEmpty = errors.New("it has 0 bytes, want an event log")

// unpacked returns what a file holds, whichever codec has packed it: that is told by how it begins. A file that
// is cut off within a block ends with io.ErrUnexpectedEOF behind its last whole one.
func unpacked(name string, file io.Reader) (io.ReadCloser, error) {
	r := bufio.NewReaderSize(file, 1<<18)
	head, err := r.Peek(len(snappyMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case len(head) == 0:
		return nil, errEmpty
	case head[0] == '{':
		return io.NopCloser(r), nil
	case bytes.HasPrefix(head, zstdMagic):
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(mostWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	case bytes.HasPrefix(head, lz4Magic):
		return io.NopCloser(&blocks{r: r, next: lz4Block}), nil
	case bytes.HasPrefix(head, snappyMagic):
		return io.NopCloser(&blocks{r: r, next: snappyBlock}), nil
	case bytes.HasPrefix(head, lzfMagic):
		return io.NopCloser(&blocks{r: r, next: lzfBlock}), nil
	}
	for _, magic := range [][]byte{zstdMagic, lz4Magic, snappyMagic, lzfMagic} {
		if bytes.HasPrefix(magic, head) {
			return io.NopCloser(&blocks{err: io.ErrUnexpectedEOF}), nil
		}
	}
	return nil, foreign(name, head)
}

// foreign says what a file is that begins as no log does.
func foreign(name string, head []byte) error {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".inprogress"), ".compact")
	if codec := strings.TrimPrefix(path.Ext(name), "."); codec != "" && strings.Trim(codec, "0123456789") != "" {
		return fmt.Errorf("it begins with %q: the codec %q is none of zstd, lz4, snappy and lzf: unpack it, and read "+
			"it from standard input, or write logs with spark.eventLog.compression.codec=zstd", head, codec)
	}
	return fmt.Errorf("it begins with %q, an event log with { or as zstd, lz4, snappy and lzf of Spark do: "+
		"it is none, or encrypted", head)
}

// blocks reads what is packed block by block.
type blocks struct {
	r    *bufio.Reader
	next func(*blocks) ([]byte, error)
	// rest is what of the last block is not read yet, packed and out what blocks are read into.
	rest, packed, out []byte
	err               error
}

func (b *blocks) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		if b.err == nil {
			b.rest, b.err = b.next(b)
		}
		if b.err != nil {
			return 0, b.err
		}
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// head reads the n bytes before a block: io.EOF where there are none.
func (b *blocks) head(n int) ([]byte, error) {
	b.packed = room(b.packed, n)
	_, err := io.ReadFull(b.r, b.packed)
	return b.packed, err
}

// body reads the n bytes of a block.
func (b *blocks) body(n int) ([]byte, error) {
	if n < 0 || n > mostBlock {
		return nil, fmt.Errorf("a block of %d bytes, want at most %d", n, mostBlock)
	}
	body, err := b.head(n)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return body, err
}

// into is where n unpacked bytes go.
func (b *blocks) into(n int) ([]byte, error) {
	if n < 0 || n > mostBlock {
		return nil, fmt.Errorf("a block of %d bytes when it is unpacked, want at most %d", n, mostBlock)
	}
	b.out = room(b.out, n)
	return b.out, nil
}

func room(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// lz4Block reads a block of LZ4BlockOutputStream: magic, a byte with the method in its upper half, packed and
// unpacked length and a checksum, little-endian. A block of none ends a stream; another one may follow.
func lz4Block(b *blocks) ([]byte, error) {
	const raw, fast = 0x10, 0x20
	head, err := b.head(len(lz4Magic) + 13)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(head, lz4Magic) {
		return nil, fmt.Errorf("a block begins with %q, want %q", head[:len(lz4Magic)], lz4Magic)
	}
	rest := head[len(lz4Magic):]
	method, packed := rest[0]&0xf0, int(int32(binary.LittleEndian.Uint32(rest[1:])))
	whole := int(int32(binary.LittleEndian.Uint32(rest[5:])))
	body, err := b.body(packed)
	if err != nil || method == raw {
		return body, err
	}
	if method != fast || whole == 0 { // The library may not be asked for 0 bytes.
		return nil, fmt.Errorf("a block of method %#x and %d bytes, want %#x or %#x and some", method, whole, raw, fast)
	}
	out, err := b.into(whole)
	if err != nil {
		return nil, err
	}
	n, err := lz4.UncompressBlock(body, out)
	return lengthIs(out, n, err)
}

// lengthIs returns out where a block of its length was unpacked.
func lengthIs(out []byte, n int, err error) ([]byte, error) {
	if err == nil && n != len(out) {
		err = fmt.Errorf("a block of %d bytes, want %d", n, len(out))
	}
	return out, err
}

// snappyBlock reads a block of SnappyOutputStream: behind a head of 16 bytes, which may come again, each is a
// length, big-endian, and what has that length.
func snappyBlock(b *blocks) ([]byte, error) {
	for {
		head, err := b.head(4)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(head, snappyMagic[:4]) {
			break
		}
		if _, err = b.body(12); err != nil {
			return nil, err
		}
	}
	body, err := b.body(int(int32(binary.BigEndian.Uint32(b.packed))))
	if err != nil {
		return nil, err
	}
	n, err := snappy.DecodedLen(body)
	if err != nil {
		return nil, err
	}
	out, err := b.into(n)
	if err != nil {
		return nil, err
	}
	out, err = snappy.Decode(out, body)
	return out, err
}

// lzfBlock reads a chunk of ning's LZF: ZV, whether it is packed, and lengths, big-endian.
func lzfBlock(b *blocks) ([]byte, error) {
	head, err := b.head(5)
	if err != nil {
		return nil, err
	}
	packed, n := head[2], int(binary.BigEndian.Uint16(head[3:]))
	if !bytes.HasPrefix(head, lzfMagic) || packed > 1 {
		return nil, fmt.Errorf("a block begins with %q, want %q and 0 or 1", head[:3], lzfMagic)
	}
	if packed == 0 {
		return b.body(n)
	}
	if head, err = b.body(2); err != nil {
		return nil, err
	}
	whole := int(binary.BigEndian.Uint16(head))
	body, err := b.body(n)
	if err != nil {
		return nil, err
	}
	out, err := b.into(whole)
	if err != nil {
		return nil, err
	}
	n, err = unpackLZF(out, body)
	return lengthIs(out, n, err)
}

// unpackLZF unpacks one chunk: runs of up to 32 bytes as they are, and copies of what came up to 8 KiB before.
func unpackLZF(out, in []byte) (n int, err error) {
	bad := errors.New("a block that is no LZF")
	for i := 0; i < len(in); {
		ctrl := int(in[i])
		i++
		if ctrl < 32 {
			run := ctrl + 1
			if i+run > len(in) || n+run > len(out) {
				return n, bad
			}
			copy(out[n:], in[i:i+run])
			i, n = i+run, n+run
			continue
		}
		run := ctrl >> 5
		if run == 7 {
			if i >= len(in) {
				return n, bad
			}
			run += int(in[i])
			i++
		}
		if i >= len(in) {
			return n, bad
		}
		from := n - (ctrl&31<<8 | int(in[i])) - 1
		i++
		run += 2
		if from < 0 || n+run > len(out) {
			return n, bad
		}
		for range run {
			out[n] = out[from]
			n, from = n+1, from+1
		}
	}
	return n, nil
}
