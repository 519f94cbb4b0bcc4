package probe

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Switches are rules for which the thesis is silent or contradicts itself, by the names of their readings, the default
// first. The last two are no readings, but what is left out to see what it is worth.
var Switches = [switches]string{
	overtake: "overtake corrected|printed", bound: "bound above|reached",
	average: "average waiting-rounded|waiting-floor|all", threshold: "threshold with-own|without",
	load: "load queued|with-running", overdue: "overdue stays|evicted",
	idle: "idle reclaims|leaves", state: "state piggyback|global",
	rounds: "rounds apart|together", resubmitted: "resubmitted uncounted|counted",
	guard: "guard turn|none", bounds: "bounds refresh|arrival",
	crash: "crash refused|silent",
	order: "queue reordered|fifo|lifo", rotation: "rotation on|off",
}

// The switches.
const (
	overtake    = iota // A job that is overtaken will not be late; or is long overdue, as line 5 of Algorithm 1 says.
	bound              // A queue is cut above its bounds; or when it reaches one.
	average            // Phi is of probes that wait, rounded or cut off; or of all.
	threshold          // Mu is omega with the job's own work; or without.
	load               // The load of a queue is what waits; or with what runs.
	overdue            // Such a probe is not cut; or as any other.
	idle               // A worker with nothing to do takes a marked probe back; or hands on all.
	state              // The shared state comes with messages; or is known to all at once.
	rounds             // Workers end their rounds one after the other; or all at one instant.
	resubmitted        // A probe that is sent again is not counted; or counts.
	guard              // A probe that was all around the ring stays, though it may be overtaken; or goes on.
	bounds             // A queue is cut whenever the state is newer; or only when a probe comes.
	crash              // Who sends to a worker that has crashed hears that nobody is there; or nothing.
	order              // The queue's order.
	rotation           // Probes are handed on; or stay.
	switches
)

// Rules are the readings of the switches, each an index into its values.
type Rules [switches]uint8

// With is r with "NAME VALUE" chosen. The error lists what there is.
func (r Rules) With(choice string) (Rules, error) {
	name, value, _ := strings.Cut(choice, " ")
	for i, s := range Switches {
		known, values, _ := strings.Cut(s, " ")
		at := slices.Index(strings.Split(values, "|"), value)
		switch {
		case name != known:
		case at < 0:
			return r, fmt.Errorf("%s %q: want one of %s", name, value, values)
		default:
			r[i] = uint8(at)
			return r, nil
		}
	}
	return r, fmt.Errorf("unknown switch %q: want one of %s", name, strings.Join(Switches[:], ", "))
}

// Together reports whether all workers end their rounds at one instant.
func (r Rules) Together() bool { return r[rounds] != 0 }

// Refused reports whether the shell has to tell who sends to a worker that has crashed.
func (r Rules) Refused() bool { return r[crash] == 0 }

// Config is what engines of one cluster share. They only read it.
type Config struct {
	Rules Rules
	// Workers and Schedulers are how many there are, Successors how many workers after itself a worker knows.
	Workers, Schedulers, Successors int
	// Round is how long a worker collects marked probes, Scan how often a scheduler looks for lost tasks and counts anew.
	Round, Scan time.Duration
	// Tries is how often a message that is not acknowledged is sent, Retry apart, before its receiver counts as dead. With
	// 0 the network is trusted: nothing is acknowledged or looked for.
	Tries int
	Retry time.Duration
	// board has the state that all know at once.
	board *Shared
}

// Default is the configuration of the source's simulations: rounds of a second, and a network that is trusted.
func Default(workers, schedulers int) Config {
	return Config{Workers: workers, Schedulers: schedulers, Round: time.Second, Successors: 3, Retry: time.Second,
		Scan: 5 * time.Second, board: &Shared{}}
}

// Validate says what is wrong with c.
func (c Config) Validate() error {
	if min(c.Workers, c.Schedulers, c.Successors) < 1 || min(c.Round, c.Retry, c.Scan) <= 0 || c.Tries < 0 {
		return fmt.Errorf("%+v: want what Default returns with numbers and times above 0, and tries not below", c)
	}
	return nil
}

// margin is how much later than mu and theta a task is that counts as lost.
func (c *Config) margin() time.Duration { return 2*c.Round + time.Second }

// Count is a number of probes (P) and the sum of their estimates (W).
type Count struct {
	Probes int
	Work   time.Duration
}

func (c Count) plus(d Count) Count { return Count{c.Probes + d.Probes, c.Work + d.Work} }

// Shared is the state of c over so many workers.
func (c Count) Shared(workers int, r Rules) Shared {
	n := float64(max(1, workers))
	phi := max(0, float64(c.Probes)-n) / n
	switch r[average] {
	case 0:
		phi = math.Round(phi)
	case 1:
		phi = math.Floor(phi)
	default:
		phi = float64(c.Probes) / n
	}
	return Shared{Probes: phi, Load: c.Work / time.Duration(max(1, workers))}
}
