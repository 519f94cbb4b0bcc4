package bus

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/sparkpacer/pacer/api"
)

// grown is how many bytes work allocates in all.
func grown(work func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// filled is a JSON text of size bytes: a head, the element again and again, and a tail.
func filled(size int, head, element, tail string) []byte {
	body := append([]byte(head), bytes.Repeat([]byte(element+","), (size-len(head)-len(tail))/(len(element)+1)-1)...)
	return append(append(body, element...), tail...)
}

// However a message is made, it takes no more than a few times its bytes, and is refused.
func TestAttackAMessageThatGrows(t *testing.T) {
	for name, a := range map[string]struct {
		bounds     bounds
		head, tail string
		element    string
		read       func(data []byte) error
	}{
		"control requests of empty stages":  {requestBounds, `{"v":1,"body":{"stages":[`, `]}}`, `{}`, control},
		"profiles of empty stages":          {profileBounds, `{"v":1,"body":{"stages":[`, `]}}`, `{}`, control},
		"profiles of numbers for stages":    {profileBounds, `{"v":1,"body":{"stages":[`, `]}}`, `0`, control},
		"profiles of nothing for stages":    {profileBounds, `{"v":1,"body":{"stages":[`, `]}}`, `null`, control},
		"profiles of empty variants":        {profileBounds, `{"v":1,"body":{"variants":[`, `]}}`, `{}`, control},
		"profiles whose variants have many": {profileBounds, `{"v":1,"body":{"variants":[{"stages":[`, `]}]}}`, `{}`, control},
		"profiles of variants of variants":  {profileBounds, `{"v":1,"body":{"variants":[{"variants":[`, `]}]}}`, `{}`, control},
		"plan requests of empty stages":     {profileBounds, `{"v":1,"body":{"stages":[`, `]}}`, `{}`, plan},
		"batches of empty events":           {eventBounds, `{"v":1,"events":[`, `]}`, `{}`, into[api.Events]},
		"batches of numbers for events":     {eventBounds, `{"v":1,"events":[`, `]}`, `0`, into[api.Events]},
		"batches of empty bindings":         {eventBounds, `{"v":1,"events":[{"stage":{"bindings":[`, `]}}]}`, `{}`, into[api.Events]},
		"statuses of empty executors":       {statusBounds, `{"v":1,"executors":[`, `]}`, `{}`, into[api.NodeStatus]},
		"registrations of empty lists":      {registerBounds, `{"v":1,"launch":{"java_options":[`, `]}}`, `""`, into[api.RegisterRequest]},
	} {
		t.Run(name, func(t *testing.T) {
			data := filled(a.bounds.bytes, a.head, a.element, a.tail)
			var err error
			took := grown(func() {
				if err = a.bounds.fit("mallory", data); err == nil {
					err = a.read(data)
				}
			})
			if err == nil {
				t.Error("it is taken")
			}
			if most := uint64(16 * len(data)); took > most+1<<20 {
				t.Errorf("%d bytes take %d, want at most %d", len(data), took, most)
			}
		})
	}
}

func control(data []byte) error { _, err := decodeControl(data); return err }
func plan(data []byte) error    { _, err := decodePlan(data); return err }

func into[T any](data []byte) error { var v T; return decodeRequest("mallory", data, &v) }

// A profile as large as one may be is taken.
func TestALargeProfileIsTaken(t *testing.T) {
	parents := strings.TrimSuffix(strings.Repeat("1,", api.MostEdges/api.MostStages), ",")
	data := []byte(`{"v":1,"body":{"stages":[` + strings.TrimSuffix(strings.Repeat(`{"id":1,"parents":[`+parents+`]},`, api.MostStages), ",") +
		`],"variants":[{"name":"x","stages":[{"id":7}]}]}}`)
	if err := profileBounds.fit("ann", data); err != nil {
		t.Fatal(err)
	}
	r, err := decodeControl(data)
	if err != nil || len(r.Body.Stages) != api.MostStages || r.Body.Variants[0].Stages[0].ID != 7 || r.Body.Variants[0].Name != "x" {
		t.Errorf("%v, %d stages", err, len(r.Body.Stages))
	}
}

// What a principal sends takes places and bytes of its own allowance, whatever it is, and it is cut in the end.
func TestAttackBytesBeyondAnAllowance(t *testing.T) {
	now := time.Unix(1000, 0)
	for name, size := range map[string]int{"large messages": 2 << 20, "messages of nothing": 0} {
		t.Run(name, func(t *testing.T) {
			var cut []string
			a := newAllowance(mostEvents)
			a.cut = func(login string) { cut = append(cut, login) }
			taken, sent := 0, 0
			for range 100_000 {
				if sent++; a.take("mallory", size, now) == nil {
					taken += size + perMessage
				}
				if cut != nil {
					break
				}
			}
			if taken > mostEvents.full {
				t.Errorf("%d bytes are taken at once", taken)
			}
			if cut == nil || sent*(size+perMessage) > mostEvents.full+mercyBurst+2*(size+perMessage) {
				t.Errorf("after %d messages %v is cut", sent, cut)
			}
			if err := a.take("ann", 2<<20, now); err != nil {
				t.Errorf("another one: %v", err)
			}
		})
	}
}

// A size that nothing can have is refused, and gives a login nothing back.
func TestAttackASizeThatOverflows(t *testing.T) {
	now := time.Unix(1000, 0)
	a := newAllowance(mostRequests)
	if err := a.take("mallory", 1<<20, now); err != nil {
		t.Fatal(err)
	}
	left := a.of["mallory"].bytes.TokensAt(now)
	for _, size := range []int{math.MaxInt, math.MaxInt - perMessage, 1 << 40} {
		if err := a.take("mallory", size, now); api.KindOf(err) != api.KindTransient {
			t.Errorf("take %d: %v", size, err)
		}
		if a.has("mallory", size, math.MaxInt, now) {
			t.Errorf("%d would be taken", size)
		}
		if got := a.of["mallory"].bytes.TokensAt(now); got != left {
			t.Errorf("after %d it has %v bytes, before %v", size, got, left)
		}
	}
	for _, size := range []int{-1, math.MinInt} {
		_ = a.take("mallory", size, now)
		if got := a.of["mallory"].bytes.TokensAt(now); got >= left {
			t.Errorf("%d gives it bytes: %v, before %v", size, got, left)
		}
		if mercy := a.of["mallory"].mercy.TokensAt(now); mercy > mercyBurst {
			t.Errorf("%d gives it mercy: %v", size, mercy)
		}
	}
}

// What a token for scrapes asks cuts nothing, and takes nothing of what its user may ask.
func TestAttackScrapesWithoutEnd(t *testing.T) {
	k := NewKeyring()
	k.requests.cut = k.cut
	k.OnFlood = func(login string) { t.Errorf("%s is cut", login) }
	refused := 0
	for range 5000 {
		if err := k.Scrape("user-ops", 64<<10); api.KindOf(err) == api.KindTransient {
			refused++
		}
	}
	if refused < 4000 {
		t.Errorf("%d of 5,000 are refused", refused)
	}
	if err := k.Ask("user-ops", 4<<20); err != nil {
		t.Errorf("its user: %v", err)
	}
}

// Messages of one principal wait in its own places: others' are decoded in turn, and the connection's goroutine waits
// for nothing.
func TestAttackMessagesThatWaitToBeDecoded(t *testing.T) {
	for name, a := range map[string]struct{ sent, size, taken int }{
		"many small messages": {10_000, 100, placesEach},
		"many large messages": {10_000, 4 << 20, mostHeld / (4 << 20)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, gate := newIntake(alone), make(chan struct{})
				var order []string
				if err := in.run("first", 1, func() { <-gate }); err != nil {
					t.Fatal(err)
				}
				taken := 0
				for range a.sent {
					if err := in.run("mallory", a.size, func() { order = append(order, "mallory") }); err == nil {
						taken++
					} else if api.KindOf(err) != api.KindTransient {
						t.Fatal(err)
					}
				}
				if taken != a.taken {
					t.Errorf("%d of mallory's wait, want %d", taken, a.taken)
				}
				if err := in.run("ann", 100, func() { order = append(order, "ann") }); err != nil {
					t.Fatalf("ann's: %v", err)
				}
				close(gate)
				in.lane.Wait()
				if len(order) != taken+1 || order[1] != "ann" {
					t.Errorf("%d are decoded, ann's not second: %.3v", len(order), order)
				}
				if held := in.held.Load(); held != 0 {
					t.Errorf("%d bytes are still held", held)
				}
			})
		})
	}
}

// A login that has been cut is not let in before it has rested; others are, and the audit log hears of it once.
func TestAttackConnectingAgainAfterACut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewKeyring()
		var refusals, cuts []string
		k.OnRefused = func(r Refusal) { refusals = append(refusals, r.Login) }
		k.OnFlood = func(login string) { cuts = append(cuts, login) }
		for range 1000 {
			k.cut("user-mallory")
		}
		if len(refusals) != 1 || len(cuts) != 1 {
			t.Errorf("%d lines and %d cuts", len(refusals), len(cuts))
		}
		if k.rests.resting("user-mallory", time.Now()) == nil || k.rests.resting("user-ann", time.Now()) != nil {
			t.Error("mallory is let in, or ann is not")
		}
		time.Sleep(restFor)
		if err := k.rests.resting("user-mallory", time.Now()); err != nil {
			t.Errorf("after a rest: %v", err)
		}
		for i := range 100 {
			k.cut(fmt.Sprint("app-", i))
			time.Sleep(restFor)
		}
		if len(k.rests.until) > 1 {
			t.Errorf("%d are remembered", len(k.rests.until))
		}
	})
}

// The 7 MiB requests of a user with many connections are cut, and an operator's requests are answered meanwhile: the
// planner's own connection stays.
func TestAttackAViewersLargeRequests(t *testing.T) {
	keyring := NewKeyring()
	server, err := StartServer(ServerConfig{Listen: "127.0.0.1:0", Keyring: keyring})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	flooded := make(chan struct{})
	keyring.OnFlood = func(login string) { server.Disconnect(login); close(flooded) }
	over := func() bool {
		select {
		case <-flooded:
			return true
		default:
			return false
		}
	}
	var mu sync.Mutex
	var down []error
	own, err := server.Connect(Options{Name: "planner", OnDown: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		down = append(down, err)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	stop, err := ServePlanner(own, keyring, Handlers{
		Register: func(api.Principal, api.RegisterRequest, func(api.RegisterReply)) {}, Events: func(api.Events, func(api.EventsReply)) {},
		Hello: func(api.NodeStatus, func(api.HelloReply)) {}, Status: func(api.NodeStatus) {},
		Control: func(_ api.Principal, _ api.Verb, _ api.ControlRequest, reply func(api.ControlReply)) {
			reply(api.ControlReply{V: api.Version})
		},
		PlanQuery: func(api.Principal, api.PlanRequest, func(api.PlanReply)) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	viv := keyring.Lend(api.Principal{Kind: api.PrincipalUser, Name: "viv", Role: api.RoleView})
	op := keyring.Lend(api.Principal{Kind: api.PrincipalUser, Name: "op", Role: api.RoleOperate})
	asks, err := Dial(Options{Address: server.Address(), Credential: op})
	if err != nil {
		t.Fatal(err)
	}
	defer asks.Close()
	body := filled(7<<20, `{"v":1,"login":["`, "xxxxxxxxxxxx", `"]}`)
	var flood sync.WaitGroup
	for range 8 {
		flood.Go(func() {
			for !over() {
				c, err := nats.Connect(server.Address(), append(viv.Proves(nil), nats.NoReconnect())...)
				if err != nil {
					continue // The machine may be busy.
				}
				for err == nil && !over() {
					if err = c.Publish("pacer.v1.control.user-viv.ping", body); err == nil {
						err = c.FlushTimeout(5 * time.Second)
					}
				}
				c.Close()
			}
		})
	}
	for answered := 0; !over(); time.Sleep(20 * time.Millisecond) { // A login may ask 100 times a second.
		if _, err := asks.Control(t.Context(), api.VerbPing, api.ControlRequest{}); err != nil {
			t.Fatalf("after %d an operator's ping: %v", answered, err)
		}
		answered++
	}
	flood.Wait()
	if _, err := nats.Connect(server.Address(), viv.Proves(nil)...); err == nil {
		t.Error("viv is let in again at once")
	}
	if _, err := asks.Control(t.Context(), api.VerbPing, api.ControlRequest{}); err != nil {
		t.Errorf("afterwards an operator's ping: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(down) > 0 {
		t.Errorf("the planner's connection was cut: %v", down)
	}
}
