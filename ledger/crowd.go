package ledger

// group is whose applications that are over are: a user's, those apart that were turned down.
type group struct {
	user    string
	refused bool
}

// crowd counts what is kept of each group, so that no user pushes out what is kept of others, nor what was turned down
// what has run. The zero value is empty.
type crowd struct {
	of           map[group]int
	all, refused int
}

// refusedPart is the part of all that those which were turned down may have where there is no room for more.
const refusedPart = 4

func (c *crowd) count(g group, n int) {
	if c.of == nil {
		c.of = make(map[group]int)
	}
	if c.of[g] += n; c.of[g] == 0 {
		delete(c.of, g)
	}
	if c.all += n; g.refused {
		c.refused += n
	}
}

// largest is the group that is to have less: the largest one of those that were turned down where these have more than
// their part, of the others else.
func (c *crowd) largest() (most group) {
	refused := c.refused*refusedPart > c.all || c.refused == c.all
	for g, n := range c.of {
		if g.refused == refused && (n > c.of[most] || n == c.of[most] && g.user < most.user || most.refused != refused) {
			most = g
		}
	}
	return most
}
