package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
)

// compressFrom is the size from which compressing pays for its header.
const compressFrom = 128

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// headerSize is the length of what precedes a stored value's body.
const headerSize = 5

// header says how the plain bytes are stored, 'r' for as they are and 'z' for
// compressed, and holds their checksum.
func header(kind byte, plain []byte) []byte {
	return binary.BigEndian.AppendUint32([]byte{kind}, crc32.Checksum(plain, castagnoli))
}

// encoder compresses values one after the other: its tables are large, and what it
// writes into is as large as the largest value.
type encoder struct {
	out   bytes.Buffer
	flate *flate.Writer
}

var encoders = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(io.Discard, flate.BestSpeed)
	return &encoder{flate: w}
}}

func encodeValue(plain []byte) (string, error) {
	if len(plain) < compressFrom {
		return string(append(header('r', plain), plain...)), nil
	}
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	e.out.Reset()
	_, _ = e.out.Write(header('z', plain)) // It cannot fail.
	e.flate.Reset(&e.out)
	if _, err := e.flate.Write(plain); err != nil {
		return "", fmt.Errorf("compress: %w", err)
	}
	if err := e.flate.Close(); err != nil {
		return "", fmt.Errorf("compress: %w", err)
	}
	return e.out.String(), nil
}

func decodeValue(stored string) ([]byte, error) {
	if len(stored) < headerSize {
		return nil, errors.New("it is shorter than its header")
	}
	sum, body := binary.BigEndian.Uint32([]byte(stored[1:headerSize])), []byte(stored[headerSize:])
	switch stored[0] {
	case 'r':
	case 'z':
		var err error
		if body, err = io.ReadAll(flate.NewReader(bytes.NewReader(body))); err != nil {
			return nil, fmt.Errorf("decompress: %w", err)
		}
	default:
		return nil, fmt.Errorf("its encoding %q is not known", stored[0])
	}
	if crc32.Checksum(body, castagnoli) != sum {
		return nil, errors.New("its checksum does not fit")
	}
	return body, nil
}

// encodeBatch packs a batch as one value: per change the key and the stored
// value with their lengths; a deletion has no value (length 0, stored values
// are never empty). It is not compressed, for what is large in it is already.
func encodeBatch(changes []stored) string {
	size := 0
	for _, c := range changes {
		size += 2*binary.MaxVarintLen32 + len(c.key) + len(c.value)
	}
	// In one piece with its header, which is known last: a batch may be large.
	value := make([]byte, headerSize, headerSize+size)
	for _, c := range changes {
		value = binary.AppendUvarint(value, uint64(len(c.key)))
		value = append(value, c.key...)
		value = binary.AppendUvarint(value, uint64(len(c.value)))
		value = append(value, c.value...)
	}
	copy(value, header('r', value[headerSize:]))
	return string(value)
}

// decodeBatch unpacks what encodeBatch has packed; of no text there is no batch.
func decodeBatch(text string) ([]stored, error) {
	if text == "" {
		return nil, nil
	}
	plain, err := decodeValue(text)
	if err != nil {
		return nil, err
	}
	next := func() (string, error) {
		n, size := binary.Uvarint(plain)
		if size <= 0 || n > uint64(len(plain)-size) {
			return "", errors.New("a journal record is cut")
		}
		part := string(plain[size : size+int(n)])
		plain = plain[size+int(n):]
		return part, nil
	}
	var out []stored
	for len(plain) > 0 {
		key, err := next()
		if err != nil {
			return nil, err
		}
		value, err := next()
		if err != nil {
			return nil, err
		}
		out = append(out, stored{key, value})
	}
	return out, nil
}
