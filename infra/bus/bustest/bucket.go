package bustest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/store"
)

// Bucket is the twin of bus.Bucket in memory: what JetStream keeps, without servers. The zero
// value is empty. It is safe for concurrent use.
type Bucket struct {
	mu       sync.Mutex
	revision uint64
	values   map[string]revised
}

type revised struct {
	value    []byte
	revision uint64
}

// Newest implements store.Shared.
func (b *Bucket) Newest(_ context.Context, key string) ([]byte, uint64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := b.values[key]
	return slices.Clone(v.value), v.revision, nil
}

// Write implements store.Shared.
func (b *Bucket) Write(_ context.Context, changes []api.Pair, last uint64) (uint64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(changes) > 1000 {
		return 0, api.Errorf(api.KindInvalid, "%d changes", len(changes))
	}
	if end := changes[len(changes)-1].Key; b.values[end].revision != last {
		return 0, api.Errorf(api.KindConflict, "%s was changed by another one", end)
	}
	if b.values == nil {
		b.values = map[string]revised{}
	}
	for _, c := range changes {
		if len(c.Value) > 1<<20 {
			return 0, api.Errorf(api.KindInvalid, "a value of %d bytes", len(c.Value))
		}
		b.revision++
		b.values[c.Key] = revised{slices.Clone(c.Value), b.revision}
	}
	return b.revision, nil
}

// Read implements store.Shared.
func (b *Bucket) Read(_ context.Context, _ uint64, visit func(api.Pair)) error {
	b.mu.Lock()
	values := maps.Clone(b.values)
	b.mu.Unlock()
	for key, v := range values {
		visit(api.Pair{Key: key, Value: v.value})
	}
	return nil
}

// Damage sets or, with nil, deletes a key's value, as somebody may who is no planner.
func (b *Bucket) Damage(key string, value []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.revision++
	b.values[key] = revised{value, b.revision}
}

// Keys are those that have a value, in order.
func (b *Bucket) Keys() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for key, v := range b.values {
		if v.value != nil {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// SharedSuite holds whatever open returns, an empty bucket each time, to what store.Shared
// promises.
func SharedSuite(t *testing.T, open func(t *testing.T) store.Shared) {
	read := func(t *testing.T, s store.Shared, until uint64) map[string]string {
		t.Helper()
		out := map[string]string{}
		err := s.Read(t.Context(), until, func(p api.Pair) {
			if delete(out, p.Key); p.Value != nil {
				out[p.Key] = string(p.Value)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	set := func(pairs ...string) (out []api.Pair) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, api.Pair{Key: pairs[i], Value: []byte(pairs[i+1])})
		}
		return out
	}
	t.Run("all or nothing", func(t *testing.T) {
		s := open(t)
		if v, revision, err := s.Newest(t.Context(), "lease"); v != nil || revision != 0 || err != nil {
			t.Errorf("of an empty bucket: %q, %d, %v", v, revision, err)
		}
		one, err := s.Write(t.Context(), set("lease", "one"), 0)
		if err != nil || one == 0 {
			t.Fatalf("%d, %v", one, err)
		}
		two, err := s.Write(t.Context(),
			append(set("d/a", "1", "d/b =.*>%/ä", "2", "d/c", "3"), set("lease", "two")...), one)
		if err != nil || two <= one {
			t.Fatalf("%d after %d, %v", two, one, err)
		}
		for _, last := range []uint64{0, one, two + 1} {
			if _, err := s.Write(t.Context(), set("d/a", "late", "lease", "late"), last); api.KindOf(err) != api.KindConflict {
				t.Errorf("at revision %d: %v", last, err)
			}
			if _, err := s.Write(t.Context(), set("lease", "late"), last); api.KindOf(err) != api.KindConflict {
				t.Errorf("alone at revision %d: %v", last, err)
			}
		}
		three, err := s.Write(t.Context(), []api.Pair{{Key: "d/c"}, {Key: "d/never"}, {Key: "d/empty", Value: []byte{}},
			{Key: "lease", Value: []byte("three")}}, two)
		if err != nil || three <= two {
			t.Fatalf("%d after %d, %v", three, two, err)
		}
		if v, revision, err := s.Newest(t.Context(), "lease"); string(v) != "three" || revision != three || err != nil {
			t.Errorf("the newest: %q, %d, %v", v, revision, err)
		}
		if d := cmp.Diff(map[string]string{"d/a": "1", "d/b =.*>%/ä": "2", "d/empty": "", "lease": "three"},
			read(t, s, three)); d != "" {
			t.Error(d)
		}
	})
	t.Run("many and large", func(t *testing.T) {
		s := open(t)
		var changes []api.Pair
		want := map[string]string{}
		for i := range 500 {
			changes = append(changes, api.Pair{Key: fmt.Sprint("d/", i), Value: fmt.Append(nil, i)})
			want[fmt.Sprint("d/", i)] = fmt.Sprint(i)
		}
		large := make([]byte, 512<<10)
		for i := range 6 {
			key := fmt.Sprint("piece/", i)
			changes, want[key] = append(changes, api.Pair{Key: key, Value: large}), string(large)
		}
		want["lease"] = "x"
		revision, err := s.Write(t.Context(), append(changes, set("lease", "x")...), 0)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, read(t, s, revision)); d != "" {
			t.Errorf("%.200s", d)
		}
	})
	t.Run("the longest keys", func(t *testing.T) {
		s := open(t)
		want, until := map[string]string{}, uint64(0)
		for _, c := range []string{"n", "%C3%A4", "%", "ä", ".", "\xff"} {
			key := "piece/1000000/" + strings.Repeat(c, api.MostKey/len(c))
			other, last := key[:len(key)-1], uint64(0) // Which has the same beginning.
			for _, value := range []string{"1", "2"} {
				var err error
				if last, err = s.Write(t.Context(), set(other, "0", key, value), last); err != nil {
					t.Fatalf("%.20q: %v", key, err)
				}
			}
			if v, revision, err := s.Newest(t.Context(), key); string(v) != "2" || revision != last || err != nil {
				t.Errorf("%.20q: %q, %d, want %d, %v", key, v, revision, last, err)
			}
			if _, err := s.Write(t.Context(), set(key, "late"), last-1); api.KindOf(err) != api.KindConflict {
				t.Errorf("%.20q, late: %v", key, err)
			}
			var err error
			if until, err = s.Write(t.Context(), []api.Pair{{Key: other}, {Key: key, Value: []byte("3")}}, last); err != nil {
				t.Fatalf("%.20q: %v", key, err)
			}
			want[key] = "3"
		}
		if d := cmp.Diff(want, read(t, s, until)); d != "" {
			t.Errorf("%.400s", d)
		}
	})
	t.Run("one of two", func(t *testing.T) {
		s := open(t)
		last := uint64(0)
		for range 20 {
			var wins sync.Map
			var writers sync.WaitGroup
			for i := range 2 {
				writers.Go(func() {
					if revision, err := s.Write(t.Context(), set(fmt.Sprint("d/", i), "x", "lease", fmt.Sprint(i)), last); err == nil {
						wins.Store(i, revision)
					} else if api.KindOf(err) != api.KindConflict {
						t.Error(err)
					}
				})
			}
			writers.Wait()
			n := 0
			wins.Range(func(_, revision any) bool { n++; last = revision.(uint64); return true })
			if n != 1 {
				t.Fatalf("%d of two writers that expect the same were heard", n)
			}
		}
	})
}
