package dag

// Precedes reports whether stage later can only be ready once stage earlier has ended.
func (g *Graph) Precedes(earlier, later int) bool { return g.After([]int{earlier})(later) }
