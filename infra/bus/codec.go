package bus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/sparkpacer/pacer/api"
)

// header is what every body has: enough to refuse it.
type header struct {
	V     int        `json:"v"`
	Error *api.Error `json:"error,omitempty"`
}

// decode reads a body and checks its version before anything else, since a
// body of another version may not even decode.
func decode(peer string, data []byte, into any) error {
	var h header
	if err := json.Unmarshal(data, &h); err != nil {
		return api.Errorf(api.KindInvalid, "%s sent a message that is not JSON: %s", peer,
			api.Clip(err.Error(), api.MostName))
	}
	if err := api.CheckVersion(peer, h.V); err != nil {
		return err
	}
	if h.Error != nil {
		return h.Error
	}
	if err := json.Unmarshal(data, into); err != nil {
		return api.Errorf(api.KindInvalid, "%s sent a message that does not decode: %s", peer,
			api.Clip(err.Error(), api.MostName))
	}
	return nil
}

// firstV begins what this release sends: V comes first in Go and in the jar.
var firstV = fmt.Appendf(nil, `{"v":%d,`, api.Version)

// decodeRequest is decode for what carries no error. A message that says at once that it is of this version has its
// header not read for itself: bodies may be large.
func decodeRequest(peer string, data []byte, into any) error {
	if bytes.HasPrefix(data, firstV) && json.Unmarshal(data, into) == nil {
		return nil
	}
	return decode(peer, data, into)
}

// call sends a request and decodes its reply. An error in the reply comes back
// as that *api.Error.
func call[Reply any](ctx context.Context, c *Conn, subject, operation string, request any) (Reply, error) {
	var reply Reply
	body, err := json.Marshal(request)
	if err != nil {
		return reply, api.Errorf(api.KindInvalid, "%s: %v", operation, err)
	}
	message, err := c.nats.RequestWithContext(ctx, subject, body)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return reply, err
		}
		return reply, c.callError(operation, err)
	}
	if err := decode("the other side", message.Data, &reply); err != nil {
		var zero Reply
		return zero, err
	}
	return reply, nil
}

func (c *Conn) publish(subject, operation string, body any) error {
	data, err := json.Marshal(body)
	return c.send(subject, operation, data, err)
}

// send publishes data unless it could not be encoded.
func (c *Conn) send(subject, operation string, data []byte, err error) error {
	if err != nil {
		return api.Errorf(api.KindInvalid, "%s: %v", operation, err)
	}
	if err := c.nats.Publish(subject, data); err != nil {
		return c.callError(operation, err)
	}
	return nil
}

// service is how the requests of a subject are answered.
type service[Request, Reply any] struct {
	subject string
	// peer is who asks, for errors; bounds are those of a request.
	peer   string
	bounds bounds
	// intake decodes and handles it; nil does so on the connection's goroutine.
	intake *intake
	// decode replaces the decoder of its type where it is not nil.
	decode func(data []byte) (Request, error)
	// admit says whom a message is from, or refuses it unread.
	admit func(m *nats.Msg) (api.Principal, error)
	// check refuses a request by its subject and its body.
	check func(subject string, r Request) error
	// handle must call reply once.
	handle func(by api.Principal, r Request, reply func(Reply))
}

// serve answers the requests of a subject.
func serve[Request, Reply any](c *Conn, s service[Request, Reply]) (*nats.Subscription, error) {
	subscription, err := c.nats.Subscribe(s.subject, func(m *nats.Msg) { s.take(c, m) })
	if err != nil {
		return nil, c.callError("subscribe to "+s.subject, err)
	}
	return subscription, nil
}

// take answers m, or has that done.
func (s *service[Request, Reply]) take(c *Conn, m *nats.Msg) {
	refuse := func(err error) { c.respond(m, header{V: api.Version, Error: api.ToWire(err)}) }
	by, err := s.admit(m)
	switch {
	case err != nil:
	case len(m.Data) == 0:
		err = api.Errorf(api.KindTransient, "%s sent nothing, or more than is taken at once: at most %d bytes", s.peer,
			s.bounds.bytes)
	case len(m.Data) > s.bounds.bytes:
		err = s.bounds.fit(s.peer, m.Data) // It is not kept until then.
	}
	if err == nil {
		err = s.intake.run(from(m.Subject), len(m.Data), func() {
			request, err := s.read(m)
			if err != nil {
				refuse(err)
				return
			}
			var once sync.Once
			s.handle(by, request, func(r Reply) { once.Do(func() { c.respond(m, r) }) })
		})
	}
	if err != nil {
		refuse(err)
	}
}

// read decodes a request and checks it.
func (s *service[Request, Reply]) read(m *nats.Msg) (request Request, err error) {
	if err = s.bounds.fit(s.peer, m.Data); err != nil {
		return request, err
	}
	if s.decode != nil {
		request, err = s.decode(m.Data)
	} else {
		err = decodeRequest(s.peer, m.Data, &request)
	}
	if err == nil {
		err = s.check(m.Subject, request)
	}
	return request, err
}

// respond answers m; a reply that cannot be sent becomes an error that can. A client that is not to have an answer has
// left no address.
func (c *Conn) respond(m *nats.Msg, reply any) {
	if m.Reply == "" {
		return
	}
	body, err := json.Marshal(reply)
	if err == nil {
		if most := c.Most(); int64(len(body)) > most {
			err = api.Errorf(api.KindInvalid, "the answer is larger than %d bytes: ask for less", most)
		}
	}
	if err != nil {
		body, _ = json.Marshal(header{V: api.Version, Error: api.ToWire(err)})
	}
	if err := m.Respond(body); err != nil {
		c.fault(c.callError("reply to "+m.Subject, err))
	}
}

// anybody is for publications of which the server alone says who may send them.
func anybody(*nats.Msg) bool { return true }

// hearing is how the publications of a subject are taken.
type hearing[Body any] struct {
	subject, peer string
	bounds        bounds
	intake        *intake
	// knows is false for those that are to be dropped unread, check says why not of those that are to be
	// dropped and told to OnFault.
	knows  func(*nats.Msg) bool
	check  func(subject string, b Body) error
	handle func(Body)
}

// listen takes the publications of a subject.
func listen[Body any](c *Conn, h hearing[Body]) (*nats.Subscription, error) {
	subscription, err := c.nats.Subscribe(h.subject, func(m *nats.Msg) {
		if !h.knows(m) {
			return
		}
		err := h.intake.run(from(m.Subject), len(m.Data), func() {
			var body Body
			err := h.bounds.fit(h.peer, m.Data)
			if err == nil {
				err = decodeRequest(h.peer, m.Data, &body)
			}
			if err == nil {
				err = h.check(m.Subject, body)
			}
			if err != nil {
				c.fault(err)
				return
			}
			h.handle(body)
		})
		if err != nil {
			c.fault(err)
		}
	})
	if err != nil {
		return nil, c.callError("subscribe to "+h.subject, err)
	}
	return subscription, nil
}
