package web

// Routes are those that a Server answers to, as the description writes them.
func Routes() []string {
	var all []string
	for _, r := range routes {
		all = append(all, r.pattern)
	}
	return all
}
