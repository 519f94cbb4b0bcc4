package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/sparkpacer/pacer/api"
)

// contents is what a bucket holds: stored values by key. keys and sum are what a lease says of
// them.
type contents struct {
	values map[string]string
	keys   int
	sum    uint64
}

// digest is that of a key with its stored value.
func digest(key, value string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // It cannot fail.
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(value))
	return h.Sum64()
}

// after is what keys and sum are after a batch, in which each key stands once.
func (c *contents) after(batch []stored) contents {
	next := contents{keys: c.keys, sum: c.sum}
	for _, s := range batch {
		if old, ok := c.values[s.key]; ok {
			next.keys--
			next.sum ^= digest(s.key, old)
		}
		if s.value != "" {
			next.keys++
			next.sum ^= digest(s.key, s.value)
		}
	}
	return next
}

// put makes the changes of a batch.
func (c *contents) put(batch []stored) {
	next := c.after(batch)
	c.keys, c.sum = next.keys, next.sum
	for _, s := range batch {
		if s.value == "" {
			delete(c.values, s.key)
		} else {
			c.values[s.key] = s.value
		}
	}
}

// load are the values of the keys that begin with prefix, in order.
func (c *contents) load(prefix, name string) ([]api.Pair, error) {
	var out []api.Pair
	for key, value := range c.values {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		plain, err := decodeValue(value)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: value of %s: %w", ErrCorrupt, name, key, err)
		}
		out = append(out, api.Pair{Key: key, Value: plain})
	}
	slices.SortFunc(out, func(a, b api.Pair) int { return strings.Compare(a.Key, b.Key) })
	return out, nil
}

// manifold begins what stands in the place of a value that is in pieces.
const manifold = 'm'

// changes are what has to be written for a batch: a large value in pieces, and those of the
// value before that it does not replace deleted.
func (c *contents) changes(batch []stored) []api.Pair {
	var out []api.Pair
	for _, s := range batch {
		pieces := 0
		switch {
		case s.value == "":
			out = append(out, api.Pair{Key: valuePart + s.key})
		case len(s.value) <= pieceBytes:
			out = append(out, api.Pair{Key: valuePart + s.key, Value: []byte(s.value)})
		default:
			for i, piece := range cut(s.value) {
				out = append(out, api.Pair{Key: pieceKey(i, s.key), Value: []byte(piece)})
				pieces++
			}
			out = append(out, api.Pair{Key: valuePart + s.key, Value: binary.AppendUvarint([]byte{manifold}, uint64(pieces))})
		}
		if old := c.values[s.key]; len(old) > pieceBytes {
			for i := pieces; i*pieceBytes < len(old); i++ {
				out = append(out, api.Pair{Key: pieceKey(i, s.key)})
			}
		}
	}
	return out
}

func pieceKey(i int, key string) string { return fmt.Sprintf("%s%d/%s", piecePart, i, key) }

// cut cuts a text into pieces.
func cut(text string) []string {
	var out []string
	for len(text) > pieceBytes {
		out, text = append(out, text[:pieceBytes]), text[pieceBytes:]
	}
	return append(out, text)
}

// split divides changes into groups each of which can be written in one piece.
func split(changes []api.Pair) [][]api.Pair {
	var out [][]api.Pair
	for len(changes) > 0 {
		n, size := 0, 0
		for n < len(changes) && n < writeChanges && (n == 0 || size+len(changes[n].Value) <= writeBytes) {
			size += len(changes[n].Value)
			n++
		}
		out, changes = append(out, changes[:n]), changes[n:]
	}
	return out
}

// encode is a batch in its stored form; of a key's changes the last one.
func encode(changes []api.Pair) ([]stored, error) {
	at := make(map[string]int, len(changes))
	var batch []stored
	for _, c := range changes {
		s := stored{key: c.Key}
		if c.Value != nil {
			var err error
			if s.value, err = encodeValue(c.Value); err != nil {
				return nil, fmt.Errorf("store: %s: %w", c.Key, err)
			}
		}
		if i, ok := at[c.Key]; ok {
			batch[i] = s
			continue
		}
		at[c.Key] = len(batch)
		batch = append(batch, s)
	}
	return batch, nil
}

// load reads the bucket, holds it against what the lease before said of it, and finishes what is
// in the journal.
func (b *Bucket) load(ctx context.Context, sealed Lease) error {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	read := map[string][]byte{}
	b.mu.Lock()
	until := b.mu.revision
	b.mu.Unlock()
	err := b.shared.Read(ctx, until, func(p api.Pair) {
		if p.Value == nil {
			delete(read, p.Key)
		} else {
			read[p.Key] = p.Value
		}
	})
	if err != nil {
		return fmt.Errorf("store: read %s: %w", b.options.Name, err)
	}
	have, batch, err := assemble(read, sealed)
	if err == nil {
		_, err = have.load("", b.options.Name)
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w; restore a backup, or remove it to start without it", ErrCorrupt, b.options.Name, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.contents = have
	if len(batch) > 0 {
		b.mu.rest = b.mu.contents.changes(batch)
		for i := range sealed.Journal {
			b.mu.rest = append(b.mu.rest, api.Pair{Key: fmt.Sprint(journalPart, i)})
		}
	}
	if err := b.finish(ctx); err != nil {
		return fmt.Errorf("store: finish %s: %w", b.options.Name, err)
	}
	return nil
}

// assemble makes contents of what was read, with the batch of the journal in them.
func assemble(read map[string][]byte, sealed Lease) (contents, []stored, error) {
	c := contents{values: map[string]string{}}
	var journal strings.Builder
	for i := range sealed.Journal {
		journal.Write(read[fmt.Sprint(journalPart, i)])
	}
	var batch []stored
	if sealed.Journal > 0 {
		var err error
		if batch, err = decodeBatch(journal.String()); err != nil {
			return c, nil, fmt.Errorf("journal: %w", err)
		}
	}
	// Values that the journal sets may be written in part.
	late := map[string]bool{}
	for _, s := range batch {
		late[s.key] = true
	}
	for name, value := range read {
		key, ok := strings.CutPrefix(name, valuePart)
		if !ok || late[key] {
			continue
		}
		whole, err := join(read, key, value)
		if err != nil {
			return c, nil, err
		}
		c.put([]stored{{key, whole}})
	}
	c.put(batch)
	if c.keys != sealed.Keys || c.sum != sealed.Sum {
		return c, nil, fmt.Errorf("its %d keys are not the %d that its planner wrote, or not what it wrote", c.keys,
			sealed.Keys)
	}
	return c, batch, nil
}

// join is the stored value of a key, which may be in pieces.
func join(read map[string][]byte, key string, value []byte) (string, error) {
	if len(value) == 0 || value[0] != manifold {
		return string(value), nil
	}
	pieces, n := binary.Uvarint(value[1:])
	if n <= 0 || pieces > uint64(len(read)) {
		return "", fmt.Errorf("value of %s: in %s pieces", key, strconv.Quote(string(value[1:])))
	}
	var whole strings.Builder
	for i := range int(pieces) {
		piece, ok := read[pieceKey(i, key)]
		if !ok {
			return "", fmt.Errorf("value of %s: piece %d is missing", key, i)
		}
		whole.Write(piece)
	}
	return whole.String(), nil
}

// fileOf makes a store at path that holds pairs; of an error nothing is left behind.
func fileOf(path string, pairs []api.Pair) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("store: copy: %s: %w", path, os.ErrExist)
	}
	f, err := Open(path, Options{})
	if err != nil {
		return err
	}
	if err := errors.Join(f.Apply(pairs), f.Close()); err != nil {
		return errors.Join(fmt.Errorf("store: copy: %w", err), os.Remove(path))
	}
	return nil
}
