package bus_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
)

// losing is a relay in front of a server, which loses the first messages whose subjects begin so.
type losing struct {
	listener net.Listener
	subject  string
	left     atomic.Int32
}

func loseBefore(t *testing.T, server, subject string, times int32) *losing {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &losing{listener: l, subject: subject}
	r.left.Store(times)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", server)
			if err != nil {
				_ = client.Close()
				continue
			}
			go func() { _, _ = io.Copy(client, there); _ = client.Close() }()
			go func() { _ = r.pass(there, client); _ = there.Close() }()
		}
	}()
	return r
}

// pass passes on what a client says, line by line and message by message.
func (r *losing) pass(to io.Writer, client io.Reader) error {
	in := bufio.NewReader(client)
	for {
		said, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		fields := strings.Fields(said)
		if len(fields) > 2 && (fields[0] == "PUB" || fields[0] == "HPUB") {
			size, err := strconv.Atoi(fields[len(fields)-1])
			if err != nil {
				return err
			}
			message := make([]byte, size+len("\r\n"))
			if _, err := io.ReadFull(in, message); err != nil {
				return err
			}
			if strings.HasPrefix(fields[1], r.subject) && r.left.Add(-1) >= 0 {
				continue
			}
			said += string(message)
		}
		if _, err := io.WriteString(to, said); err != nil {
			return err
		}
	}
}

// A cluster that is busy loses questions: a planner that takes over asks again at once, and has all
// values.
func TestABucketIsReadThoughQuestionsAreLost(t *testing.T) {
	for _, subject := range []string{"$JS.API.CONSUMER.CREATE.", "$JS.API.CONSUMER.MSG.NEXT."} {
		own := plannerOwn()
		server := bustest.Start(t, bustest.Config{Planner: own, Store: t.TempDir()})
		r := loseBefore(t, server.Address(), subject, 1)
		c := dial(t, bus.Options{Address: r.listener.Addr().String(), Credential: own})
		b, err := c.OpenBucket(soonContext(t), true, false)
		if err != nil {
			t.Fatal(err)
		}
		want, revision := map[string]string{}, uint64(0)
		for i := range 700 { // More than are asked for at once.
			key := fmt.Sprint("d/", i)
			want[key] = key
			if revision, err = b.Write(soonContext(t), []api.Pair{{Key: key, Value: []byte(key)}}, 0); err != nil {
				t.Fatal(err)
			}
		}
		got := map[string]string{}
		// nats.go asks again after 10 s.
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		defer cancel()
		if err := b.Read(ctx, revision, func(p api.Pair) { got[p.Key] = string(p.Value) }); err != nil {
			t.Fatalf("%s: %v", subject, err)
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %d values of %d are read", subject, len(got), len(want))
		}
		if r.left.Load() > 0 {
			t.Errorf("%s: none was lost", subject)
		}
	}
}
