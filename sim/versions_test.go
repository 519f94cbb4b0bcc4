package sim

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// meddler puts profiles, pins versions and lets them go while applications run and faults rain, and looks at what is kept.
type meddler struct {
	*testing.T
	w *World
	// bodies are those of versions, by their numbers, as they were shown first once they were not the newest.
	bodies map[int]api.Profile
	newest int
	done   map[string]int
}

const meddled = "app"

// step does one thing at random.
func (m *meddler) step(what int, number int) {
	q := api.ControlRequest{Profile: meddled}
	verb := []api.Verb{api.VerbProfilePut, api.VerbPin, api.VerbPin, api.VerbUnpin}[what]
	switch verb {
	case api.VerbProfilePut:
		p, there := m.w.Profile(meddled)
		if !there {
			return
		}
		p.Stages = append([]api.ProfileStage{}, p.Stages...)
		p.Stages[0].CoreSeconds *= 1.01
		p.Stages[0].NominalRate /= 1.01
		q.Body = &p
	case api.VerbPin:
		q.Query = &api.Query{To: number}
	}
	if _, ok := m.w.control.query(verb, q); ok {
		m.done[string(verb)]++
	}
	m.look()
}

// look checks the versions that are kept.
func (m *meddler) look() {
	r, ok := m.w.control.query(api.VerbVersions, api.ControlRequest{Profile: meddled})
	if !ok || r.History == nil {
		return // The planner is down.
	}
	all := r.History.Versions
	if len(all) == 0 || len(all) > 6 || all[0].Number < m.newest {
		m.Fatalf("%d versions, the newest is %+v after %d", len(all), all, m.newest)
	}
	m.newest = all[0].Number
	for i, v := range all {
		if i > 0 && v.Number >= all[i-1].Number || i == 5 && !v.Pinned {
			m.Fatalf("versions %+v", all)
		}
		shown, ok := m.w.control.query(api.VerbProfile, api.ControlRequest{Profile: meddled, Query: &api.Query{To: v.Number}})
		if !ok || len(shown.Profiles) != 1 {
			m.Fatalf("version %d cannot be read: %v", v.Number, shown.Error)
		}
		if before, seen := m.bodies[v.Number]; seen {
			if d := cmp.Diff(before, shown.Profiles[0], cmpopts.EquateEmpty()); d != "" {
				m.Fatalf("version %d has changed: %s", v.Number, d)
			}
		} else if i > 0 {
			m.bodies[v.Number] = shown.Profiles[0]
		}
	}
}

// Whatever dies while profiles are put and versions pinned: those that are kept stay what they were, and all
// applications come to their end.
func TestChaosWithPinsAndVersions(t *testing.T) {
	if slow {
		t.Skip("takes too long with the race detector")
	}
	done := map[string]int{}
	for _, seed := range []uint64{3, 5, 6, 8} {
		m := &meddler{T: t, bodies: map[int]api.Profile{}, done: done}
		w, err := rained(seed, nil, func(w *World) {
			m.w = w
			r := des.Random(seed, "versions")
			for at := w.Now(); at < w.Now()+400; at += units.Seconds(5 + 10*r.Float64()) {
				what, number := r.IntN(4), 1+r.IntN(12)
				w.clock.At(units.Instant(at.Duration()), rankFault, 0, func() { m.step(what, number) })
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		m.w = w
		m.look()
	}
	for verb, least := range map[api.Verb]int{api.VerbProfilePut: 10, api.VerbPin: 5, api.VerbUnpin: 5} {
		if done[string(verb)] < least {
			t.Errorf("%s was done %d times", verb, done[string(verb)])
		}
	}
}
