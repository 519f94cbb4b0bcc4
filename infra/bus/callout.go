package bus

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/sparkpacer/pacer/api"
)

// A nats-server that is not embedded asks the planner about everybody who connects (NATS'
// authorization callout): the rights are the same as in the embedded one, and nobody's secret is
// in its configuration. That the planner's user there has a key has it make nonces.

// globalAccount is the account of a nats-server that configures none.
const globalAccount = "$G"

// issuer signs what the planner answers. It follows from the planner's own secret, so that
// there is one to keep.
func (c Credential) issuer() (nkeys.KeyPair, error) {
	seed := sha256.Sum256([]byte("pacer issuer " + c.Secret))
	pair, err := nkeys.FromRawSeed(nkeys.PrefixByteAccount, seed[:])
	if err != nil {
		return nil, fmt.Errorf("authorization callout: %w", err)
	}
	return pair, nil
}

// ServerAuthorization is the block of a nats-server's configuration by which it takes c for
// the planner's credential, and asks that planner about everybody else.
func (c Credential) ServerAuthorization() (string, error) {
	pair, err := c.issuer()
	if err != nil {
		return "", err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return "", fmt.Errorf("authorization callout: %w", err)
	}
	return fmt.Sprintf(
		"authorization {\n  users = [ {nkey: %[1]s} ]\n  auth_callout { issuer: %[2]s, auth_users: [ %[1]s ] }\n}\n",
		c.Key(), public), nil
}

// ServeAuthorization answers a nats-server that asks whom it may let in, until stop is called.
// own is the planner's credential there.
func ServeAuthorization(c *Conn, keyring *Keyring, own Credential) (stop func(), err error) {
	pair, err := own.issuer()
	if err != nil {
		return nil, err
	}
	s, err := c.nats.Subscribe(authSubject, func(m *nats.Msg) {
		request, err := jwt.DecodeAuthorizationRequestClaims(string(m.Data))
		if err != nil {
			c.fault(api.Errorf(api.KindInvalid, "the NATS server asks whom it may let in by a request that does not decode: %s",
				api.Clip(err.Error(), api.MostName)))
			return
		}
		answer := jwt.NewAuthorizationResponseClaims(request.UserNkey)
		answer.Audience = request.Server.ID
		login := request.ConnectOptions.Username
		p, err := keyring.Prove(Proof{Login: login, Sig: request.ConnectOptions.SignedNonce,
			Nonce: []byte(request.ClientInformation.Nonce), Told: request.ConnectOptions.Password})
		if err == nil {
			err = keyring.rests.resting(login, time.Now())
		}
		if err == nil {
			answer.Jwt, err = userClaims(request.UserNkey, p).Encode(pair)
		}
		if err != nil {
			answer.Error = err.Error()
			keyring.refuse(Refusal{Login: login, From: request.ClientInformation.Host, What: RefusedConnect, Why: err})
		}
		body, err := answer.Encode(pair)
		if err == nil {
			err = m.Respond([]byte(body))
		}
		if err != nil {
			c.fault(c.callError("answer the NATS server", err))
		}
	})
	if err != nil {
		return nil, c.callError("subscribe to "+authSubject, err)
	}
	return func() { unsubscribe([]*nats.Subscription{s}) }, nil
}

func userClaims(subject string, p api.Principal) *jwt.UserClaims {
	r, u := rightsOf(p), jwt.NewUserClaims(subject)
	u.Name, u.Audience = p.Login(), globalAccount
	u.Pub.Allow, u.Sub.Allow = r.publish, r.subscribe
	u.Limits.Payload = int64(mostPayload(p))
	if r.responds {
		u.Resp = &jwt.ResponsePermission{MaxMsgs: 1, Expires: replyWindow}
	}
	if !p.Until.IsZero() {
		u.Expires = p.Until.Unix()
	}
	return u
}
