package bus

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/sparkpacer/pacer/api"
)

// Bounds of the connections of an embedded server, beside mostConnections: those that have not
// shown a credential, from one address and in all, and those of one principal. A user's commands
// and drivers that wait have one each; a node and an application have one, and another one while they connect
// anew. ownedConns are those of all applications and tickets of a user together.
const (
	strangersEach = 256
	strangersAll  = 2048
	userConns     = 1024
	ownedConns    = 1024
	appConns      = 3
	otherConns    = 16
)

// Every crowdTick it is looked whether connections have come by which a bound may be passed, every
// crowdLook who they are in any case: the server alone knows who has gone.
const (
	crowdTick = 250 * time.Millisecond
	crowdLook = 2 * time.Second
)

// connection is one of a server's.
type connection struct {
	id uint64 // It grows.
	// address is where it is from, login who has shown a credential, "" for nobody yet.
	address, login string
}

// excess are those of open that pass a bound: of strangers the oldest, for whoever has a
// credential shows it at once, of a principal the newest. most is how many a principal may have, owner whose it is.
func excess(open []connection, most func(login string) int, owner func(login string) string) (over []connection) {
	var strangers []connection
	of := make(map[connection]int) // With an address or a login alone, or with an owner.
	slices.SortFunc(open, func(a, b connection) int { return cmp.Compare(a.id, b.id) })
	for _, c := range open {
		if c.login == "" {
			strangers = append(strangers, c)
			continue
		}
		key, all, owned := connection{login: c.login}, connection{id: 1}, 0
		if all.login = owner(c.login); all.login != c.login {
			owned = 1
		}
		if of[key] >= most(c.login) || of[all]+owned > ownedConns {
			over = append(over, c)
			continue
		}
		of[key]++
		of[all] += owned
	}
	for i, c := range slices.Backward(strangers) {
		key := connection{address: c.address}
		if of[key]++; of[key] > strangersEach || len(strangers)-i > strangersAll {
			over = append(over, c)
		}
	}
	return over
}

// watch keeps the connections of a server that listens within their bounds until ctx ends.
func (s *Server) watch(ctx context.Context) {
	ticker := time.NewTicker(crowdTick)
	defer ticker.Stop()
	known, looked := 0, time.Now() // How many had shown a credential then.
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if s.nats.NumClients()-known > strangersEach || time.Since(looked) >= crowdLook {
			known, looked = s.thin(), time.Now()
		}
	}
}

// thin ends the connections that pass a bound and returns how many have shown a credential.
func (s *Server) thin() (known int) {
	all, err := s.nats.Connz(&server.ConnzOptions{Username: true, State: server.ConnOpen, Limit: mostConnections})
	if err != nil {
		return 0 // The server has stopped.
	}
	open := make([]connection, 0, len(all.Conns))
	for _, c := range all.Conns {
		if c.AuthorizedUser != "" {
			known++
		}
		if c.IP != "" { // Else it is this process's own.
			open = append(open, connection{c.Cid, c.IP, c.AuthorizedUser})
		}
	}
	ended := make(map[connection]int)
	for _, c := range excess(open, s.keyring.mostConns, s.keyring.Owner) {
		if s.nats.DisconnectClientByID(c.id) == nil {
			ended[connection{address: c.address, login: c.login}]++
		}
	}
	for c, n := range ended {
		s.keyring.refuse(Refusal{Login: c.login, From: c.address, What: RefusedConnect,
			Why: fmt.Errorf("%d connections more than may be open", n)})
	}
	return known
}

// mostConns is how many connections a login may have at once.
func (k *Keyring) mostConns(login string) int {
	switch p, err := k.Who(login); {
	case err != nil || p.Kind == api.PrincipalApplication:
		return appConns
	case p.Kind == api.PrincipalUser:
		return userConns
	}
	return otherConns
}
