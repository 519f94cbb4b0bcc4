package sim

import (
	"flag"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/sim/des"
)

var (
	trials = flag.Int("trials", 10, "how many seeds TestChaos tries")
	first  = flag.Uint64("first", 1, "the first seed that TestChaos tries")
	limit  = flag.Duration("limit", time.Hour, "after how long TestChaos begins no other seed")
)

// found are seeds by which faults have found what was wrong.
type found struct {
	what  string
	seeds []uint64
}

// hold checks that the worlds of all those seeds are whole.
func hold(t *testing.T, world func(seed uint64) error, all []found) {
	t.Helper()
	if slow {
		t.Skip("takes too long with the race detector")
	}
	for _, f := range all {
		for _, seed := range f.seeds {
			if err := world(seed); err != nil {
				t.Errorf("%s: %v", f.what, err)
			}
		}
	}
}

// Seeds by which chaos has found what ended work that could go on.
func TestSeedsThatOnceFailed(t *testing.T) {
	hold(t, ampleTrial, []found{
		{"an executor on a lost node was given up of which its driver could not tell", []uint64{109, 85, 183}},
		{"another executor got the id of one that ran on a node that was away at a takeover", []uint64{169, 251}},
		{"a node was told to have nothing of an application that another planner had there", []uint64{179, 266}},
		{"of executors that were taken over nobody knew that the driver had them", []uint64{122, 139, 186}},
		{"an application was failed by silence whose driver alone had told of its executors", []uint64{34, 215}},
		{"a node was told of executors of an application, and ended those that another planner had started for it", []uint64{29, 203, 216, 273}},
		{"an application got another id from a planner without state, while the first one's planner came back", []uint64{59, 99}},
		{"a planner took the events that its driver told another one", []uint64{133, 781, 788}},
		{"a planner that came back counted executors as gone that their driver had again", []uint64{1058, 1352}},
		{"nodes that were taken from a planner stayed with the other one for ever", []uint64{2163}},
		{"two planners without state gave two applications one id in the same second", []uint64{2585}},
		{"executors with tasks were stopped on a node that could not hear for 15 minutes who had them", []uint64{5354, 5804, 6016, 6400}},
		{"an executor with tasks was stopped when it was taken over, for its node drained", []uint64{8602}},
		{"an executor that was asked to leave was stopped with tasks of a stage that was not bound to it", []uint64{9035}},
		{"a driver lost another planner's executor, and this one's of the same id was stopped for it", []uint64{10203}},
		{"executors that nobody had started counted as lost until no more were started", []uint64{10493, 25549, 26806}},
		{"a planner's clock was set back while it was down, and deadlines with it", []uint64{11978, 25308}},
		{"an idle executor was stopped whose driver could come to no planner", []uint64{26484}},
		{"a planner that restarted gave a node others before it had said whose executors it runs", []uint64{30626}},
		{"an executor with tasks on a lost node was given up, for its driver had told of another one of its id", []uint64{57920, 59034}},
		{"an executor that was asked to leave was taken to have left, while its node was away", []uint64{53676, 60236}},
		{"an executor that ran was given up with its node, for the driver had told of it while another one had its id", []uint64{82100}},
		{"an executor of the simulator never ended its start", []uint64{217}},
	})
}

// Seeds by which chaos has found what went wrong where memory is short.
func TestScarceSeedsThatOnceFailed(t *testing.T) {
	hold(t, func(seed uint64) error { return scarceTrial(seed, nil, nil) }, []found{
		{"of executors that were taken over the planner did not count what they have off the heap, and their limit was cut below that", []uint64{7, 10, 33}},
		{"one that waited never heard of its start, for its driver went by another planner's epochs", []uint64{49}},
		{"one that waited was ended by a planner that came while nodes gave less memory", []uint64{35}},
		{"one that waited passed others when the planner's clock was set", []uint64{167}},
		{"an executor started beside one that the plan did not know, without room for both", []uint64{217}},
		{"two planners had promised the same memory, and the one that went on had the executors of both", []uint64{938, 1141, 1496, 5244, 8106, 8219, 8576}},
		{"an application was failed by silence as its node came back", []uint64{744}},
		{"one that waited, and that another planner had started, was failed by silence", []uint64{8897}},
		{"an executor that a node could hold which was away for a moment was refused", []uint64{6535}},
		{"a node was lost as it started an executor, which was stopped when the node was back", []uint64{4518, 80196}},
		{"the check took a newcomer's latest start for known before it was", []uint64{100682}},
		{"a registration of one that had ended while its driver was away was delivered twice, and ended what the first had started", []uint64{201182}},
		{"an application ended before the planner's clock, which was set back, had come to its submission", []uint64{330201}},
		{"an executor that was asked for while its driver was not heard counted as one that had not moved for a minute", []uint64{310581}},
		{"the check compared a Plan that was stored late with one from before its node gave less", []uint64{202419, 204066}},
	})
}

// Seeds by which Trial has found what went wrong where a rule of the queue is drawn, or how memory is lent.
func TestSeedsWithRulesThatOnceFailed(t *testing.T) {
	hold(t, Trial, []found{
		{"one that waited was failed by silence while its node followed another planner, which had started it", []uint64{322278}},
		{"a node kept a share for an executor whose loan was taken back before it started", []uint64{1522244310}},
	})
}

// Seeds by which chaos has found what went wrong where memory is lent.
func TestSeedsWithLoansThatOnceFailed(t *testing.T) {
	hold(t, func(seed uint64) error { return scarceTrial(seed, nil, des.Random(seed, "lend")) }, []found{
		{"executors that were lent their memory counted as promised theirs for a planner that had lost its state", []uint64{31, 50}},
		{"whatever comes and goes, no more is promised than there is, and no more is used", []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
	})
}

// Seeds by which chaos has found what was wrong under an admission, which goes by the seed.
func TestSeedsWithAdmissionsThatOnceFailed(t *testing.T) {
	hold(t, func(seed uint64) error { return scarceTrial(seed, des.Random(seed, "rule"), nil) }, []found{
		{"one that waited at two planners took the directive of the one it did not speak to, and never heard of its start",
			[]uint64{703671, 702138, 703929}},
		{"the check took what started under hrrn for behind who came first a moment later", []uint64{703912}},
	})
}

// Seeds by which RunChaos has found what was wrong.
func TestSeedsWithFaultsThatOnceFailed(t *testing.T) {
	hold(t, func(seed uint64) error { return RunChaos(seed, nil) }, []found{
		{"a node controller that was restarted did not know of a quota beside a CPU time that it could not believe, and gave the cores to others", []uint64{108, 802}},
		{"an executor that its driver had got and lost again counted as there, though it had been asked to leave", []uint64{3442}},
		{"the check did not know that an executor was asked to leave a drained node before it had begun: its node heard of that late",
			[]uint64{1741907569}},
		{"a lost node was sent a Plan without an executor that it had started before it was lost, and stopped it", []uint64{100547}},
	})
}

// TestChaos: whatever dies or is cut, no healthy executor is stopped, no application is
// failed that could go on, and all come to their end.
func TestChaos(t *testing.T) {
	if slow {
		t.Skip("takes too long with the race detector")
	}
	began := time.Now()
	var tried, broken atomic.Int64
	var next atomic.Uint64
	next.Store(*first)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for time.Since(began) < *limit {
				seed := next.Add(1) - 1
				if seed >= *first+uint64(*trials) {
					return
				}
				tried.Add(1)
				if err := Chaos(seed); err != nil {
					broken.Add(1)
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	fmt.Printf("chaos.seeds %d\nchaos.broken %d\n", tried.Load(), broken.Load())
}
