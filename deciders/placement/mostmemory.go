package placement

import "cmp"

// mostMemory is worst-fit by memory: the node that will have most left, then the one with
// more cores for each application. It is for executors whose caches and off-heap memory
// matter more than their cores.
func mostMemory(a, b *Site) int {
	return cmp.Or(cmp.Compare(b.Free-b.Needed, a.Free-a.Needed), cmp.Compare(b.share(), a.share()), byName(a, b))
}
