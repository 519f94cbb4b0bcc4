package node

import "github.com/sparkpacer/pacer/units"

// width is how many cores one task of a stage can use on an executor. Most have one thread; native
// libraries start as many as they like, and only some programs say so (spark.task.cpus).
type width struct {
	// Most is the most that a task says or has been seen to use: its bound. Now is what it uses
	// where nothing holds it back, by which it is predicted.
	Most units.Cores `json:"most,omitempty"`
	Now  units.Cores `json:"now,omitempty"`
	// Known is what was known before.
	Known units.Cores `json:"known,omitempty"`
	// Seen is how many steps have looked at it.
	Seen int `json:"seen,omitempty"`
	// ran is how many tasks ran at the last step, ended how many had ended by then, last what each used.
	ran, ended int
	last       units.Cores
}

const (
	// severalCores is how much more than a core a task must use to count as one of several threads:
	// what a JVM does besides its tasks, compiling and collecting, counts to them too.
	severalCores units.Cores = 1.5
	// widthRoom is how much more a task may have than it was seen to use where its quota held it
	// back: it shows only so what it can use.
	widthRoom = 1.25
	// heldBack is the part of a quota that is used where that is what holds tasks back.
	heldBack = 0.95
	// widthGain is the part of a difference that is taken in at a step.
	widthGain = 0.25
	// widthFades is how fast what was seen fades where nothing is seen any more.
	widthFades = 0.05
	// widthSteps is for how many steps a new stage may have what the planner gives it, if that is more
	// than its tasks are known to use.
	widthSteps = 3
)

// expect begins with what is known of the stage's tasks; what was seen of them stays.
func (w *width) expect(known units.Cores) {
	w.Known = max(1, known)
	if w.Seen == 0 {
		w.Now = w.Known
	}
	w.Most = max(w.Most, w.Known)
}

// observe takes in what tasks have used, in cores, with quota in force; running of them run now, and
// ended have ended so far. No more than atOnce run side by side.
func (w *width) observe(used, quota units.Cores, running, ended, atOnce int) {
	tasks := max(w.ran, min(running+ended-w.ended, atOnce)) // As many as may have run at a time since the last step.
	w.ran, w.ended = running, ended
	if running <= 0 {
		return
	}
	w.Seen++
	each := used / units.Cores(max(1, tasks))
	if each < severalCores {
		each = 1
	}
	each, w.last = min(each, w.last), each // One reading may be of a garbage collection.
	held := used >= heldBack*quota
	switch {
	case each >= w.Now && each > 1 && held:
		w.Now = each * widthRoom
	case each >= w.Now:
		w.Now = each
	case !held:
		w.Now += (max(1, each) - w.Now) * widthGain
	default:
		w.Now += (w.Known - w.Now) * widthFades // It shows nothing, and what it showed may have been compiling.
	}
	w.Most = max(w.Most, w.Now)
}
