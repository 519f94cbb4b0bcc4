package gossip

import "slices"

// Size is how many others a view has at most, Shuffle how many entries machines hand each other.
const (
	Size    = 20
	Shuffle = 8
)

// Entry is another machine in a view.
type Entry struct {
	Peer int
	// Age is in rounds.
	Age int
}

// View is what one machine knows of the others: none twice, and never itself.
type View struct {
	self    int
	entries []Entry
}

// New is the view of a machine that has been told of peers; it takes the first Size of them.
func New(self int, peers []int) View {
	v := View{self: self}
	for _, p := range peers {
		v.take([]Entry{{Peer: p}}, nil)
	}
	return v
}

// Entries are what the view has, in no order. They are the view's own.
func (v *View) Entries() []Entry { return v.entries }

// Begin is a round: all entries age, and the oldest one is who to shuffle with. What is sent to it has the machine
// itself in it. It reports false where the view is empty.
func (v *View) Begin(draw func(n int) int) (peer int, sent []Entry, ok bool) {
	if len(v.entries) == 0 {
		return 0, nil, false
	}
	oldest := 0
	for i := range v.entries {
		v.entries[i].Age++
		if v.entries[i].Age > v.entries[oldest].Age {
			oldest = i
		}
	}
	peer = v.entries[oldest].Peer
	v.entries = slices.Delete(v.entries, oldest, oldest+1)
	return peer, append(v.sample(Shuffle-1, draw), Entry{Peer: v.self}), true
}

// Answer takes in what another machine has sent and returns what goes back to it.
func (v *View) Answer(received []Entry, draw func(n int) int) (sent []Entry) {
	sent = v.sample(Shuffle, draw)
	v.take(received, sent)
	return sent
}

// End takes in the answer to what the machine had sent.
func (v *View) End(received, sent []Entry) { v.take(received, sent) }

// sample draws n entries, or all.
func (v *View) sample(n int, draw func(n int) int) []Entry {
	n = min(n, len(v.entries))
	for i := range n {
		k := i + draw(len(v.entries)-i)
		v.entries[i], v.entries[k] = v.entries[k], v.entries[i]
	}
	return append(make([]Entry, 0, n+1), v.entries[:n]...)
}

// take takes in entries that are new to the view: where there is room, then in the place of those that were sent.
func (v *View) take(received, sent []Entry) {
	for _, e := range received {
		if e.Peer == v.self || v.find(e.Peer) >= 0 {
			continue
		}
		if len(v.entries) < Size {
			v.entries = append(v.entries, e)
			continue
		}
		for len(sent) > 0 {
			at := v.find(sent[0].Peer)
			if sent = sent[1:]; at >= 0 {
				v.entries[at] = e
				break
			}
		}
	}
}

// find is where a machine is in the view, -1 if it is not.
func (v *View) find(peer int) int {
	return slices.IndexFunc(v.entries, func(e Entry) bool { return e.Peer == peer })
}
