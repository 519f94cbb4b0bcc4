package async_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/sparkpacer/pacer/infra/async"
)

func TestJobsOfOneKeyKeepTheirOrderAndOthersDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var jobs async.Jobs[string]
		var results async.Results[string]
		gate := make(chan struct{})
		jobs.Run("a", func() { <-gate; results.Add("a1") })
		jobs.Run("a", func() { results.Add("a2") })
		jobs.Run("b", func() { results.Add("b1") })
		synctest.Wait()
		if got := results.Take(); !slices.Equal(got, []string{"b1"}) {
			t.Errorf("beside a job that waits %v ended, want b1", got)
		}
		close(gate)
		jobs.Wait()
		if got := results.Take(); !slices.Equal(got, []string{"a1", "a2"}) {
			t.Errorf("%v ended, want a1 and then a2", got)
		}
		if got := results.Take(); len(got) != 0 {
			t.Errorf("%v was taken twice", got)
		}
		jobs.Run("a", func() { results.Add("a3") })
		jobs.Wait()
		if got := results.Take(); !slices.Equal(got, []string{"a3"}) {
			t.Errorf("after a rest %v ended, want a3", got)
		}
	})
}

func copyInts(into, from *[]int) { *into = append((*into)[:0], *from...) }

func TestTheNewestValueIsCarriedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var carried []int
		latest := async.NewLatest(func(v *[]int) { <-gate; carried = append(carried, (*v)...) }, copyInts)
		value := []int{0}
		var tickets []async.Ticket
		for i := range 4 {
			value[0] = i // The value stays the caller's.
			tickets = append(tickets, latest.Offer(&value))
			synctest.Wait()
		}
		var awaited [4]bool
		var mu sync.Mutex
		for i, ticket := range tickets {
			go func() {
				latest.Await(ticket)
				mu.Lock()
				defer mu.Unlock()
				awaited[i] = true
			}()
		}
		gate <- struct{}{}
		synctest.Wait()
		if awaited != [4]bool{true, false, false, false} {
			t.Errorf("with the first one carried out %v are", awaited)
		}
		gate <- struct{}{}
		latest.Wait()
		synctest.Wait()
		if !slices.Equal(carried, []int{0, 3}) {
			t.Errorf("%v were carried out, want the first, which was under way, and the newest", carried)
		}
		if awaited != [4]bool{true, true, true, true} {
			t.Errorf("a newer value stands for older ones: %v", awaited)
		}
		latest.Await(0)
	})
}

func TestALaneTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lane := async.Lane[string]{Each: 3, All: 5}
		gate := make(chan struct{})
		var ran []string
		run := func(key, name string) bool {
			if !lane.Enter(key) {
				return false
			}
			lane.Run(key, func() { <-gate; ran = append(ran, name); lane.Leave(key) })
			return true
		}
		for _, c := range []struct {
			key, name string
			in        bool
		}{{"a", "a1", true}, {"a", "a2", true}, {"a", "a3", true}, {"a", "a4", false}, {"b", "b1", true}, {"c", "c1", true}, {"d", "d1", false}} {
			if got := run(c.key, c.name); got != c.in {
				t.Errorf("%s has a place: %v", c.name, got)
			}
			synctest.Wait()
		}
		gate <- struct{}{}
		synctest.Wait()
		if !run("a", "a4") || run("a", "a5") {
			t.Error("a place that was given back is not there, or more than that")
		}
		close(gate)
		lane.Wait()
		if want := []string{"a1", "a2", "b1", "c1", "a3", "a4"}; !slices.Equal(ran, want) {
			t.Errorf("%v ran, want %v", ran, want)
		}
		if !run("d", "d1") {
			t.Error("no place is given back")
		}
		lane.Wait()
	})
}
