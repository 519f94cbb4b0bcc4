package store

import "os"

// Rewritten returns when no rewrite of s's file is under way.
func Rewritten(s Store) { s.(*File).rewriting.Wait() }

// Syncing has s call sync in place of the kernel's.
func Syncing(s *File, sync func(*os.File) error) { s.sync = sync }

// Dies leaves s as it is when BuntDB has given up in the middle of a write.
func Dies(s *File, why error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.mu.body.db.Begin(true); err != nil {
		return err
	}
	s.mu.body.dead, s.mu.body.broken = true, why
	return nil
}

// Retry has s mend itself with the next Apply.
func Retry(s *File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.again = s.mu.again.AddDate(-1, 0, 0)
}
