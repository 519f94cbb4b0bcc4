package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
	"github.com/sparkpacer/pacer/infra/store"
)

// every runs test on each kind of store: all of them keep the same promises.
func every(t *testing.T, test func(t *testing.T, s store.Store)) {
	t.Helper()
	kinds := map[string]func(t *testing.T) store.Store{
		"file":   func(t *testing.T) store.Store { return open(t, filepath.Join(t.TempDir(), "s.db")) },
		"bucket": func(t *testing.T) store.Store { return take(t, &bustest.Bucket{}, "one") },
	}
	for name, make := range kinds {
		t.Run(name, func(t *testing.T) {
			s := make(t)
			t.Cleanup(func() { _ = s.Close() })
			test(t, s)
		})
	}
}

func open(t *testing.T, path string) *store.File {
	t.Helper()
	s, err := store.Open(path, store.Options{Sync: store.SyncNever})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func set(pairs ...string) []api.Pair {
	var out []api.Pair
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, api.Pair{Key: pairs[i], Value: []byte(pairs[i+1])})
	}
	return out
}

func apply(t *testing.T, s store.Store, changes []api.Pair) {
	t.Helper()
	if err := s.Apply(changes); err != nil {
		t.Fatal(err)
	}
}

// content prints a store's pairs under prefix as "key=value" lines.
func content(t *testing.T, s store.Store, prefix string) string {
	t.Helper()
	pairs, err := s.Load(prefix)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, p := range pairs {
		fmt.Fprintf(&b, "%s=%s\n", p.Key, p.Value)
	}
	return b.String()
}

func TestLoadReturnsAPrefixInOrder(t *testing.T) {
	every(t, func(t *testing.T, s store.Store) {
		apply(t, s, set("app/2", "two", "app/10", "ten", "plan/n1", "p", "app/1", "one", "apple", "x"))
		if d := cmp.Diff("app/1=one\napp/10=ten\napp/2=two\n", content(t, s, "app/")); d != "" {
			t.Error(d)
		}
		if got := content(t, s, "nothing/"); got != "" {
			t.Errorf("unknown prefix: %q", got)
		}
	})
}

func TestNilDeletesAndEmptyIsAValue(t *testing.T) {
	every(t, func(t *testing.T, s store.Store) {
		apply(t, s, set("a", "1", "b", "2"))
		apply(t, s, []api.Pair{{Key: "a"}, {Key: "b", Value: []byte{}}, {Key: "never-there"}})
		if d := cmp.Diff("b=\n", content(t, s, "")); d != "" {
			t.Error(d)
		}
	})
}

func TestALaterChangeOfTheSameKeyWins(t *testing.T) {
	every(t, func(t *testing.T, s store.Store) {
		apply(t, s, append(set("a", "1", "a", "2", "b", "1"), api.Pair{Key: "b"}))
		if d := cmp.Diff("a=2\n", content(t, s, "")); d != "" {
			t.Error(d)
		}
	})
}

func TestTheCallerOwnsWhatItGaveAndGot(t *testing.T) {
	every(t, func(t *testing.T, s store.Store) {
		given := []byte("value")
		apply(t, s, []api.Pair{{Key: "a", Value: given}})
		given[0] = 'X'
		pairs, err := s.Load("a")
		if err != nil {
			t.Fatal(err)
		}
		pairs[0].Value[1] = 'Y'
		if got := content(t, s, "a"); got != "a=value\n" {
			t.Errorf("a foreign write reached the store: %q", got)
		}
	})
}

// A key that not every store would keep is refused by each, for its own sake: whoever leaves the keys
// out that the error names can store all else.
func TestARefusedKeyChangesNothing(t *testing.T) {
	every(t, func(t *testing.T, s store.Store) {
		bad := []string{"", "a\nb", "a\x00", strings.Repeat("k", api.MostKey+1)}
		changes := set("good", "1")
		for _, key := range bad {
			changes = append(changes, api.Pair{Key: key, Value: []byte("x")})
		}
		var refused *api.RefusedError
		if err := s.Apply(changes); !errors.As(err, &refused) || !slices.Equal(refused.Keys, bad) || len(err.Error()) > api.MostName {
			t.Errorf("%v", err)
		}
		if got := content(t, s, ""); got != "" {
			t.Errorf("half a batch was applied: %q", got)
		}
		apply(t, s, changes[:1])
	})
}

// Every store takes the same keys.
func TestEveryStoreTakesTheLongestKey(t *testing.T) {
	every(t, func(t *testing.T, s store.Store) {
		for _, c := range []string{"%", "=", "\xff", ".", "*", ">"} {
			key := strings.Repeat(c, api.MostKey)
			for _, value := range []string{"1", strings.Repeat("x", 2<<20)} { // It may be in pieces.
				apply(t, s, set(key, value))
			}
			apply(t, s, set(key, "2"))
			if got := content(t, s, key); got != key+"=2\n" {
				t.Errorf("%.20q: %.40q", key, got)
			}
			apply(t, s, []api.Pair{{Key: key}})
		}
		if got := content(t, s, ""); got != "" {
			t.Errorf("left: %.40q", got)
		}
	})
}

func TestAClosedStoreSaysSo(t *testing.T) {
	every(t, func(t *testing.T, s store.Store) {
		for range 2 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Apply(set("a", "1")); !errors.Is(err, store.ErrClosed) {
			t.Errorf("apply: %v", err)
		}
		if _, err := s.Load(""); !errors.Is(err, store.ErrClosed) {
			t.Errorf("load: %v", err)
		}
	})
}

func TestStoresBehaveLikeAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		path := filepath.Join(t.TempDir(), "s.db")
		file, model := open(t, path), map[string]string{}
		shared := &bustest.Bucket{}
		bucket := take(t, shared, "one")
		defer func() { _ = file.Close() }()
		for range rapid.IntRange(1, 12).Draw(rt, "batches") {
			var batch []api.Pair
			for range rapid.IntRange(0, 5).Draw(rt, "changes") {
				c := api.Pair{Key: rapid.StringMatching(`[ab]/[0-3]`).Draw(rt, "key")}
				delete(model, c.Key)
				if rapid.Bool().Draw(rt, "set") {
					c.Value = bytes.Repeat(rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(rt, "value"), rapid.IntRange(0, 60).Draw(rt, "times"))
					if c.Value == nil {
						c.Value = []byte{}
					}
					model[c.Key] = string(c.Value)
				}
				batch = append(batch, c)
			}
			apply(t, file, batch)
			apply(t, bucket, batch)
			if rapid.IntRange(0, 4).Draw(rt, "reopen") == 0 {
				_ = file.Close()
				file = open(t, path)
				_ = bucket.Close()
				bucket = take(t, shared, "another")
			}
		}
		var keys []string
		for k := range model {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		want := ""
		for _, k := range keys {
			want += k + "=" + model[k] + "\n"
		}
		if content(t, file, "") != want || content(t, bucket, "") != want {
			rt.Fatalf("file and bucket differ from the model %q", want)
		}
	})
}
