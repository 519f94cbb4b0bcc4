package api

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// A status and a Plan speak for many applications. Each of these has a part in them, and a fault of one part is no
// reason to refuse the others'. Sender and receiver look at parts by the same bounds (look): Validate lists what is
// beyond them, a sender brings its parts within (Fit), a receiver leaves faulty parts out (Sift).

// PartFault says what is wrong with the part that an application has in a message. App is "" for a list that is
// too long.
type PartFault struct {
	App   AppID
	Fault string
}

// mostFault is how long a text about a part is.
const mostFault = 256

// pass is for what a value is looked at.
type pass int

const (
	checks pass = iota // Faults are listed.
	sifts              // Parts with faults leave the value.
	fits               // Parts are brought within their bounds, and leave it only where they have no name.
)

// fitted is a pointer to a part of a message.
type fitted[T any] interface {
	*T
	owner() AppID
	look(*faults)
}

// begin begins to check a list of parts, and returns how many of it are looked at.
func (f *faults) begin(name string, n, most int) int {
	if f.out(); n > most {
		f.count("the number of "+name, n, most)
	}
	f.of = name
	return min(n, most)
}

// walk sifts or fits the parts of a list, and returns those that stay.
func walk[T any, P fitted[T]](f *faults, name string, list []T, most int) []T {
	if len(list) > most {
		f.tell("", name+": there are more than are taken, and the longest shares are cut")
		list = cut[T, P](list, most)
	}
	kept := 0
	for i := range list {
		f.list, f.more = f.list[:0], 0
		P(&list[i]).look(f)
		if len(f.list) > 0 {
			f.tell(P(&list[i]).owner(), name+": "+strings.Join(f.list, "; "))
			continue
		}
		if kept < i {
			list[kept] = list[i]
		}
		kept++
	}
	f.list, f.more = f.list[:0], 0
	return list[:kept]
}

// tell notes the fault of a part.
func (f *faults) tell(app AppID, fault string) {
	if f.pass == sifts {
		f.parts = append(f.parts, PartFault{AppID(Clip(string(app), MostToken)), Clip(fault, mostFault)})
	}
}

// cut returns at most so many of list: applications with few parts keep them all, the others the same number of theirs,
// the first ones. So no application takes the place of another.
func cut[T any, P fitted[T]](list []T, most int) []T {
	have := map[AppID]int{}
	for i := range list {
		have[P(&list[i]).owner()]++
	}
	share := Level(have, most)
	clear(have)
	kept := list[:0]
	for i := range list {
		of := P(&list[i]).owner()
		if have[of]++; have[of] <= share {
			kept = append(kept, list[i])
		}
	}
	return kept
}

// Level is how much each may have, so that all together have no more than most of what they ask for.
func Level(asked map[AppID]int, most int) int {
	left := most
	all := slices.Sorted(maps.Values(asked))
	for i, n := range all {
		if share := left / (len(all) - i); n > share {
			return share
		}
		left -= n
	}
	return most
}

// above has less do to the parts of those that have too much where all have more than most together.
func above[T any, P fitted[T]](list []T, most int, has func(P) int, less func(P)) {
	all := 0
	for i := range list {
		all += has(P(&list[i]))
	}
	if all <= most {
		return
	}
	asked := map[AppID]int{}
	for i := range list {
		asked[P(&list[i]).owner()] += has(P(&list[i]))
	}
	share := Level(asked, most)
	for i := range list {
		if p := P(&list[i]); asked[p.owner()] > share {
			less(p)
		}
	}
}

// within refuses what is not a number from least to most, or brings it there; what is no number becomes least.
func within[N ~int | ~int64 | ~float64](f *faults, what string, v *N, least, most N) {
	switch {
	case *v >= least && *v <= most:
	case f.pass != fits:
		f.between(what, float64(*v), float64(least), float64(most))
	case *v > most:
		*v = most
	default:
		*v = least
	}
}

// short refuses a text that is longer than most, or clips it. A byte that is no character would be three on its way.
func short[S ~string](f *faults, what string, s *S, most int) {
	if f.pass != fits {
		f.text(what, string(*s), most)
		return
	}
	if len(*s) > most || !utf8.ValidString(string(*s)) {
		*s = S(Clip(strings.ToValidUTF8(string(*s), "?"), most))
	}
}
