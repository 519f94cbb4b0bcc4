package bus

import (
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
)

func TestWhoHasTooManyConnections(t *testing.T) {
	most := func(string) int { return 2 }
	var many, everywhere []connection
	for i := range strangersEach + 3 {
		many = append(many, connection{id: uint64(1 + i), address: "a"})
	}
	for i := range strangersAll + 2 {
		everywhere = append(everywhere, connection{id: uint64(1 + i), address: fmt.Sprint(i)})
	}
	for name, c := range map[string]struct {
		open []connection
		over []uint64
	}{
		"nobody":                           {nil, nil},
		"strangers of one address":         {many, []uint64{1, 2, 3}},
		"another address":                  {append(slices.Clone(many), connection{9999, "b", ""}), []uint64{1, 2, 3}},
		"strangers of everywhere":          {everywhere, []uint64{1, 2}},
		"a principal":                      {[]connection{{7, "a", "x"}, {5, "b", "x"}, {6, "c", "x"}, {8, "a", "y"}}, []uint64{7}},
		"a principal is no stranger there": {append(slices.Clone(many[:strangersEach]), connection{9999, "a", "x"}), nil},
	} {
		var over []uint64
		for _, o := range excess(c.open, most, alone) {
			over = append(over, o.id)
		}
		if slices.Sort(over); !slices.Equal(over, c.over) {
			t.Errorf("%s: %v are ended, want %v", name, over, c.over)
		}
	}
}

// Who opens connections and shows no credential keeps a few of them, for a short time, and nobody
// else out; and a principal has no more than its part.
func TestStrangersKeepNobodyOut(t *testing.T) {
	keyring := NewKeyring()
	var refused []Refusal
	keyring.OnRefused = func(r Refusal) { refused = append(refused, r) }
	s, err := StartServer(ServerConfig{Listen: "127.0.0.1:0", Keyring: keyring})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.unwatch() // The test looks itself.
	s.watching.Wait()
	var strangers []net.Conn
	for range strangersEach + 20 {
		c, err := net.Dial("tcp", s.Address())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := c.Read(make([]byte, 1)); err != nil { // The server has it, and says who it is.
			t.Fatal(err)
		}
		strangers = append(strangers, c)
	}
	node := api.Principal{Kind: api.PrincipalNode, Name: "n1"}
	own := keyring.Lend(node)
	var conns []*Conn
	for range otherConns + 4 {
		c, err := Dial(Options{Address: s.Address(), Credential: own, Name: "n1"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		conns = append(conns, c)
	}
	before := s.nats.NumClients()
	if known := s.thin(); known != otherConns+4 {
		t.Errorf("%d have shown a credential", known)
	}
	// Those of the node that were ended come again, one by one.
	if got, want := s.nats.NumClients(), before-20-4; got < want || got > want+4 {
		t.Errorf("%d connections are left of %d, want %d to %d", got, before, want, want+4)
	}
	if _, err := io.Copy(io.Discard, strangers[0]); err != nil {
		t.Logf("the oldest: %v", err)
	}
	newest := strangers[len(strangers)-1]
	_ = newest.SetReadDeadline(time.Now().Add(time.Millisecond))
	if _, err := io.Copy(io.Discard, newest); err == nil {
		t.Error("the newest stranger has no time to show who it is")
	}
	for i, c := range conns[:otherConns] {
		if !c.Connected() {
			t.Errorf("connection %d of the node has ended", i)
		}
	}
	if len(refused) != 2 {
		t.Errorf("refused %+v", refused)
	}
	if most := keyring.mostConns(api.Principal{Kind: api.PrincipalUser, Name: "ann"}.Login()); most != appConns {
		t.Errorf("who is not known may have %d", most)
	}
}
