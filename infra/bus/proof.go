package bus

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/sparkpacer/pacer/api"
)

// A secret is proven and never told: a server listens perhaps only in the planner's place. The secret is the seed of an
// Ed25519 key, of which planners keep the public half. A client signs the nonce of the server's INFO, once a
// connection. The jar does the same (Credential.scala).

// private is the key that follows from c's secret, and from nothing else.
func (c Credential) private() ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("pacer nkey " + c.Secret))
	return ed25519.NewKeyFromSeed(seed[:])
}

// Key is what a planner keeps of c: the public key, as NATS writes those of users.
func (c Credential) Key() string {
	public, _ := c.private().Public().(ed25519.PublicKey)
	return keyOf(public)
}

func keyOf(public ed25519.PublicKey) string {
	key, _ := nkeys.Encode(nkeys.PrefixByteUser, public) // It fails for another prefix alone.
	return string(key)
}

// hash is what planners of earlier releases keep of c.
func (c Credential) hash() string { return hashOf(c.Secret) }

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// proofBytes is a signature, the public key that it is by, and the renewal.
const proofBytes = ed25519.SignatureSize + ed25519.PublicKeySize + sha256.Size

// prove shows the server that has made a nonce that c is there. The proof tells nobody the secret, nor does it prove
// anything about another nonce.
func (c Credential) prove(nonce []byte) []byte {
	key := c.private()
	public, _ := key.Public().(ed25519.PublicKey)
	proof := append(ed25519.Sign(key, nonce), public...)
	return append(proof, renewal(c.hash(), c.Login, nonce, public)...)
}

// renewal shows a planner that has a secret's hash, from an earlier release, that a public key is by that secret.
func renewal(hash, login string, nonce []byte, public ed25519.PublicKey) []byte {
	mac := hmac.New(sha256.New, []byte(hash))
	for _, part := range [][]byte{[]byte("pacer renews"), []byte(login), nonce, public} {
		mac.Write(part)
		mac.Write([]byte{0})
	}
	return mac.Sum(nil)
}

// Proves are the options by which a client of NATS proves c. With secret, which is called for each attempt to connect,
// it is that secret: "" proves nothing. A planner proves itself to the NATS server, which knows its key; of all others
// a server knows the login alone, by which their connections are found again.
func (c Credential) Proves(secret func() string) []nats.Option {
	if c.Of(api.PrincipalPlanner) {
		return []nats.Option{nats.Nkey(c.Key(), func(nonce []byte) ([]byte, error) {
			return ed25519.Sign(c.private(), nonce), nil
		})}
	}
	return []nats.Option{
		nats.UserInfoHandler(func() (string, string) { return c.Login, "" }),
		// NATS signs for whoever has a JWT or a key; servers throw this one away.
		nats.UserJWT(func() (string, error) { return c.Login, nil }, func(nonce []byte) ([]byte, error) {
			now := c
			if secret != nil {
				now.Secret = secret()
			}
			if now.Secret == "" || len(nonce) == 0 {
				return nil, nil
			}
			return now.prove(nonce), nil
		}),
	}
}

// Proof is what somebody shows who connects.
type Proof struct {
	Login string
	// Sig is Credential.prove of Nonce, in base64.
	Sig   string
	Nonce []byte
	// Told is a secret as drivers of earlier releases tell it.
	Told string
}

// parts are the signature's public key and the renewal, or an error where Nonce is not signed.
func (p Proof) parts() (public ed25519.PublicKey, renews []byte, err error) {
	sig, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(p.Sig, "="))
	if err != nil || len(sig) != proofBytes || len(p.Nonce) == 0 {
		return nil, nil, errors.New("the nonce is not signed: secrets are proven, not told")
	}
	public = sig[ed25519.SignatureSize:][:ed25519.PublicKeySize]
	if !ed25519.Verify(public, p.Nonce, sig[:ed25519.SignatureSize]) {
		return nil, nil, errors.New("that is no signature of this connection's nonce")
	}
	return public, sig[ed25519.SignatureSize+ed25519.PublicKeySize:], nil
}

// shows reports which of keys p proves, "" for none, and what is to be kept in its place.
func (p Proof) shows(kind api.PrincipalKind, keys []string) (key, kept string, err error) {
	if p.Sig == "" && kind == api.PrincipalApplication {
		return p.tells(keys)
	}
	public, renews, err := p.parts()
	if err != nil {
		return "", "", err
	}
	kept = keyOf(public)
	for _, k := range keys {
		proven := subtle.ConstantTimeCompare([]byte(k), []byte(kept)) == 1
		if !api.ValidKey(k) {
			proven = hmac.Equal(renews, renewal(k, p.Login, p.Nonce, public))
		}
		if proven {
			key = k
		}
	}
	return key, kept, nil
}

// tells is shows for the driver of an application of an earlier release, which cannot sign. Its planner has had the
// secret's hash, and drivers of this release never leave one.
func (p Proof) tells(keys []string) (key, kept string, err error) {
	hash := hashOf(p.Told)
	for _, k := range keys {
		if subtle.ConstantTimeCompare([]byte(k), []byte(hash)) == 1 {
			key, kept = k, k
		}
	}
	return key, kept, nil
}

// signed reports whether sig, in base64, is a nonce's signature by a key.
func signed(key string, nonce []byte, sig string) bool {
	public, err := nkeys.FromPublicKey(key)
	raw, err2 := base64.RawURLEncoding.DecodeString(sig)
	return err == nil && err2 == nil && len(nonce) > 0 && public.Verify(nonce, raw) == nil
}
