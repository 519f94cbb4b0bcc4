package ledger

import "github.com/sparkpacer/pacer/units"

// keptPart is the part of a node's memory that is never lent.
const keptPart = 0.05

// Lent is the memory that lent executors on n take. It is no part of View.Claimed.
func (n *Node) Lent() units.Bytes { return n.book.claims.lent }

// Lendable is what executors on n are foretold to leave of their claims, less a part of the node that is kept.
func (n *Node) Lendable() units.Bytes { return n.LendableOf(n.book.claims.spare) }

// LendableOf is what n may lend where its executors leave so much. The memory of a node that attaches is another
// manager's.
func (n *Node) LendableOf(spare units.Bytes) units.Bytes {
	if n.Memory == 0 || n.Attaches() {
		return 0
	}
	return max(0, spare-units.Bytes(keptPart*float64(n.Memory)))
}

// Borrowable is what more lent executors may take of n: what is neither promised nor lent, and what is lendable.
// It is negative while lent executors take more than that.
func (n *Node) Borrowable() units.Bytes {
	return n.Room() - n.book.claims.promised - n.Lent() + n.Lendable()
}

// Lends reports whether memory of n is lent, by its Plan.
func (n *Node) Lends() bool { return n.book.lend.By != "" }
