package eventlog

import (
	"bytes"
	"strconv"
)

// scan walks over the JSON of one line without building what nobody asks for. Anything that is no JSON
// makes it bad, and ends it.
type scan struct {
	b   []byte
	at  int
	bad bool
}

func (s *scan) fail() { s.bad, s.at = true, len(s.b) }

// peek is the next byte that is no space, 0 at the end.
func (s *scan) peek() byte {
	for s.at < len(s.b) {
		if c := s.b[s.at]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
		s.at++
	}
	return 0
}

// take goes over the next byte where that is c.
func (s *scan) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

// members yields the keys of the object that comes; a value that its reader leaves is skipped.
// Anything but an object is skipped as a whole. Its reader does not break off.
func (s *scan) members(yield func(key []byte) bool) {
	if !s.take('{') {
		s.skip()
		return
	}
	for first := true; !s.take('}'); first = false {
		if !first && !s.take(',') || s.peek() != '"' {
			s.fail()
			return
		}
		key := s.quoted()
		if !s.take(':') {
			s.fail()
			return
		}
		s.peek()
		before := s.at
		if yield(key); s.at == before {
			s.skip()
		}
		if s.bad {
			return
		}
	}
}

// quoted is what stands between the next quotes, escapes as they are.
func (s *scan) quoted() []byte {
	if !s.take('"') {
		s.fail()
		return nil
	}
	from := s.at
	for {
		n := bytes.IndexByte(s.b[s.at:], '"')
		if n < 0 {
			s.fail()
			return nil
		}
		s.at += n + 1
		escapes := 0
		for i := s.at - 2; i >= from && s.b[i] == '\\'; i-- {
			escapes++
		}
		if escapes%2 == 0 {
			return s.b[from : s.at-1]
		}
	}
}

// word is a number, true, false or null.
func (s *scan) word() []byte {
	s.peek()
	from := s.at
	for s.at < len(s.b) && !ends[s.b[s.at]] {
		s.at++
	}
	if s.at == from {
		s.fail()
		return nil
	}
	return s.b[from:s.at]
}

var ends = [256]bool{',': true, ']': true, '}': true, '{': true, '[': true, '"': true, ':': true, ' ': true, '\t': true,
	'\r': true, '\n': true, 0: true}

// number is the number that comes; 0 for what is none.
func (s *scan) number() int64 {
	if c := s.peek(); c == '"' || c == '{' || c == '[' {
		s.skip()
		return 0
	}
	word := s.word()
	var n int64
	for i, c := range word {
		switch {
		case i == 0 && c == '-' && len(word) > 1:
		case c < '0' || c > '9' || i > 17:
			whole, _ := strconv.ParseFloat(string(word), 64)
			if !(whole >= -1<<62 && whole <= 1<<62) {
				return 0
			}
			return int64(whole)
		default:
			n = 10*n + int64(c-'0')
		}
	}
	if len(word) > 0 && word[0] == '-' {
		return -n
	}
	return n
}

// truth is whether true comes.
func (s *scan) truth() bool {
	if c := s.peek(); c != 't' && c != 'f' {
		s.skip()
		return false
	}
	return string(s.word()) == "true"
}

// skip goes over the value that comes.
func (s *scan) skip() {
	for depth := 0; ; {
		switch s.peek() {
		case 0:
			s.fail()
			return
		case '"':
			s.quoted()
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		case ',', ':':
			if depth == 0 {
				s.fail()
				return
			}
			s.at++
		default:
			s.word()
		}
		if s.bad || depth < 0 {
			s.fail()
			return
		}
		if depth == 0 {
			return
		}
	}
}
