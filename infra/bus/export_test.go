package bus

import "encoding/base64"

// ProofOf is what c shows a server that has made a nonce.
func ProofOf(c Credential, nonce []byte) Proof {
	return Proof{Login: c.Login, Sig: base64.RawURLEncoding.EncodeToString(c.prove(nonce)), Nonce: nonce}
}

// HashOf is what a planner of an earlier release keeps of c.
func HashOf(c Credential) string { return c.hash() }

// RenewalOf is Proof of who has a secret's hash alone, and a key of its own.
func RenewalOf(own Credential, login, hash string, nonce []byte) Proof {
	sig := own.prove(nonce)
	public := sig[64:96]
	sig = append(sig[:96:96], renewal(hash, login, nonce, public)...)
	return Proof{Login: login, Sig: base64.RawURLEncoding.EncodeToString(sig), Nonce: nonce}
}
