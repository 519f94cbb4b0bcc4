package bus

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/sparkpacer/pacer/api"
)

// Handlers answer what reaches the planner. Requests have been validated and
// belong to their subject; by is whom they are from. Each request's reply function is called
// once, then or later, from any goroutine. All fields must be set.
type Handlers struct {
	Register  func(by api.Principal, r api.RegisterRequest, reply func(api.RegisterReply))
	Events    func(e api.Events, reply func(api.EventsReply))
	Hello     func(s api.NodeStatus, reply func(api.HelloReply))
	Status    func(s api.NodeStatus)
	Fetch     func(r api.FetchRequest, reply func(api.FetchReply))
	Control   func(by api.Principal, verb api.Verb, r api.ControlRequest, reply func(api.ControlReply))
	PlanQuery func(by api.Principal, r api.PlanRequest, reply func(api.PlanReply))
}

// ServePlanner subscribes to everything that a planner answers, for those that keyring
// knows, until stop is called. A message beyond a principal's allowance is refused with KindTransient before it is
// read. When it returns an error nothing is subscribed any more.
func ServePlanner(c *Conn, keyring *Keyring, h Handlers) (stop func(), err error) {
	c.keyring.Store(keyring)
	allowed := func(most sending) *allowance {
		a := newAllowance(most)
		a.cut = keyring.cut
		return a
	}
	statuses, requests := allowed(mostStatuses), &keyring.requests
	requests.cut = keyring.cut
	registers, events := allowed(mostRegisters), allowed(mostEvents)
	intake := func() *intake { return newIntake(keyring.Owner) }
	nodes, drivers, people, profiles, fetches := intake(), intake(), intake(), intake(), intake()
	if c.sieve != nil {
		keep := func(subject string, size int) bool {
			if size <= largeMessage {
				return true
			}
			of, most := requests, requestBounds
			switch what := token(subject, 2); token(subject, 0) {
			case "app":
				of, most = events, eventBounds
			case "node":
				of, most = statuses, statusBounds
			case "register":
				of, most = registers, registerBounds
			case "control":
				if what == planQuery || what == string(api.VerbProfilePut) {
					most = profileBounds
				} else if submits(api.Verb(what)) {
					most = submitBounds
				}
			default:
				return true // An answer to the planner.
			}
			return of.has(from(subject), size, most.bytes, time.Now())
		}
		c.sieve.keep.Store(&keep)
	}
	var done []*nats.Subscription
	defer func() {
		if err != nil {
			unsubscribe(done)
		}
	}()
	for _, subscribe := range []func() (*nats.Subscription, error){
		func() (*nats.Subscription, error) {
			return serve(c, service[api.RegisterRequest, api.RegisterReply]{subject: registerSubscribe(), peer: "the driver",
				bounds: registerBounds, intake: drivers, admit: registers.within(keyring.sender),
				check: registrationFits, handle: h.Register})
		},
		func() (*nats.Subscription, error) {
			return serve(c, service[api.Events, api.EventsReply]{subject: eventsSubscribe(), peer: "the driver",
				bounds: eventBounds, intake: drivers, admit: events.within(keyring.addressee), check: eventsFit,
				handle: func(_ api.Principal, e api.Events, reply func(api.EventsReply)) { h.Events(e, reply) }})
		},
		func() (*nats.Subscription, error) {
			return serve(c, service[api.NodeStatus, api.HelloReply]{subject: helloSubscribe(), peer: "the node",
				bounds: statusBounds, intake: nodes, admit: statuses.within(keyring.sender), check: statusFits,
				handle: func(_ api.Principal, s api.NodeStatus, reply func(api.HelloReply)) { h.Hello(s, reply) }})
		},
		func() (*nats.Subscription, error) {
			return listen(c, hearing[api.NodeStatus]{subject: statusSubscribe(), peer: "the node", bounds: statusBounds,
				intake: nodes, knows: func(m *nats.Msg) bool {
					return keyring.known(m) && statuses.take(from(m.Subject), len(m.Data), time.Now()) == nil
				}, check: statusFits, handle: h.Status})
		},
		func() (*nats.Subscription, error) {
			return serve(c, service[api.FetchRequest, api.FetchReply]{subject: fetchSubscribe(), peer: "the node",
				bounds: requestBounds, intake: fetches, admit: statuses.within(keyring.sender), check: fetchFits,
				handle: func(_ api.Principal, r api.FetchRequest, reply func(api.FetchReply)) { h.Fetch(r, reply) }})
		},
		func() (*nats.Subscription, error) {
			return serveControl(c, requests.within(keyring.sender), people, profiles, h)
		},
		func() (*nats.Subscription, error) {
			return serve(c, service[api.PlanRequest, api.PlanReply]{subject: planQuerySubscribe(), peer: "the client",
				bounds: profileBounds, intake: profiles, decode: decodePlan, admit: requests.within(keyring.sender),
				check: always[api.PlanRequest], handle: h.PlanQuery})
		},
	} {
		s, err := subscribe()
		if err != nil {
			return nil, fmt.Errorf("serve the planner: %w", err)
		}
		done = append(done, s)
	}
	return func() { unsubscribe(done) }, nil
}

// OverhearNodes has heard called, on a goroutine of its own, with the name of each node whose
// status passes by, until stop is called: for a planner that stands by.
func OverhearNodes(c *Conn, heard func(node string)) (stop func(), err error) {
	s, err := listen(c, hearing[api.NodeStatus]{subject: statusSubscribe(), peer: "the node", bounds: statusBounds,
		intake: newIntake(alone), knows: anybody, check: statusFits, handle: func(s api.NodeStatus) { heard(s.Node) }})
	if err != nil {
		return nil, fmt.Errorf("overhear nodes: %w", err)
	}
	return func() { _ = s.Unsubscribe() }, nil
}

// alone is whose a login is where that is not known.
func alone(login string) string { return login }

func unsubscribe(subscriptions []*nats.Subscription) {
	for _, s := range subscriptions {
		_ = s.Unsubscribe()
	}
}

// serveControl shares its wildcard with the plan query, which has a
// subscription and a type of its own and is left to it.
func serveControl(c *Conn, admit func(*nats.Msg) (api.Principal, error), people, profiles *intake,
	h Handlers) (*nats.Subscription, error) {
	s, err := c.nats.Subscribe(controlSubscribe(), func(m *nats.Msg) {
		verb := api.Verb(token(m.Subject, 2))
		if verb == planQuery {
			return
		}
		s := service[api.ControlRequest, api.ControlReply]{peer: "the client", bounds: requestBounds, intake: people,
			decode: decodeControl, admit: admit, check: always[api.ControlRequest],
			handle: func(by api.Principal, r api.ControlRequest, reply func(api.ControlReply)) {
				h.Control(by, verb, r, reply)
			}}
		if verb == api.VerbProfilePut {
			s.bounds, s.intake = profileBounds, profiles // Others' short requests do not wait for it.
		} else if submits(verb) {
			s.bounds, s.intake = submitBounds, profiles
		}
		s.take(c, m)
	})
	if err != nil {
		return nil, c.callError("subscribe to "+controlSubscribe(), err)
	}
	return s, nil
}

// submits reports whether the requests of a verb carry files, or a driver.
func submits(verb api.Verb) bool { return verb == api.VerbUpload || verb == api.VerbSubmit }

// The content of a request is for the planner to judge; here only who may say it, and that what drivers say is within
// its bounds: much of it may wait.

// always says nothing against what names its sender in nothing but its subject.
func always[Request any](string, Request) error { return nil }

func registrationFits(_ string, r api.RegisterRequest) error { return r.Validate() }

func eventsFit(subject string, e api.Events) error {
	if subject != eventsSubject(e.AppID) {
		return api.Errorf(api.KindInvalid, "events of application %q were sent for %q",
			api.Clip(string(e.AppID), api.MostToken), token(subject, 1))
	}
	return e.Validate()
}

func statusFits(subject string, s api.NodeStatus) error {
	if of := token(subject, 1); of != api.Token(s.Node) {
		return api.Errorf(api.KindInvalid, "status of node %q was sent for %q", api.Clip(s.Node, api.MostToken), of)
	}
	return nil
}

func fetchFits(subject string, r api.FetchRequest) error {
	if of := token(subject, 1); of != api.Token(r.Node) {
		return api.Errorf(api.KindInvalid, "what node %q fetches was asked for by %q", api.Clip(r.Node, api.MostToken), of)
	}
	return r.Validate()
}

// PublishPlan sends a node its Plan, but a planner that serves no node that it does not know: a
// server that is not embedded may keep the connection of one whose credentials were revoked.
func (c *Conn) PublishPlan(p api.Plan) error {
	if !api.ValidNodeName(p.Node) {
		return api.Errorf(api.KindInvalid, "plan for node %q: the name is not valid", p.Node)
	}
	if c.stranger(p.Node) != nil {
		return nil //nolint:nilerr // The node is not to hear it.
	}
	return c.publish(planSubject(p.Node), "publish the plan of node "+p.Node, p)
}

// PublishDirective sends a driver its Directive.
func (c *Conn) PublishDirective(app api.AppID, d api.Directive) error {
	if !validToken(string(app)) {
		return api.Errorf(api.KindInvalid, "directive for application %q: the id is not valid", app)
	}
	return c.publish(directiveSubject(app), "publish the directive of "+string(app), d)
}

// stranger is why a planner that serves has nothing to say to a node: it has no credentials, or none
// that are taken.
func (c *Conn) stranger(node string) error {
	keyring := c.keyring.Load()
	if keyring == nil {
		return nil
	}
	_, err := keyring.Who(api.Principal{Kind: api.PrincipalNode, Name: node}.Login())
	return err
}
