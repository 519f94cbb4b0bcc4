package profiles

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// keptVersions is how many versions of a profile are kept, the newest counted; one that is pinned is kept besides.
const keptVersions = 5

// Version is one of the versions of a profile.
type Version struct {
	// Number counts versions from 1. Since is when it became the newest, How the word for what made it, By the
	// application or user who did.
	Number int           `json:"number"`
	Since  units.Instant `json:"since_ns,omitempty"`
	How    string        `json:"how,omitempty"`
	By     string        `json:"by,omitempty"`
	// Body is packed. Until it is Whole stands in its place, but for the newest, which is the profile itself.
	Body  []byte       `json:"body,omitempty"`
	Whole *api.Profile `json:"whole,omitempty"`
}

// History has the versions of a profile that are kept, the oldest first. It is a value: its methods return another one.
type History struct {
	Versions []Version `json:"versions"`
	// Pinned is the number of the version that is planned with, 0 for the newest.
	Pinned int `json:"pinned,omitempty"`
}

// Find is the version of that number.
func (h History) Find(number int) (Version, bool) {
	i := slices.IndexFunc(h.Versions, func(v Version) bool { return v.Number == number })
	if i < 0 {
		return Version{}, false
	}
	return h.Versions[i], true
}

// Newest is the version that is the profile itself.
func (h History) Newest() Version {
	if len(h.Versions) == 0 {
		return Version{}
	}
	return h.Versions[len(h.Versions)-1]
}

// Add has another version become the newest, of which the number is given here, in the place of one with that body.
func (h History) Add(v Version, before *api.Profile) History {
	kept := slices.Clone(h.Versions)
	if before != nil {
		if len(kept) == 0 {
			kept = append(kept, Version{Number: 1}) // It was stored when nobody counted.
		}
		if last := &kept[len(kept)-1]; len(last.Body) == 0 {
			last.Whole = before
		}
	}
	v.Number = History{Versions: kept}.Newest().Number + 1
	return recent(append(kept, v), h.Pinned)
}

// Unpacked are the bodies of the versions that are not packed, of which newest is that of the newest.
func (h History) Unpacked(newest *api.Profile) (bodies map[Made]*api.Profile) {
	for i, v := range h.Versions {
		body := v.Whole
		if i == len(h.Versions)-1 {
			body = newest
		}
		if len(v.Body) == 0 && body != nil {
			if bodies == nil {
				bodies = map[Made]*api.Profile{}
			}
			bodies[v.Made()] = body
		}
	}
	return bodies
}

// Made tells a version from any other one of its profile: one that is taken back gives its number back.
type Made struct {
	Number int
	Since  units.Instant
}

// Made is v's.
func (v Version) Made() Made { return Made{v.Number, v.Since} }

// Packed has the body of a version packed, where the version is still there.
func (h History) Packed(of Made, body []byte) History {
	i := slices.IndexFunc(h.Versions, func(v Version) bool { return v.Made() == of })
	if i < 0 {
		return h
	}
	h.Versions = slices.Clone(h.Versions)
	h.Versions[i].Body, h.Versions[i].Whole = body, nil
	return h
}

// recent has those versions that are kept.
func recent(all []Version, pinned int) History {
	old := len(all) - keptVersions
	return History{slices.DeleteFunc(all, func(v Version) bool {
		old--
		return old >= 0 && v.Number != pinned
	}), pinned}
}

// Back is h without its newest version, in whose place the one before comes again.
func (h History) Back() History {
	kept := slices.Clone(h.Versions[:max(0, len(h.Versions)-1)])
	if len(kept) > 0 {
		kept[len(kept)-1].Whole = nil
	}
	if _, there := (History{Versions: kept}).Find(h.Pinned); !there {
		h.Pinned = 0
	}
	return History{kept, h.Pinned}
}

// Pin has the version of that number planned with, and kept; 0 is the newest, whichever that is.
func (h History) Pin(number int) (History, error) {
	if _, there := h.Find(number); !there && number != 0 {
		var kept []string
		for _, v := range h.Versions {
			kept = append(kept, fmt.Sprint(v.Number))
		}
		return h, fmt.Errorf("there is no version %d; there are %s", number, strings.Join(kept, ", "))
	}
	return recent(slices.Clone(h.Versions), number), nil
}

// Body is that of the version of a number, where newest is that of the newest and of 0.
func (h History) Body(number int, newest *api.Profile) (*api.Profile, error) {
	v, there := h.Find(number)
	switch {
	case !there && number != 0:
		_, err := h.Pin(number)
		return nil, err
	case v.Number == h.Newest().Number || number == 0:
		return newest, nil
	case v.Whole != nil:
		return v.Whole, nil
	}
	body, err := Unpack(v.Body)
	return &body, err
}

// Smaller differences are not told: those of less than a tenth, and stages of less than a hundredth of the work.
const (
	toldChange = 0.1
	toldPart   = 0.01
)

// Diff says in words what has changed from a to b: stages that are new or gone, and what takes or reads more. The most
// work comes first.
func Diff(a, b api.Profile) (said []string) {
	type change struct {
		work units.Work
		text string
	}
	var all []change
	least := toldPart * max(a.Work(), b.Work())
	tell := func(work units.Work, format string, args ...any) {
		if work >= least {
			all = append(all, change{work, fmt.Sprintf(format, args...)})
		}
	}
	found, paired := make([]bool, len(a.Stages)), pairs(a, b)
	for i, k := range paired {
		s := &b.Stages[i]
		if k < 0 {
			tell(s.CoreSeconds, "stage %d (%s) is new: %.1f core-seconds", s.ID, s.Name, s.CoreSeconds)
			continue
		}
		found[k] = true
		was := &a.Stages[k]
		var parts []string
		for _, of := range []struct {
			what    string
			was, is float64
		}{{"input", float64(was.Bytes), float64(s.Bytes)}, {"work", float64(was.CoreSeconds), float64(s.CoreSeconds)},
			{"tasks", float64(was.Tasks), float64(s.Tasks)}} {
			if of.what == "input" && (was.Bytes == 0 || s.Bytes == 0) {
				of.was, of.is = float64(was.Records), float64(s.Records)
			}
			if text := compared(of.was, of.is); text != "" {
				parts = append(parts, text+" "+of.what)
			}
		}
		if was.Failed != s.Failed {
			parts = append(parts, map[bool]string{true: "fails now", false: "fails no more"}[s.Failed])
		}
		if len(parts) > 0 {
			tell(max(was.CoreSeconds, s.CoreSeconds), "stage %d (%s): %s", s.ID, s.Name, strings.Join(parts, ", "))
		}
	}
	for k := range a.Stages {
		if s := &a.Stages[k]; !found[k] {
			tell(s.CoreSeconds, "stage %d (%s) is gone: %.1f core-seconds", s.ID, s.Name, s.CoreSeconds)
		}
	}
	slices.SortStableFunc(all, func(x, y change) int { return cmp.Compare(y.work, x.work) })
	for _, of := range []struct {
		what    string
		was, is float64
	}{{"work in all", float64(a.Work()), float64(b.Work())},
		{"time at all cores", float64(a.Duration), float64(b.Duration)},
		{"variants", float64(len(a.Variants) + 1), float64(len(b.Variants) + 1)},
		{"cores", float64(a.Cores), float64(b.Cores)}} {
		if text := compared(of.was, of.is); text != "" {
			said = append(said, text+" "+of.what)
		}
	}
	for _, c := range all {
		said = append(said, c.text)
	}
	for _, text := range Jumps(b) {
		if !slices.Contains(Jumps(a), text) {
			said = append(said, text)
		}
	}
	return said
}

// compared says how much more there is than there was, "" where that is about as much.
func compared(was, is float64) string {
	switch {
	case was == is || was > 0 && math.Abs(is/was-1) < toldChange:
		return ""
	case was <= 0 || is <= 0:
		return fmt.Sprintf("%.4g after %.4g", is, was)
	case math.Abs(is/was-2) < toldChange:
		return "twice the"
	case math.Abs(was/is-2) < toldChange:
		return "half the"
	case is > 2*was:
		return fmt.Sprintf("%.1f times the", is/was)
	case is > was:
		return fmt.Sprintf("%.0f %% more", 100*(is/was-1))
	}
	return fmt.Sprintf("%.0f %% less", 100*(1-is/was))
}
