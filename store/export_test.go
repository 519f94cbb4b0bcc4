package store

// Rewritten returns when no rewrite of s's file is under way.
func Rewritten(s Store) { s.(*file).rewriting.Wait() }
