package replay

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/units"
)

// Limit is how large a recorded history grows: some 18 hours of two executors at
// work, and ten days without any.
const Limit = 256 * units.MiB

// queueLength is how many calls may wait for the disk: two minutes of ticks.
const queueLength = 256

// Options say what a Recorder records where.
type Options struct {
	Path string
	// Node and Release are whose history it is, Start when the recording begins.
	Node    string
	Release string
	Start   time.Time
	// Clock is the loop's.
	Clock func() units.Instant
	// Fault is told why a recording ended before its time, once, by a goroutine of
	// the recorder's.
	Fault func(error)
	// Limit is Limit when 0.
	Limit units.Bytes
}

// Recorder writes a node controller's history. Begin and Record are for one
// goroutine, which they never let wait; Close may be called once they are done.
type Recorder struct {
	o     Options
	from  units.Instant
	file  *file
	w     *Writer
	queue chan kept
	done  chan struct{}
	once  sync.Once
	// why is set before queue is closed; over says that nothing is written any more.
	why   error
	over  atomic.Bool
	fault error // Of the goroutine, until done.
}

// kept is what waits to be written. The answer is turned into lines beside the
// loop, for the sums of a save and a report take long.
type kept struct {
	line    Line
	actions []node.Action
	events  []node.Event
}

// Open opens or continues the history o.Path. It returns an error when the file
// cannot be written, is no history, or is being written by another process.
func Open(o Options) (*Recorder, error) {
	if o.Limit == 0 {
		o.Limit = Limit
	}
	f, err := openFile(o.Path, int64(o.Limit)/2)
	if err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	r := &Recorder{o: o, from: o.Clock(), file: f, w: NewWriter(f), queue: make(chan kept, queueLength),
		done: make(chan struct{})}
	r.w.lines, r.w.bytes = f.lines, f.bytes
	if f.lines == 0 {
		err = r.w.Head(Line{Title: "node " + o.Node, Release: o.Release})
	}
	if err == nil {
		err = r.w.flush()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	go r.run()
	return r, nil
}

// Begin notes a new engine; saved is the State it goes on from, in JSON, nil for
// none.
func (r *Recorder) Begin(cfg node.Config, saved []byte) {
	l := New(r.o.Node, cfg, saved)
	l.Said = fmt.Sprintf("node controller %s started %s: law %s, strategy %s", r.o.Release,
		r.o.Start.UTC().Format(time.RFC3339),
		cfg.Controller.Law, cfg.Supervisor.Strategy)
	r.add(kept{line: l})
}

// Record notes a call of the engine: it is a node.Ports' Calls.
func (r *Recorder) Record(c node.Call) {
	if r.over.Load() {
		return
	}
	k := kept{line: told(r.o.Node, &c), actions: keepActions(c.Actions), events: append([]node.Event(nil), c.Events...)}
	k.line.At = r.at(c.Now)
	r.add(k)
}

func (r *Recorder) at(now units.Instant) float64 { return now.Sub(r.from).Seconds() }

func (r *Recorder) add(k kept) {
	if r.over.Load() {
		return
	}
	select {
	case r.queue <- k:
	default:
		r.stop(fmt.Errorf("the disk is too slow: %d calls were waiting", cap(r.queue)))
	}
}

// stop has the goroutine write what waits, and end.
func (r *Recorder) stop(why error) {
	r.once.Do(func() {
		r.over.Store(true)
		r.why = why
		close(r.queue)
	})
}

// Close writes what waits and the last line. It returns what could not be written,
// unless Fault was told of it.
func (r *Recorder) Close() error {
	r.stop(nil)
	<-r.done
	return errors.Join(r.fault, r.file.Close())
}

// run writes until the queue is closed. After a fault it takes what comes and
// writes nothing.
func (r *Recorder) run() {
	defer close(r.done)
	given := false
	give := func(err error) {
		given = true
		r.over.Store(true)
		r.o.Fault(fmt.Errorf("the history %s ends here: %w", r.o.Path, err))
	}
	last := 0.0
	for k := range r.queue {
		if given {
			continue
		}
		last = k.line.At
		if err := r.put(k); err != nil {
			give(errors.Join(err, r.w.End(last, err.Error())))
		} else if r.w.bytes >= int64(r.o.Limit) {
			err := fmt.Errorf("it has reached its %v; the next start of the node controller begins another", r.o.Limit)
			give(errors.Join(err, r.w.End(last, err.Error())))
		}
	}
	switch {
	case given:
	case r.why != nil:
		give(errors.Join(r.why, r.w.End(last, r.why.Error())))
	default:
		r.fault = r.w.End(last, "")
	}
}

// put writes a call and what happened in it, and all of the buffer when nothing
// else waits.
func (r *Recorder) put(k kept) error {
	if k.actions != nil {
		k.line.Actions = sayActions(k.actions)
	}
	if err := r.w.Write(&k.line); err != nil {
		return err
	}
	for _, e := range k.events {
		if err := r.w.Write(&Line{At: k.line.At, Who: "node", Name: r.o.Node, Said: e.String()}); err != nil {
			return err
		}
	}
	if len(r.queue) > 0 {
		return nil
	}
	return r.w.flush()
}
