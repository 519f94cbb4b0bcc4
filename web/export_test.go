package web

// Problems are the problems that there are, with the status of each.
func Problems() map[string]int {
	all := map[string]int{}
	for name, p := range problems {
		all[name] = p.status
	}
	return all
}
