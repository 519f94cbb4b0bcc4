package placement

// Values of Policy.Order.
const (
	LeastCommitted = "least-committed"
	MostMemory     = "most-memory"
	Prophet        = "prophet"
	Tetris         = "tetris"
)

// ordering is an order, and what it looks at beside what every Site has.
type ordering struct {
	name  string
	order Order
	// scores fills in sites for those that come, nil for an order that asks for no more.
	scores func(c *comers, sites []Site)
}

// orders is the table of the orders.
func orders() []ordering {
	return []ordering{
		{LeastCommitted, leastCommitted, nil},
		{MostMemory, mostMemory, nil},
		{Prophet, prophet, scoreProphet},
		{Tetris, tetris, scoreTetris},
	}
}

// Orders are the values of Policy.Order.
func Orders() []string {
	var names []string
	for _, o := range orders() {
		names = append(names, o.name)
	}
	return names
}

// order is the one of that name, the first of the table for one that is not known.
func order(name string) ordering {
	for _, o := range orders() {
		if o.name == name {
			return o
		}
	}
	return orders()[0]
}
