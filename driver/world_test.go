package driver_test

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/units"
)

// world is Spark's and the planner's part, drawn at random: which executors and stages
// come and go, which tasks wait, run and are done. After each step it holds the bindings
// against what must be true of any.
type world struct {
	player
	draw  func(n int) int // From 0 to n-1.
	lines []string

	nodes     []string
	slots     int
	listed    []api.DirectiveExecutor
	alive     []api.ExecutorID
	nodeOf    map[api.ExecutorID]string
	perStage  map[string]int // By node, 0 for one.
	executors int
	stages    int
	epoch     int
	revs      int
	gated     bool
	opened    bool
	millis    int
	rested    bool // The last call has given back what no stage uses.
	work      []*job
}

// job is a stage with its tasks.
type job struct {
	key     api.StageKey
	weights []int64
	barrier bool
	retired bool
	copied  bool // A copy of a task was to start.
	waiting []int
	running map[int]api.ExecutorID
	at      map[int]api.ExecutorID // Where each task was started last.
}

// newWorld is one in which a stage has one executor of each node, or several.
func newWorld(draw func(n int) int, several bool) *world {
	w := &world{draw: draw, nodeOf: map[api.ExecutorID]string{}, perStage: map[string]int{}}
	w.do("new")
	w.nodes = []string{"a", "b", "c"}[:1+draw(3)]
	w.slots = 1 + draw(3)
	w.gated = draw(3) > 0
	for _, n := range w.nodes {
		more := 2
		if several {
			w.perStage[n], more = 1+draw(3), 5
		}
		for range 1 + draw(more) {
			w.add(n)
		}
	}
	w.tell()
	return w
}

// do makes a call and returns its result.
func (w *world) do(format string, args ...any) string {
	w.rested = false
	line := w.play(strings.TrimSpace(fmt.Sprintf(format, args...)))
	w.lines = append(w.lines, line)
	_, result, _ := strings.Cut(line, " -> ")
	return result
}

// step lets one thing happen.
func (w *world) step() {
	switch n := w.draw(22); {
	case n < 2 && w.stages < 12:
		w.submit()
	case n == 2 && len(w.alive) > 1:
		w.lose(w.alive[w.draw(len(w.alive))])
	case n == 3 && len(w.alive) < 8:
		w.add(w.nodes[w.draw(len(w.nodes))])
		w.tell()
	case n == 4:
		w.gated = !w.gated
		w.tell()
	case n < 7:
		w.end(true)
	case n < 11:
		w.end(false)
		w.copy()
	case n == 11 && len(w.listed) > 0:
		w.listed[w.draw(len(w.listed))].Leaving = true
		w.tell()
	case n == 12:
		w.shareOut()
	case n == 13 && len(w.work) > 0:
		w.repeat(w.work[w.draw(len(w.work))])
	case n == 14:
		w.millis += w.draw(8000)
		w.watch()
		if w.draw(2) == 0 {
			w.millis += int(driver.Rest.Milliseconds())
			w.watch()
			w.rested = true
		}
	case n == 15:
		w.rare()
	default:
		w.offer()
	}
	if w.draw(3) == 0 {
		w.do("changes")
		w.do("freed")
	}
}

func (w *world) watch() { w.opened = w.do("watch %d", w.millis) != "none" || w.opened }

// rare are calls that few drivers make.
func (w *world) rare() {
	switch w.draw(9) {
	case 8:
		line := "queue"
		for _, j := range w.work {
			if w.draw(3) > 0 {
				line += " " + named(j.key)
			}
		}
		w.do("%s", line)
	case 0:
		w.do("forget")
		w.epoch = 0
		w.tell()
	case 1:
		w.do("follow %d gated", max(0, w.epoch-1))
	case 2:
		w.do("admits 99.0 1")
		w.do("ended 99.0 1")
	case 3:
		w.do("executors")
		w.do("boundable")
		w.do("waited")
	case 4:
		if w.draw(4) == 0 {
			w.do("open streaming")
			w.do("gated")
		}
	default:
		for _, j := range w.work {
			w.do("heaviest %s", named(j.key))
			w.do("current %s", named(j.key))
		}
	}
}

func (w *world) add(node string) {
	w.executors++
	id := api.ExecutorID(fmt.Sprint(w.executors))
	w.nodeOf[id] = node
	// Now and then one that the planner has not listed, and nodes of unequal capacity.
	if w.draw(5) > 0 {
		w.listed = append(w.listed, api.DirectiveExecutor{ID: id, Node: node, PerStage: w.perStage[node],
			Cores: []units.Cores{0, 1, 1.5, 2.25, 8, -1}[w.draw(6)]})
	}
	w.alive = append(w.alive, id)
	w.do("up %s host-%s", id, node)
}

func (w *world) directive() string {
	w.epoch++
	out := fmt.Sprintf("follow %d %s", w.epoch, map[bool]string{true: "gated", false: "ungated"}[w.gated])
	for _, x := range w.listed {
		out += fmt.Sprintf(" %s@%s:%s", x.ID, x.Node, decimal(float64(x.Cores)))
		if x.PerStage > 0 {
			out += fmt.Sprintf(":%d", x.PerStage)
		}
		if x.Leaving {
			out += ":leaving"
		}
	}
	return out
}

func (w *world) tell() { w.do("%s", w.directive()) }

// shareOut is a hand-over to any of the executors, also some that the stage does not have.
func (w *world) shareOut() {
	if len(w.work) == 0 {
		return
	}
	w.revs++
	line := w.directive() + fmt.Sprintf(" shares %s %d", named(w.work[w.draw(len(w.work))].key), w.revs-w.draw(2))
	for _, id := range w.alive {
		if n := w.draw(21); n < 20 {
			line += fmt.Sprintf(" %s=%s", id, decimal(float64(n)/3))
		}
	}
	w.do("%s", line)
}

// submit has a stage ready, its tasks all alike or of unequal weights.
func (w *world) submit() {
	j := &job{key: api.StageKey{Stage: w.stages}, barrier: w.draw(12) == 0}
	w.stages++
	n := 1 + w.draw(14)
	j.weights = driver.Alike(n)
	if w.draw(2) == 0 {
		left := int64(n) * driver.MeanWeight
		for i := range j.weights {
			j.weights[i] = int64(1 + w.draw(2*driver.MeanWeight))
			left -= j.weights[i]
		}
		j.weights[0] = max(1, j.weights[0]+left)
	}
	w.start(j)
}

func (w *world) start(j *job) {
	j.running, j.at = map[int]api.ExecutorID{}, map[int]api.ExecutorID{}
	weights := fmt.Sprintf("%dx%d", len(j.weights), j.weights[0])
	if slices.ContainsFunc(j.weights, func(x int64) bool { return x != j.weights[0] }) {
		weights = strings.Trim(strings.ReplaceAll(fmt.Sprint(j.weights), " ", ","), "[]")
	}
	line := fmt.Sprintf("ready %s %d %s", named(j.key), w.draw(3), weights)
	for i := range j.weights {
		j.waiting = append(j.waiting, i)
	}
	if w.draw(2) == 0 {
		line += " cached"
		for _, id := range w.alive {
			line += fmt.Sprintf(" %s=%d", id, w.draw(3))
		}
	}
	if j.barrier {
		line += " barrier"
	}
	w.work = append(w.work, j)
	w.do("%s", line)
}

// repeat has another attempt take a stage's place.
func (w *world) repeat(j *job) {
	if w.draw(3) > 0 {
		return
	}
	next := &job{key: api.StageKey{Stage: j.key.Stage, Attempt: j.key.Attempt + 1}, weights: slices.Clone(j.weights[:1+w.draw(len(j.weights))])}
	if slices.ContainsFunc(w.work, func(o *job) bool { return o.key == next.key }) {
		return
	}
	if len(j.running) == 0 {
		w.finish(j)
	} else {
		w.do("retire %s", named(j.key))
		j.waiting, j.retired = nil, true
	}
	w.start(next)
}

func (w *world) finish(j *job) {
	w.work = slices.DeleteFunc(w.work, func(o *job) bool { return o == j })
	w.do("done %s", named(j.key))
}

func (w *world) busy(id api.ExecutorID) int {
	n := 0
	for _, j := range w.work {
		for _, at := range j.running {
			if at == id {
				n++
			}
		}
	}
	return n
}

// leaves reports whether Spark offers an executor no more.
func (w *world) leaves(id api.ExecutorID) bool {
	return slices.ContainsFunc(w.listed, func(x api.DirectiveExecutor) bool { return x.ID == id && x.Leaving })
}

// offer gives one executor, or now and then all, the tasks that they may start.
func (w *world) offer() {
	if one := w.draw(len(w.alive) + 1); one < len(w.alive) {
		w.offerTo(w.alive[one])
	} else {
		w.offerAll()
	}
}

func (w *world) offerAll() {
	for _, id := range w.alive {
		w.offerTo(id)
	}
}

func (w *world) offerTo(id api.ExecutorID) {
	if w.leaves(id) {
		return
	}
	for _, j := range w.work {
		for w.busy(id) < w.slots && len(j.waiting) > 0 {
			if w.draw(20) == 0 {
				w.do("admits %s %s speculative", named(j.key), id)
			}
			if w.do("admits %s %s", named(j.key), id) != "true" {
				break
			}
			k := w.draw(len(j.waiting))
			i := j.waiting[k]
			j.waiting = slices.Delete(j.waiting, k, k+1)
			j.running[i], j.at[i] = id, id
			w.do("launched %s %d %s", named(j.key), i, id)
		}
	}
}

// copy has the tasks that run alone copied where that is granted. The copy ends first, or the other attempt.
func (w *world) copy() {
	for _, j := range w.work {
		if j.retired || len(j.waiting) > 0 || len(j.running) != 1 {
			continue
		}
		for i, at := range j.running {
			if w.draw(3) > 0 {
				w.revs++
				w.do("%s shares %s %d", w.directive(), named(j.key), w.revs)
			}
			on := w.do("copy %s %d %d %s", named(j.key), i, 1900+w.draw(20000), at)
			if on == "none" {
				continue
			}
			j.copied = true
			id := api.ExecutorID(on)
			if w.draw(4) == 0 || w.leaves(id) || w.do("admits %s %s speculative", named(j.key), id) != "true" {
				continue
			}
			w.do("launched %s %d %s", named(j.key), i, id)
			if w.draw(2) == 0 {
				at, j.running[i], j.at[i] = id, at, at
			} else {
				j.running[i], j.at[i] = id, id
			}
			w.do("ended %s %s", named(j.key), at)
		}
	}
}

// end ends a task that runs; one that fails has to run again.
func (w *world) end(fails bool) bool {
	type place struct {
		j *job
		i int
	}
	var all []place
	for _, j := range w.work {
		for i := range j.weights {
			if _, ok := j.running[i]; ok {
				all = append(all, place{j, i})
			}
		}
	}
	if len(all) == 0 {
		return false
	}
	t := all[w.draw(len(all))]
	w.do("ended %s %s", named(t.j.key), t.j.running[t.i])
	delete(t.j.running, t.i)
	if fails {
		w.comeBack(t.j, t.i)
	} else {
		w.do("succeeded %s %d %d", named(t.j.key), t.i, 1+w.draw(900))
	}
	if len(t.j.running)+len(t.j.waiting) == 0 {
		w.finish(t.j)
	}
	return true
}

func (w *world) comeBack(j *job, i int) {
	if !j.retired && !slices.Contains(j.waiting, i) {
		j.waiting = append(j.waiting, i)
	}
	w.do("returned %s %d", named(j.key), i)
}

// lose takes an executor with what it ran, and the outputs of what it has done.
func (w *world) lose(id api.ExecutorID) {
	w.alive = slices.DeleteFunc(w.alive, func(x api.ExecutorID) bool { return x == id })
	w.do("gone %s", id)
	for _, j := range w.work {
		for i := range j.weights {
			if j.at[i] != id {
				continue
			}
			if _, runs := j.running[i]; runs {
				w.do("ended %s %s", named(j.key), id)
				delete(j.running, i)
			}
			delete(j.at, i)
			w.comeBack(j, i)
		}
	}
	for _, j := range slices.Clone(w.work) {
		if len(j.running)+len(j.waiting) == 0 {
			w.finish(j)
		}
	}
}

// check returns what is wrong with the bindings, "" for nothing.
func (w *world) check() string {
	bound, used := map[api.ExecutorID]string{}, map[api.ExecutorID]bool{}
	for _, j := range w.work {
		sum, total := 0.0, 0.0
		for _, x := range j.weights {
			total += float64(x) / driver.MeanWeight
		}
		if j.copied {
			total += float64(slices.Max(j.weights)) / driver.MeanWeight
		}
		nodes := map[string]int{}
		for _, x := range w.b.Current(j.key) {
			switch {
			case !slices.Contains(w.alive, x.Executor):
				return fmt.Sprintf("%v is bound to %s, which is lost", j.key, x.Executor)
			case w.isListed(x.Executor) && nodes[w.nodeOf[x.Executor]] >= max(1, w.perStage[w.nodeOf[x.Executor]]):
				return fmt.Sprintf("%v has one executor more on %s than it should", j.key, w.nodeOf[x.Executor])
			case w.b.Gated() && bound[x.Executor] != "":
				return fmt.Sprintf("executor %s is bound to %s and %v", x.Executor, bound[x.Executor], j.key)
			}
			if w.isListed(x.Executor) {
				nodes[w.nodeOf[x.Executor]]++
			}
			if !j.retired && (len(j.waiting) > 0 || w.runs(j, x.Executor) || !w.rested) {
				used[x.Executor] = true
			}
			bound[x.Executor] = named(j.key)
			sum += x.Weight
		}
		if sum > total+1e-6 || math.IsNaN(sum) {
			return fmt.Sprintf("%v has shares of %v, more than its %v", j.key, sum, total)
		}
	}
	return w.idle(used) + w.kept()
}

// kept returns a stage that waits beside one that keeps several executors of a node, one of which
// runs nothing, "" for none.
func (w *world) kept() string {
	waits := func(j *job) bool { return !j.barrier && len(j.waiting) > 0 && len(w.b.Current(j.key)) == 0 }
	if i := slices.IndexFunc(w.work, waits); i >= 0 && w.b.Gated() {
		for _, j := range w.work {
			count, idle := map[string]int{}, map[string]bool{}
			for _, x := range w.b.Current(j.key) {
				if node := w.nodeOf[x.Executor]; w.isListed(x.Executor) && !w.leaves(x.Executor) {
					count[node]++
					idle[node] = idle[node] || !w.runs(j, x.Executor)
				}
			}
			for node, n := range count {
				if n > 1 && idle[node] && w.perStage[node] > 1 && !j.barrier {
					return fmt.Sprintf("%v waits and %v has %d executors on %s, one of them idle", w.work[i].key, j.key, n, node)
				}
			}
		}
	}
	return ""
}

// divisible reports whether what waits is enough for each executor to get a millionth: of eight, one of which has
// eight times the capacity of others.
func (j *job) divisible() bool {
	rest := int64(0)
	for _, i := range j.waiting {
		rest += j.weights[i]
	}
	return rest >= 128
}

func (w *world) runs(j *job, id api.ExecutorID) bool {
	for _, at := range j.running {
		if at == id {
			return true
		}
	}
	return false
}

// idle returns a stage that waits beside an executor that nobody has, that has nothing of its
// stage to run or whose slots hold nothing but zombies, "" for none.
func (w *world) idle(used map[api.ExecutorID]bool) string {
	staying := slices.DeleteFunc(slices.Clone(w.alive), w.leaves)
	if slices.ContainsFunc(staying, w.isListed) {
		staying = slices.DeleteFunc(staying, func(id api.ExecutorID) bool { return !w.isListed(id) })
	}
	for _, id := range staying {
		for _, j := range w.work {
			if w.b.Gated() && !used[id] && len(j.waiting) > 0 && len(w.b.Current(j.key)) == 0 {
				return fmt.Sprintf("executor %s is idle and %v waits", id, j.key)
			}
		}
	}
	return ""
}

func (w *world) isListed(id api.ExecutorID) bool {
	return slices.ContainsFunc(w.listed, func(x api.DirectiveExecutor) bool { return x.ID == id })
}

// stranded returns a stage that nothing can start of although it has an executor that stays, or not on each of these
// that runs nothing of it, but zombies at most; "" for none. To ask is to divide anew, as offers do.
func (w *world) stranded() string {
	for _, j := range w.work {
		stays := func(x api.Binding) bool { return !w.leaves(x.Executor) }
		mine := w.b.Current(j.key)
		if len(j.waiting) > 0 && slices.ContainsFunc(mine, stays) &&
			!slices.ContainsFunc(mine, func(x api.Binding) bool { return w.do("admits %s %s", named(j.key), x.Executor) == "true" }) {
			return fmt.Sprintf("%v is stranded", j.key)
		}
		for _, x := range mine {
			if j.divisible() && stays(x) && !w.runs(j, x.Executor) &&
				w.do("admits %s %s", named(j.key), x.Executor) != "true" {
				return fmt.Sprintf("%v waits beside executor %s, which runs nothing of it", j.key, x.Executor)
			}
		}
	}
	return ""
}
