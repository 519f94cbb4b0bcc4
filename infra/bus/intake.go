package bus

import (
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/async"
)

// bounds are those of a message before it is decoded: its bytes, the elements of all its lists, and the members of all
// its objects where one of them may have any.
type bounds struct{ bytes, elements, members int }

// Bounds of what is taken of each kind. A profile comes by two verbs alone.
var (
	requestBounds = bounds{64 << 10, 4 << 10, 64 << 10}
	profileBounds = bounds{4<<20 + requestBounds.bytes, api.MostElements + requestBounds.elements, 4 << 20}
	// A piece of a file, as base64, or a driver with all that it is started with.
	submitBounds   = bounds{2 << 20, 16 << 10, 64 << 10}
	registerBounds = bounds{api.MostRegisterBytes, 32 << 10, 16 << 10}
	eventBounds    = bounds{api.MostEventBytes, 128 << 10, api.MostEventBytes}
	statusBounds   = bounds{MaxPayload, 256 << 10, MaxPayload}
	replyBounds    = bounds{MaxPayload, MaxPayload, MaxPayload} // Of who is trusted.
)

// fit refuses a message that is larger than its kind may be.
func (b bounds) fit(peer string, data []byte) error {
	if len(data) > b.bytes {
		return api.Errorf(api.KindInvalid, "%s sent %d bytes at once, at most %d are taken", peer, len(data), b.bytes)
	}
	if min(b.elements, b.members) >= len(data) {
		return nil
	}
	elements, members := api.Elements(data, b.elements, b.members)
	if elements > b.elements {
		return api.Errorf(api.KindInvalid, "%s sent lists of more than %d elements at once", peer, b.elements)
	}
	if members > b.members {
		return api.Errorf(api.KindInvalid, "%s sent objects of more than %d members at once", peer, b.members)
	}
	return nil
}

// mostPayload is what a NATS server takes of one message of p, beside its bounds for all.
func mostPayload(p api.Principal) int {
	switch p.Kind {
	case api.PrincipalUser:
		return profileBounds.bytes
	case api.PrincipalApplication:
		return eventBounds.bytes
	}
	return MaxPayload
}

// intake decodes what has arrived apart from the connection, which therefore takes everything at once:
// the messages of each principal in order, principals in turn, nodes, drivers, people and profiles apart. A message
// that a principal has beyond its places is answered with KindTransient.
type intake struct {
	lane async.Lane[string]
	held atomic.Int64 // The bytes of large messages that wait.
	// owner is whose a login is; the others of it have their places of placesOwned.
	owner func(login string) string
	mu    sync.Mutex
	owned map[string]int
}

const (
	// placesEach and placesAll bound how many messages wait to be decoded, of a principal and of all, placesOwned
	// those of all applications of a user.
	placesEach, placesAll = 64, 16 << 10
	placesOwned           = placesAll / 4
	// mostHeld bounds the bytes of those that are larger than largeMessage.
	mostHeld, largeMessage = 64 << 20, 64 << 10
)

func newIntake(owner func(login string) string) *intake {
	return &intake{lane: async.Lane[string]{Each: placesEach, All: placesAll}, owner: owner, owned: make(map[string]int)}
}

// own counts one more message of an owner, or one less, and reports whether it has the places.
func (i *intake) own(owner string, more int) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.owned[owner]+more > placesOwned {
		return false
	}
	if i.owned[owner] += more; i.owned[owner] == 0 {
		delete(i.owned, owner)
	}
	return true
}

// run has work done on a message of a login of size bytes, or says why not. A nil intake does it at once.
func (i *intake) run(login string, size int, work func()) error {
	if i == nil {
		work()
		return nil
	}
	held := int64(size)
	if size <= largeMessage {
		held = 0
	}
	owner := i.owner(login)
	if !i.own(owner, 1) {
		return api.Errorf(api.KindTransient, "%d messages of the applications of %s wait already: try again in a moment",
			placesOwned, owner)
	}
	if !i.lane.Enter(login) {
		i.own(owner, -1)
		return api.Errorf(api.KindTransient, "%d messages of %s wait already: try again in a moment", placesEach, login)
	}
	if i.held.Add(held) > mostHeld && held > 0 {
		i.held.Add(-held)
		i.lane.Leave(login)
		i.own(owner, -1)
		return api.Errorf(api.KindTransient, "%d bytes of large messages wait already: try again in a moment", mostHeld)
	}
	i.lane.Run(login, func() {
		defer func() {
			i.held.Add(-held)
			i.lane.Leave(login)
			i.own(owner, -1)
		}()
		work()
	})
	return nil
}

// A request leaves the profile in it to be decoded for itself.

// decodeControl decodes a request of the command line.
func decodeControl(data []byte) (api.ControlRequest, error) {
	var r struct {
		api.ControlRequest
		Body json.RawMessage `json:"body"`
	}
	err := decodeRequest("the client", data, &r)
	if err == nil {
		r.ControlRequest.Body, err = profileIn(r.Body)
	}
	return r.ControlRequest, err
}

// decodePlan decodes a plan request.
func decodePlan(data []byte) (api.PlanRequest, error) {
	var r struct {
		api.PlanRequest
		Body json.RawMessage `json:"body"`
	}
	err := decodeRequest("the client", data, &r)
	if err == nil {
		r.PlanRequest.Body, err = profileIn(r.Body)
	}
	return r.PlanRequest, err
}

func profileIn(body json.RawMessage) (*api.Profile, error) {
	if len(body) == 0 || string(body) == "null" {
		return nil, nil
	}
	p, err := api.ReadProfile(body)
	if err != nil {
		return nil, api.Errorf(api.KindInvalid, "the client sent a message that does not decode: %s",
			api.Clip(err.Error(), api.MostName))
	}
	return p, nil
}
