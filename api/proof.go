package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// LeastSecret is how long the secret of an Attach is at least: 16 bytes in hexadecimal digits.
const LeastSecret = 32

// On is a as the node of a machine gets it, by the id of that machine's boot: what it learns of the secret proves
// nothing elsewhere.
func (a *Attach) On(machine string) *Attach {
	if a == nil {
		return nil
	}
	there := *a
	if a.Secret != "" {
		there.Secret = keyed(a.Secret, "pacer machine "+machine)
	}
	return &there
}

// Proof is what the progress page of an executor shows, for a that is On its machine. A process is named by its id, as
// it sees that itself, and by when it started, in ticks since the boot: a copy of the page proves nothing of another
// one. The jar makes the same (AttachedProof).
func (a *Attach) Proof(id ExecutorID, pid int, started uint64) (proof [sha256.Size]byte) {
	executor := keyed(a.Secret, fmt.Sprintf("pacer executor %s %s", a.App, id))
	copy(proof[:], sum(executor, fmt.Sprintf("pacer process %d %d", pid, started)))
	return proof
}

// keyed is a secret made of another one, for what a text names.
func keyed(secret, text string) string { return hex.EncodeToString(sum(secret, text)) }

func sum(secret, text string) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(text))
	return h.Sum(nil)
}
