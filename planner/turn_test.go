package planner_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
)

// Whatever steps ask for and however often the store fails, the oracle being a list of all
// that was asked: nothing is sent that is not stored, in the end all of it is stored, the
// newest Plan of each node and Directive of each application is sent once, and each request
// is answered once, with a refusal where its turn could not be stored.
func TestATurnSaysNothingThatIsNotStored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var turn planner.Turn
		asked, disk := map[string]string{}, map[string]string{}
		plans, directives := map[string]uint64{}, map[api.AppID]uint64{}
		var waiting []planner.Ticket
		ticket, epoch := planner.Ticket(0), uint64(0)
		end := func(full bool) {
			actions, err := turn.End(func(changes []api.Pair) error {
				if full {
					return errors.New("disk full")
				}
				for _, c := range changes {
					disk[c.Key] = string(c.Value)
				}
				return nil
			})
			stored := cmp.Equal(asked, disk)
			if stored == (err != nil) {
				t.Fatalf("%v, though all is stored: %v", err, stored)
			}
			rank, last := 0, ""
			for _, action := range actions {
				at, key := 0, ""
				switch a := action.(type) {
				case planner.PublishPlan:
					at, key = 1, a.Plan.Node
					if plans[key] != a.Plan.Epoch {
						t.Fatalf("plan %d of %s, the newest that waits is %d", a.Plan.Epoch, key, plans[key])
					}
					delete(plans, key)
				case planner.PublishDirective:
					at, key = 2, string(a.App)
					if directives[a.App] != a.Directive.Epoch {
						t.Fatalf("directive %d of %s, the newest that waits is %d", a.Directive.Epoch, key, directives[a.App])
					}
					delete(directives, a.App)
				case planner.Reply:
					at, key = 3, fmt.Sprintf("%09d", a.To)
					if refused := a.Body.(api.EventsReply).Error != nil; refused == stored {
						t.Fatalf("request %d is refused: %v, though its turn is stored: %v", a.To, refused, stored)
					}
					i := slices.Index(waiting, a.To)
					waiting = slices.Delete(waiting, i, i+1)
				}
				if at < rank || at == rank && key <= last {
					t.Fatalf("%T of %s comes after %s", action, key, last)
				}
				if !stored && at < 3 {
					t.Fatalf("%T is sent, though its turn is not stored", action)
				}
				rank, last = at, key
			}
			if len(waiting) > 0 || stored && len(plans)+len(directives) > 0 {
				t.Fatalf("left to answer %v, to send %v and %v", waiting, plans, directives)
			}
		}
		for range rapid.IntRange(1, 12).Draw(t, "turns") {
			for range rapid.IntRange(0, 4).Draw(t, "steps") {
				var actions []planner.Action
				var save planner.Save
				for range rapid.IntRange(0, 3).Draw(t, "changes") {
					epoch++
					key, value := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key"), fmt.Sprint(epoch)
					asked[key] = value
					save.Changes = append(save.Changes, api.Pair{Key: key, Value: []byte(value)})
				}
				if len(save.Changes) > 0 {
					actions = append(actions, save)
				}
				for _, node := range rapid.SliceOfN(rapid.SampledFrom([]string{"n1", "n2", "n3"}), 0, 3).Draw(t, "plans") {
					epoch++
					plans[node] = epoch
					actions = append(actions, planner.PublishPlan{Plan: api.Plan{Node: node, Epoch: epoch}})
				}
				for _, app := range rapid.SliceOfN(rapid.SampledFrom([]api.AppID{"x", "y"}), 0, 2).Draw(t, "directives") {
					epoch++
					directives[app] = epoch
					actions = append(actions, planner.PublishDirective{App: app, Directive: api.Directive{Epoch: epoch}})
				}
				if rapid.Bool().Draw(t, "asked") {
					ticket++
					waiting = append(waiting, ticket)
					actions = append(actions, planner.Reply{To: ticket, Body: api.EventsReply{V: api.Version}})
				}
				turn.Take(actions)
			}
			end(rapid.Bool().Draw(t, "disk full"))
		}
		end(false)
	})
}
