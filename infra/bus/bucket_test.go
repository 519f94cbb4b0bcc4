package bus_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
	"github.com/sparkpacer/pacer/infra/store"
)

func soonContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// jetStream is a planner's connection to a server that has JetStream.
func jetStream(t *testing.T) (*bustest.Server, *bus.Conn, bus.Credential) {
	t.Helper()
	own := plannerOwn()
	s := bustest.Start(t, bustest.Config{Planner: own, Store: t.TempDir()})
	return s, dial(t, bus.Options{Address: s.URL(), Credential: own}), own
}

func TestBucketsAreTwins(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		bustest.SharedSuite(t, func(*testing.T) store.Shared { return &bustest.Bucket{} })
	})
	t.Run("nats-server", func(t *testing.T) {
		s, c, own := jetStream(t)
		bustest.SharedSuite(t, func(t *testing.T) store.Shared {
			remove(t, s, own)
			b, err := c.OpenBucket(soonContext(t), true, false)
			if err != nil {
				t.Fatal(err)
			}
			return b
		})
	})
}

// client is a connection without Pacer, as an administrator's.
func client(t *testing.T, s *bustest.Server, own bus.Credential) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(s.URL(), own.Proves(nil)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func remove(t *testing.T, s *bustest.Server, own bus.Credential) {
	t.Helper()
	if err := client(t, s, own).DeleteKeyValue(soonContext(t), bus.BucketName); err != nil && !errors.Is(err, jetstream.ErrBucketNotFound) {
		t.Fatal(err)
	}
}

func TestABucketIsMadeWhenThatIsWantedAndRefusedWhenItLosesValues(t *testing.T) {
	s, c, own := jetStream(t)
	if why, err := c.JetStream(soonContext(t)); why != "" || err != nil {
		t.Errorf("%q, %v", why, err)
	}
	if _, err := c.OpenBucket(soonContext(t), false, false); !errors.Is(err, bus.ErrNoBucket) {
		t.Errorf("without one: %v", err)
	}
	b, err := c.OpenBucket(soonContext(t), true, false)
	if err != nil || b.Replicas != 1 {
		t.Fatalf("%+v, %v", b, err)
	}
	// It is one for the tools of NATS too.
	if _, err := b.Write(soonContext(t), []api.Pair{{Key: "d/a", Value: []byte("1")}, {Key: "lease", Value: []byte("2")}}, 0); err != nil {
		t.Fatal(err)
	}
	js := client(t, s, own)
	kv, err := js.KeyValue(soonContext(t), bus.BucketName)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := kv.Get(soonContext(t), "d/a"); err != nil || string(e.Value()) != "1" {
		t.Errorf("%v, %v", e, err)
	}
	stream, err := js.Stream(soonContext(t), "KV_"+bus.BucketName)
	if err != nil {
		t.Fatal(err)
	}
	config := stream.CachedInfo().Config
	config.MaxAge = time.Hour
	if _, err := js.UpdateStream(soonContext(t), config); err != nil {
		t.Fatal(err)
	}
	if _, err := c.OpenBucket(soonContext(t), true, false); api.KindOf(err) != api.KindInvalid || !strings.Contains(err.Error(), bus.BucketName) {
		t.Errorf("one whose values end: %v", err)
	}
	remove(t, s, own)
	if _, _, err := b.Newest(soonContext(t), "lease"); !errors.Is(err, bus.ErrNoBucket) {
		t.Errorf("one that was removed: %v", err)
	}
	if _, err := b.Write(soonContext(t), []api.Pair{{Key: "lease", Value: []byte("2")}}, 1); err == nil {
		t.Error("a bucket that was removed is written to")
	}
}

func TestAServerWithoutJetStreamSaysSo(t *testing.T) {
	own := plannerOwn()
	s := bustest.Start(t, bustest.Config{Planner: own})
	c := dial(t, bus.Options{Address: s.URL(), Credential: own})
	if why, err := c.JetStream(soonContext(t)); !strings.Contains(why, "no JetStream") || err != nil {
		t.Errorf("%q, %v", why, err)
	}
	s.Close()
	if why, err := c.JetStream(soonContext(t)); why != "" || err == nil {
		t.Errorf("without a connection: %q, %v", why, err)
	}
}

// Nobody but a planner reaches the bucket, by its keys or by JetStream's own subjects.
func TestNobodyButThePlannerReachesTheBucket(t *testing.T) {
	s, c, own := jetStream(t)
	keyring := bus.NewKeyring()
	if err := authorize(c, keyring, own); err != nil {
		t.Fatal(err)
	}
	b, err := c.OpenBucket(soonContext(t), true, false)
	if err != nil {
		t.Fatal(err)
	}
	revision, err := b.Write(soonContext(t), []api.Pair{{Key: "lease", Value: []byte("planner's")}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []api.Principal{asUser("u", api.RoleOperate), asNode("n1"), asApp("a")} {
		lent := keyring.Lend(p)
		refused := make(chan error, 8)
		nc, err := nats.Connect(s.URL(), append(lent.Proves(nil), nats.CustomInboxPrefix("_INBOX_"+lent.Login),
			nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))...)
		if err != nil {
			t.Fatal(err)
		}
		for _, subject := range []string{"$KV." + bus.BucketName + ".lease", "$JS.API.STREAM.MSG.GET.KV_" + bus.BucketName,
			"$O." + bus.ObjectsName + ".C.x", "$JS.API.STREAM.DELETE.OBJ_" + bus.ObjectsName, "$JS.API.STREAM.DELETE.KV_" + bus.BucketName, "$JS.API.CONSUMER.CREATE.KV_" + bus.BucketName + ".x.$KV.>"} {
			if err := nc.PublishRequest(subject, "_INBOX_"+lent.Login+".x", []byte(`{"last_by_subj":"$KV.pacer-planner.lease"}`)); err != nil {
				t.Fatal(err)
			}
			if err := nc.Flush(); err != nil {
				t.Fatal(err)
			}
			if err := receive(t, refused); !errors.Is(err, nats.ErrPermissionViolation) {
				t.Errorf("%s publishes on %s: %v", p.Login(), subject, err)
			}
		}
		nc.Close()
	}
	if v, now, err := b.Newest(soonContext(t), "lease"); string(v) != "planner's" || now != revision || err != nil {
		t.Errorf("%q, %d, %v", v, now, err)
	}
}
