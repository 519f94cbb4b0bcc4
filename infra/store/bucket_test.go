package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
	"github.com/sparkpacer/pacer/infra/store"
	_ "github.com/sparkpacer/pacer/test/draws"
)

// take takes a bucket for a process, whoever has it.
func take(t *testing.T, shared store.Shared, process string, change ...func(*store.BucketOptions)) *store.Bucket {
	t.Helper()
	b, err := taken(t.Context(), shared, process, change...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func taken(ctx context.Context, shared store.Shared, process string, change ...func(*store.BucketOptions)) (*store.Bucket, error) {
	_, revision, err := store.ReadLease(ctx, shared, "the bucket")
	if err != nil {
		return nil, err
	}
	o := store.BucketOptions{Name: "the bucket", Process: process, Host: "h", Timeout: time.Second}
	for _, f := range change {
		f(&o)
	}
	return store.TakeBucket(ctx, shared, revision, o)
}

// What an old holder still sends is refused, and it knows then; the new one has all that was
// written.
func TestWhoLosesTheLeaseWritesNothing(t *testing.T) {
	shared := &bustest.Bucket{}
	old := take(t, shared, "old")
	apply(t, old, set("a", "1", "b", "2"))
	next := take(t, shared, "next")
	if got := content(t, next, ""); got != "a=1\nb=2\n" {
		t.Errorf("the next one has %q", got)
	}
	if err := old.Apply(set("a", "late")); !errors.Is(err, store.ErrLost) {
		t.Errorf("the old one's write: %v", err)
	}
	select {
	case <-old.Lost():
	default:
		t.Error("it does not say that it has lost the lease")
	}
	if err := old.Renew(t.Context()); !errors.Is(err, store.ErrLost) {
		t.Errorf("and renews: %v", err)
	}
	if err := old.Close(); err != nil {
		t.Error(err)
	}
	apply(t, next, set("c", "3"))
	if got := content(t, take(t, shared, "third"), ""); got != "a=1\nb=2\nc=3\n" {
		t.Errorf("the bucket has %q", got)
	}
}

// Of two that take it at one revision one has it.
func TestTheFasterOneHasTheLease(t *testing.T) {
	shared := &bustest.Bucket{}
	o := store.BucketOptions{Name: "the bucket", Process: "a", Timeout: time.Second}
	if _, err := store.TakeBucket(t.Context(), shared, 0, o); err != nil {
		t.Fatal(err)
	}
	if _, err := store.TakeBucket(t.Context(), shared, 0, o); api.KindOf(err) != api.KindConflict {
		t.Errorf("the slower one: %v", err)
	}
}

func TestALeaseIsRenewedAndGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := &bustest.Bucket{}
		b := take(t, shared, "one", func(o *store.BucketOptions) { o.Renew = time.Second })
		began := time.Now()
		_, before, _ := store.ReadLease(t.Context(), shared, "")
		time.Sleep(10*time.Second + time.Millisecond)
		synctest.Wait()
		if l, revision, err := store.ReadLease(t.Context(), shared, ""); revision != before+10 || l.Released || l.Host != "h" || err != nil {
			t.Errorf("after 10 s: %+v, %d after %d, %v", l, revision, before, err)
		}
		if got := b.Sent().Sub(began); got != 10*time.Second {
			t.Errorf("renewed after %v", got)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if l, _, err := store.ReadLease(t.Context(), shared, ""); !l.Released || err != nil {
			t.Errorf("at its end: %+v, %v", l, err)
		}
	})
}

// A batch that is too large for one write, and values that are, are there as a whole.
func TestLargeBatchesAndValues(t *testing.T) {
	shared := &bustest.Bucket{}
	b := take(t, shared, "one")
	large := make([]byte, 1500<<10)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(large)
	changes := []api.Pair{{Key: "large", Value: large}}
	for i := range 2100 {
		changes = append(changes, api.Pair{Key: fmt.Sprintf("k/%04d", i), Value: fmt.Append(nil, i)})
	}
	apply(t, b, changes)
	next := take(t, shared, "two")
	for _, s := range []*store.Bucket{next} {
		pairs, err := s.Load("")
		if err != nil || len(pairs) != 2101 || !bytes.Equal(pairs[2100].Value, large) {
			t.Fatalf("%d pairs, %v", len(pairs), err)
		}
	}
	apply(t, next, []api.Pair{{Key: "large", Value: large[:600<<10]}})
	apply(t, next, set("large", "small"))
	for _, c := range changes[1:] {
		apply(t, next, []api.Pair{{Key: c.Key}})
	}
	if d := cmp.Diff([]string{"d/large", "lease"}, shared.Keys()); d != "" {
		t.Error(d)
	}
	if got := content(t, take(t, shared, "three"), ""); got != "large=small\n" {
		t.Errorf("%.80q", got)
	}
}

// Somebody who writes into the bucket, or deletes in it, is noticed, and it is said which bucket.
func TestADamagedBucketIsRefusedByName(t *testing.T) {
	for name, damage := range map[string]func(b *bustest.Bucket){
		"a value":            func(b *bustest.Bucket) { b.Damage("d/a", []byte("r0000x")) },
		"no value at all":    func(b *bustest.Bucket) { b.Damage("d/a", []byte{}) },
		"a key too few":      func(b *bustest.Bucket) { b.Damage("d/a", nil) },
		"a key too many":     func(b *bustest.Bucket) { b.Damage("d/z", []byte("r\x00\x00\x00\x00")) },
		"no lease":           func(b *bustest.Bucket) { b.Damage("lease", nil) },
		"another lease":      func(b *bustest.Bucket) { b.Damage("lease", []byte(`{"v":1,"keys":9,"sum":"0"}`)) },
		"a lease of no kind": func(b *bustest.Bucket) { b.Damage("lease", []byte("x")) },
		"a journal":          func(b *bustest.Bucket) { b.Damage("lease", []byte(`{"v":1,"keys":2,"sum":"0","journal":3}`)) },
		"a piece too few":    func(b *bustest.Bucket) { b.Damage("piece/1/large", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			shared := &bustest.Bucket{}
			b := take(t, shared, "one")
			large := make([]byte, 1<<20)
			_, _ = rand.NewChaCha8([32]byte{}).Read(large)
			apply(t, b, append(set("a", "1"), api.Pair{Key: "large", Value: large}))
			damage(shared)
			if _, err := taken(t.Context(), shared, "two"); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "the bucket") {
				t.Errorf("%v", err)
			}
		})
	}
	shared := &bustest.Bucket{}
	take(t, shared, "one")
	shared.Damage("lease", []byte(`{"v":2}`))
	if _, err := taken(t.Context(), shared, "two"); !errors.Is(err, store.ErrVersion) || !strings.HasSuffix(err.Error(), api.OtherRelease) {
		t.Errorf("of another release: %v", err)
	}
}

func TestACopyOfABucketIsAFile(t *testing.T) {
	b, path := take(t, &bustest.Bucket{}, "one"), filepath.Join(t.TempDir(), "copy")
	apply(t, b, set("a", "1", "b", "2"))
	if err := b.Copy(path); err != nil {
		t.Fatal(err)
	}
	if err := store.Verify(path); err != nil {
		t.Error(err)
	}
	if got := content(t, open(t, path), ""); got != "a=1\nb=2\n" {
		t.Errorf("%q", got)
	}
	if err := b.Copy(path); err == nil {
		t.Error("a file is written over")
	}
}

// unreliable is a bucket between which and a process messages are lost, or come later.
type unreliable struct {
	*bustest.Bucket
	// fate is what becomes of the next message.
	fate func(what string) fate
	late []func()
}

type fate int

const (
	arrives fate = iota
	isLost
	answerIsLost
	comesLater
)

var errCut = api.Errorf(api.KindTransient, "no answer")

func (u *unreliable) Newest(ctx context.Context, key string) ([]byte, uint64, error) {
	if u.fate("read") != arrives {
		return nil, 0, errCut
	}
	return u.Bucket.Newest(ctx, key)
}

func (u *unreliable) Write(ctx context.Context, changes []api.Pair, last uint64) (uint64, error) {
	switch u.fate("write") {
	case isLost:
		return 0, errCut
	case comesLater:
		u.late = append(u.late, func() { _, _ = u.Bucket.Write(ctx, changes, last) })
		return 0, errCut
	case answerIsLost:
		_, _ = u.Bucket.Write(ctx, changes, last)
		return 0, errCut
	}
	return u.Bucket.Write(ctx, changes, last)
}

// Two planners whose messages are lost, or come late: what one has been told is stored is there
// for the next one, whoever writes when; what failed is there as a whole or not at all; and one
// that has lost the lease never writes again.
func TestNothingThatWasStoredIsLostBetweenTwoWriters(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		now := time.Unix(0, 0)
		shared := &unreliable{Bucket: &bustest.Bucket{}, fate: func(string) fate { return arrives }}
		fates := rapid.SampledFrom([]fate{arrives, arrives, arrives, isLost, answerIsLost, comesLater})
		clock := func(o *store.BucketOptions) { o.Now = func() time.Time { return now } }
		writers := map[string]*store.Bucket{}
		// Each key has the value that was stored last, or one that was tried since.
		stored, tried := map[string]string{}, map[string][]string{}
		serial := 0
		shared.fate = func(what string) fate { return fates.Draw(rt, what) }
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			now = now.Add(2 * time.Second)
			name := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "who")
			w := writers[name]
			switch {
			case w == nil:
				if b, err := taken(t.Context(), shared, fmt.Sprint(name, serial), clock); err == nil {
					writers[name] = b
				} else if errors.Is(err, store.ErrCorrupt) {
					rt.Fatal(err)
				}
				serial++
			case rapid.IntRange(0, 9).Draw(rt, "dies") == 0:
				delete(writers, name) // Killed: what it has sent may still come.
			case rapid.IntRange(0, 3).Draw(rt, "renews") == 0:
				_ = w.Renew(t.Context())
			default:
				serial++
				many := rapid.SampledFrom([]int{1, 1, 2, 2, 2, 2, 600}).Draw(rt, "keys")
				var batch []api.Pair
				for i := range many {
					batch = append(batch, set(fmt.Sprintf("k%03d", i), fmt.Sprint(serial))...)
				}
				err := w.Apply(batch)
				for i := range many {
					key := fmt.Sprintf("k%03d", i)
					if err == nil {
						stored[key], tried[key] = fmt.Sprint(serial), nil
					} else {
						tried[key] = append(tried[key], fmt.Sprint(serial))
					}
				}
				if errors.Is(err, store.ErrLost) {
					delete(writers, name)
				}
			}
			for len(shared.late) > 0 && rapid.Bool().Draw(rt, "late") {
				shared.late[0]()
				shared.late = shared.late[1:]
			}
		}
		shared.fate = func(string) fate { return arrives }
		last, err := taken(t.Context(), shared, "last", clock)
		if err != nil {
			rt.Fatal(err)
		}
		for _, late := range shared.late {
			late()
		}
		if err := last.Renew(t.Context()); err != nil {
			rt.Fatalf("what came late has taken the lease: %v", err)
		}
		for _, w := range writers {
			if err := w.Apply(set("k000", "fenced")); err == nil {
				rt.Fatal("one that has lost the lease writes")
			}
		}
		pairs, err := last.Load("")
		if err != nil {
			rt.Fatal(err)
		}
		have := map[string]string{}
		for _, p := range pairs {
			have[p.Key] = string(p.Value)
		}
		for i := range 600 {
			key := fmt.Sprintf("k%03d", i)
			if have[key] != stored[key] && !slices.Contains(tried[key], have[key]) {
				rt.Fatalf("%s is %q: %q was stored, and %v tried since", key, have[key], stored[key], tried[key])
			}
			if i > 2 && have[key] != have["k002"] {
				rt.Fatalf("%s is %q, and %q was written with it", key, have[key], have["k002"])
			}
		}
	})
}

// silent is a bucket whose servers do not answer.
type silent struct{ *bustest.Bucket }

func (silent) Newest(ctx context.Context, _ string) ([]byte, uint64, error) {
	<-ctx.Done()
	return nil, 0, ctx.Err()
}

func (silent) Write(ctx context.Context, _ []api.Pair, _ uint64) (uint64, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// switched answers as long as it is on.
type switched struct{ store.Shared }

// An event waits for servers that do not answer for some seconds, the next one not at all, and
// when they answer again all is stored.
func TestServersThatDoNotAnswerHoldNobodyUpForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := &bustest.Bucket{}
		reach := &switched{shared}
		b := take(t, reach, "one")
		reach.Shared = silent{shared}
		began := time.Now()
		if err := b.Apply(set("a", "1")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("an event waits for %v", took)
		}
		again := time.Now()
		if err := b.Apply(set("a", "2")); err == nil || time.Since(again) != 0 {
			t.Errorf("the next one waits for %v: %v", time.Since(again), err)
		}
		if since := time.Since(b.Sent()); since != time.Since(began) {
			t.Errorf("the lease was renewed %v ago", since)
		}
		reach.Shared = shared
		time.Sleep(time.Second)
		apply(t, b, set("a", "3"))
		if got := content(t, take(t, shared, "two"), ""); got != "a=3\n" {
			t.Errorf("%q", got)
		}
	})
}

// FuzzBucket writes anything as a bucket's lease and as one of its values: it is refused by name, or
// what is read is what its lease is about.
func FuzzBucket(f *testing.F) {
	f.Add([]byte(`{"v":1,"process":"p","keys":1,"sum":"3"}`), []byte("r\x00\x00\x00\x00"))
	f.Add([]byte(`{"v":1,"journal":1}`), []byte("m\x02"))
	f.Add([]byte(`{"v":2}`), []byte("z"))
	f.Fuzz(func(t *testing.T, lease, value []byte) {
		shared := &bustest.Bucket{}
		b := take(t, shared, "one")
		apply(t, b, set("a", "1"))
		shared.Damage("d/a", value)
		shared.Damage("journal/0", value)
		shared.Damage("lease", lease)
		next, err := taken(t.Context(), shared, "two")
		if err != nil {
			if !strings.Contains(err.Error(), "the bucket") {
				t.Errorf("the fault does not say where: %v", err)
			}
			return
		}
		if _, err := next.Load(""); err != nil {
			t.Errorf("what was taken cannot be read: %v", err)
		}
	})
}
