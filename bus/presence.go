package bus

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/sparkpacer/pacer/api"
)

// AnswerPresence answers who asks which planners serve, until stop is called: with what self
// says, and not at all where that is false. self is called on a goroutine of the connection.
func AnswerPresence(c *Conn, self func() (api.Presence, bool)) (stop func(), err error) {
	s, err := c.nats.Subscribe(presenceSubscribe(), func(m *nats.Msg) {
		if p, ok := self(); ok && m.Reply != "" {
			c.respond(m, p)
		}
	})
	if err != nil {
		return nil, c.callError("subscribe to "+presenceSubscribe(), err)
	}
	return func() { _ = s.Unsubscribe() }, nil
}

// AskPresence returns a function that asks which planners serve, until stop is called. Each answer to it goes to
// heard, and nobody is called where the server knows of no planner at all. Both run on a
// goroutine of the connection, one after the other.
func AskPresence(c *Conn, heard func(api.Presence), nobody func()) (ask func() error, stop func(), err error) {
	inbox := c.nats.NewInbox()
	answers, err := c.nats.Subscribe(inbox, func(m *nats.Msg) {
		if len(m.Data) == 0 && m.Header.Get("Status") == noResponders {
			nobody()
			return
		}
		var p api.Presence
		err := decode("a planner", m.Data, &p)
		if err == nil {
			err = p.Validate()
		}
		if err != nil {
			c.fault(err)
			return
		}
		heard(p)
	})
	if err != nil {
		return nil, nil, c.callError("subscribe to the answers of planners", err)
	}
	body, err := json.Marshal(api.PresenceRequest{V: api.Version})
	if err != nil {
		unsubscribe([]*nats.Subscription{answers})
		return nil, nil, fmt.Errorf("ask for planners: %w", err)
	}
	return func() error {
		if err := c.nats.PublishRequest(presenceSubject(), inbox, body); err != nil {
			return c.callError("ask for planners", err)
		}
		return nil
	}, func() { unsubscribe([]*nats.Subscription{answers}) }, nil
}

// noResponders is the status with which a server answers a request that nobody takes.
const noResponders = "503"
