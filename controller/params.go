package controller

// Params are the numbers of the law `pacer` and of what it learns, but for those of Config. They are Pacer's own and
// were chosen in the simulator (docs/decisions/005-own-control-law.md). Numbers of Rate are shares of the stage or
// plain weights, so that they mean the same for a stage of seconds and one of hours.
type Params struct {
	Law  Law
	Rate Rate
	Used Used
	Step Step
}

// Law is how the work left becomes a request.
type Law struct {
	// Trim is how much of the distance to the set point is added to the work left, 1.5: an error decays as
	// (time left)^(1 + Trim).
	Trim float64
	// ShortestHorizon keeps the division by the time left finite and the loop's gain (1 + Trim)/ShortestHorizon below 1,
	// in intervals; 3. FinestHorizon is the same where what is left of each task is seen and they are alike, 1: the
	// whole error of what was predicted is then that of many tasks.
	ShortestHorizon, FinestHorizon float64
	// Allowed is how far a stage may lag behind its set point, as a share of it and at least a task; 0.01. Then the lag is
	// made up for with the time constant CatchUp tau_r, 1.25 (Eq 20): after 5 tau_r 2 % of it are left.
	Allowed, CatchUp float64
	// Smoothing is the time constant with which the request follows, in intervals, 2, never more than SmoothingShare of
	// the time left, 0.1. Noise is the relative change of the request that is smoothed fully, 0.25: the more a change
	// exceeds it, the faster it passes.
	Smoothing, SmoothingShare, Noise float64
	// LeastPace bounds the request from below, as a share of the pace that the whole stage needs, 0.5: what looks nearly
	// done may not be. LeastPaceSeen is the same where what is left of each task is seen, 0.2. A task that is alone then
	// may be slower, but gets LeastOfTask of a core; 0.25.
	LeastPace, LeastPaceSeen, LeastOfTask float64
	// LeastLeft is the weight that an unfinished task has left at least, 0.05: a running task never counts as more than
	// 0.95 done.
	LeastLeft float64
	// Handed is the part of the time left that chains are given, 0.995: near a deadline that the longest chain just meets,
	// noise would ask for all or nothing. Rounds is how many tasks per slot are placed one by one, 2: those before them
	// are as good as fluid.
	Handed float64
	Rounds int
}

// Rate is how the weight done per core-second is learned.
type Rate struct {
	// Prior is the weight that the nominal rate has at the start, as a share of the stage, 0.03: a nominal rate may be
	// wrong by a factor of three.
	Prior float64
	// Memory is the share of the stage after which what was learned has lost two thirds of its weight, 0.25: rates change
	// while the JIT compiler works. MemoryTasks is the same in tasks per running task, where the stage is short; 2.
	Memory, MemoryTasks float64
	// Stall is the gain, per step, of the share of steps without visible progress; 0.15.
	Stall float64
	// Span bounds the measured rate to this factor around the nominal one; 10.
	Span float64
	// Ready is the progress that a rate must rest on where there is no nominal one, in tasks, 1, or as the share
	// ReadyShare of the stage, 0.05, whichever is less. ReadySpent is the CPU time in seconds that it must rest on as
	// well, 1e-6: less is not measured, and a rate out of nothing overflows.
	Ready, ReadyShare, ReadySpent float64
}

// Used is how the share of a grant that is really used is learned.
type Used struct {
	// Time is the time constant, in intervals, with which it is forgotten; 8.
	Time float64
	// Enough is the share that counts as all, 0.95: a quota is a multiple of the quantum, and a tick is not aligned with
	// the quota's period.
	Enough float64
	// Least bounds the share that a request makes up for, 0.5: tasks that wait for the network or the disk do not get
	// faster by it beyond that.
	Least float64
}

// Step is what a step response has to be like (Identify).
type Step struct {
	// Points is how many rates are needed, 8: two parameters and a few samples on both levels.
	Points int
	// Ratio is the least ratio of the highest to the lowest number of cores, 1.2; Grid the resolution with which the
	// pole is searched at first, 0.02.
	Ratio, Grid float64
}

// Numbers returns what node controllers use.
func Numbers() Params {
	return Params{
		Law: Law{Trim: 1.5, ShortestHorizon: 3, FinestHorizon: 1, Allowed: 0.01, CatchUp: 1.25, Smoothing: 2,
			SmoothingShare: 0.1, Noise: 0.25, LeastPace: 0.5, LeastPaceSeen: 0.2, LeastOfTask: 0.25, LeastLeft: 0.05,
			Handed: 0.995, Rounds: 2},
		Rate: Rate{Prior: 0.03, Memory: 0.25, MemoryTasks: 2, Stall: 0.15, Span: 10, Ready: 1, ReadyShare: 0.05,
			ReadySpent: 1e-6},
		Used: Used{Time: 8, Enough: 0.95, Least: 0.5},
		Step: Step{Points: 8, Ratio: 1.2, Grid: 0.02},
	}
}

var params = Numbers()
