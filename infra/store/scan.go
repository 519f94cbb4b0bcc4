package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/tidwall/buntdb"
)

// whole is the part of a file that has whole batches: size bytes with the CRC-32C sum. The rest, torn bytes, is of a
// batch that was not finished.
type whole struct {
	size int64
	sum  uint32
	torn int64
}

// errShort says that a file ends within a record, or has a hole there.
var errShort = errors.New("it ends within a record")

// inspect reads all records of a file and holds its seals against what is in front of them.
// BuntDB would cut a file at the first record that seems to end behind it, wherever that is:
// one digit of a length is enough. Here a record that is not whole is the end of a batch
// only when no later batch is behind it. A record behind the last seal is of one, too; a file of earlier has its seals
// elsewhere, and they are not looked at.
func inspect(file *os.File) (whole, error) {
	size, err := sizeOf(file)
	if err != nil {
		return whole{}, err
	}
	s := scanner{in: bufio.NewReaderSize(io.NewSectionReader(file, 0, size), 1<<20), left: size}
	for s.left > 0 {
		begin := s.at
		switch err := s.record(); {
		case errors.Is(err, errShort):
			rest := io.NewSectionReader(file, begin, size-begin)
			later, err := sealedBehind(rest, begin)
			if err != nil {
				return whole{}, err
			}
			if later {
				return whole{}, fmt.Errorf("it is cut at byte %d of %d, and later changes follow", begin, size)
			}
			s.left = 0
		case err != nil:
			return whole{}, fmt.Errorf("at byte %d of %d: %w", begin, size, err)
		}
	}
	s.whole.torn = size - s.whole.size
	return s.whole, nil
}

// Verify reports whether the file at path is a whole store of this version, nothing cut off. It
// changes nothing. Its error is ErrCorrupt or ErrVersion, wrapped, for what is none.
func Verify(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	whole, err := inspect(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrCorrupt, path, err)
	}
	if whole.torn > 0 || whole.size == 0 {
		return fmt.Errorf("%w: %s is not whole: %d bytes, and %d of an unfinished change", ErrCorrupt, path, whole.size,
			whole.torn)
	}
	b, err := openBody(path)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrCorrupt, path, err)
	}
	f := &File{path: path}
	f.mu.body = b
	have := ""
	err = b.db.View(func(tx *buntdb.Tx) (err error) {
		have, err = tx.Get(versionKey, true)
		return err
	})
	if have != version && have != earlier {
		err = otherVersion(path, have, version)
	}
	if err == nil {
		_, err = f.load("")
	}
	return errors.Join(err, b.close())
}

// scanner reads records: commands of the Redis protocol, "set" with a key and a value and
// "del" with a key.
type scanner struct {
	in   *bufio.Reader
	at   int64 // Where the next byte is.
	left int64 // How many there are from there on.
	hash sum
	// whole is up to the last seal, without torn; in front of the version, where there are
	// none, up to the last record.
	whole   whole
	version string
	line    []byte
}

func (s *scanner) record() error {
	sum := s.hash.crc // Of all in front of it.
	parts, err := s.count('*')
	if err != nil {
		return err
	}
	if parts != 2 && parts != 3 {
		return fmt.Errorf("a record of %d parts", parts)
	}
	var words [3]string
	for i := range parts {
		if words[i], err = s.part(); err != nil {
			return err
		}
	}
	if (parts == 3) != (words[0] == "set") || (parts == 2) != (words[0] == "del") {
		return fmt.Errorf("a record %q of %d parts", words[0], parts)
	}
	sealed := words[1] == sealKey
	if words[1] == versionKey {
		s.version = words[2]
	}
	if sealed && s.version == version {
		_, crc, err := parseSeal(words[2])
		if err != nil {
			return err
		}
		if crc != sum {
			return errors.New("what is sealed there has changed")
		}
	}
	if sealed || s.version != version {
		s.whole.size, s.whole.sum = s.at, s.hash.crc
	}
	return nil
}

func parseSeal(text string) (at int64, crc uint32, err error) {
	if n, err := fmt.Sscanf(text, "%016x %08x", &at, &crc); n != 2 || err != nil || at < 0 {
		return 0, 0, fmt.Errorf("a seal %q", text)
	}
	return at, crc, nil
}

// count reads a line that begins with mark and has a number.
func (s *scanner) count(mark byte) (int, error) {
	s.line = s.line[:0]
	for {
		c, err := s.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return 0, errShort
		}
		if err != nil {
			return 0, err
		}
		s.line = append(s.line, c)
		if c == '\n' {
			break
		}
		if c == 0 {
			return 0, errShort // A hole: what was to be here was not written.
		}
		if len(s.line) > 16 || s.line[0] != mark {
			return 0, fmt.Errorf("no record: %q", s.line)
		}
	}
	s.took(s.line)
	digits, ended := bytes.CutSuffix(s.line[1:], []byte("\r\n"))
	n, err := strconv.ParseUint(string(digits), 10, 31)
	if err != nil || !ended || len(digits) == 0 || s.line[0] != mark {
		return 0, fmt.Errorf("no record: %q", s.line)
	}
	return int(n), nil
}

// part reads a length and as many bytes.
func (s *scanner) part() (string, error) {
	n, err := s.count('$')
	if err != nil {
		return "", err
	}
	if int64(n)+2 > s.left {
		return "", errShort
	}
	text := make([]byte, n+2)
	if _, err := io.ReadFull(s.in, text); err != nil {
		return "", err
	}
	s.took(text)
	switch end := text[n:]; {
	case bytes.IndexByte(end, 0) >= 0:
		return "", errShort
	case string(end) != "\r\n":
		return "", fmt.Errorf("a part of %d bytes does not end there", n)
	}
	return string(text[:n]), nil
}

func (s *scanner) took(p []byte) {
	s.at += int64(len(p))
	s.left -= int64(len(p))
	_, _ = s.hash.Write(p) // It cannot fail.
}

// sealedBehind reports whether a change that began behind byte from of the file has its seal
// in rest, which begins there.
func sealedBehind(rest io.Reader, from int64) (bool, error) {
	mark := fmt.Appendf(nil, "$%d\r\n%s\r\n$25\r\n", len(sealKey), sealKey)
	const sealed = 25
	buf := make([]byte, 0, 1<<20)
	for {
		n, err := rest.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		for {
			i := bytes.Index(buf, mark)
			if i < 0 || len(buf) < i+len(mark)+sealed {
				break
			}
			text := string(buf[i+len(mark) : i+len(mark)+sealed])
			if at, _, err := parseSeal(text); err == nil && at > from {
				return true, nil
			}
			buf = buf[:copy(buf, buf[i+len(mark):])]
		}
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, err
		}
		if keep := len(mark) + sealed; len(buf) > keep {
			buf = buf[:copy(buf, buf[len(buf)-keep:])]
		}
	}
}
