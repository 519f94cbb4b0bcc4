// Package controller decides, step by step, how many cores one stage executor
// needs to end at its deadline: not late, and not earlier than it must.
//
// # Concepts
//
// A Target says how much work there is (Weight, in the unit of the progress
// page), when it began and by when it has to be done. The set point a0 is a
// ramp from what was done at the start to 1 at Start + Phi (Deadline - Start)
// (Fig 5). Each Step compares it with the progress a and returns the request rc;
// the supervisor turns requests into grants cc, and Granted tells the
// controller where its request was not obeyed. A Controller is a value with a
// State: the State can be saved as JSON, and Restore goes on from it exactly.
//
// # Law "pi": the paper's
//
// Baresi, Guinea, Leva, Quattrocchi, "Fine-grained Dynamic Resource Allocation
// for Big-Data Applications" (IEEE TSE), section 5:
//
//	Eq 8      rho(k) = p rho(k-1) + (1-p) f(c(k-1))               plant, f of gain Kf
//	Eq 9-10   a%(k) = a%(k-1) + (100 q/Do) rho(k-1)               progress
//	Eq 13     C(z) = K (z-a)/(z-1)                                law
//	Eq 14-15  mu_P = 100 Kf/Do, tau_P = q/(1-p); mu_C = K(1-a)/q, tau_C = q/(1-a)
//	Eq 16     w_c = 1/(sqrt(eta) tau_P); phi_m = atan(sqrt(eta)) - atan(1/sqrt(eta))
//	Eq 17     K = Do (1-p)/(100 q Kf sqrt(eta)); a = (eta+p-1)/eta
//	Eq 18     xC(k) = xC(k-1) + (1-a)(a0%(k-1) - a%(k-1)); rc(k) = K xC(k) + K (a0%(k) - a%(k))
//	Eq 19     xC(k) = c(k)/K - a0%(k) + a%(k)
//	Eq 20     tau_r = sqrt(eta) tau_P, settled after 5 tau_r
//
// with Do = Weight, Kf = Rate, q = Interval. K is in cores per per cent here; in
// Config it is in cores for the whole (100 times that), as in the authors' code.
// After skipped slots the integral covers the real interval.
//
// # Law "pacer": Pacer's own
//
// The policy is work left over time left. With the rate r (weight per
// core-second) re-estimated at each step and u the share of what is granted that
// is really obtained, the request is the least c for which
//
//	c r left time u = work left + trim max(0, a0 Weight - done) + idle(c)
//
// where:
//
//   - r is a ratio of two exponentially forgetting sums of progress and CPU
//     really used, begun with the nominal rate at a small weight. A wrong profile
//     and a JVM that warms up are learned within about a tenth of the stage.
//   - u is the same of CPU really used and cores in force that the runnable tasks
//     could have used, over some 4 s, between 0.5 and 1: tasks wait for their
//     input, the whole JVM for its garbage collection (obtained.go).
//   - done includes what running tasks hide where only finished tasks count: the
//     progress that the CPU used since predicts, up to one task each.
//   - idle(c) is what c cores lose at the end because a task cannot use more than
//     one: the last task has to be in time, not the mean one. It follows from the
//     chains, what is left for each slot (chains.go): the needed rate is that of the
//     longest one. Of waiting tasks the worst that their sum allows is taken, so a
//     heavy task that comes last is in time, and one that came early sets time
//     free. Where chains are not known, tasks are taken to end evenly staggered.
//   - Being ahead of the ramp only lessens the request through the work left where
//     chains are known, and by trim too where they are not.
//   - A lag of more than 1 % of the stage and more than a task, as after a loss of
//     cores, is made up for with the time constant 1.25 tau_r, where capacity
//     allows: within 5 tau_r the stage is back on its ramp.
//   - The request follows with a time constant of two intervals (shorter near the
//     end); a change of more than a quarter passes faster. This keeps noise out
//     of the quota.
//   - A stage never gets less than half the pace it needs over the whole time (a
//     fifth where chains are known), and in its last three intervals the request is
//     not lowered: what looks nearly done may not be, and what follows the last
//     task runs at that quota. Where chains are known and tasks are alike
//     (Input.Alike) that holds for the last interval only: the error of what is left is then that
//     of many tasks. r forgets within the weight left.
//
// It does not oscillate: with T the time left and g the ratio of the true to the
// estimated rate, the distance x from the set point obeys
//
//	x' = -g (1 + trim) x/T + (1 - g) Weight/tco
//
// so a disturbance decays as T^(g (1 + trim)), without a change of sign, for
// every g > 0 (the PI's poles leave the real axis and reach |z| = .98 at g = 3),
// and the second term goes away as r is learned, which happens without
// feedback through the request. Sampled, the loop's gain is (1 + trim) q/horizon,
// at most 0.83 and that only at the very end (where tasks are alike it reaches 1
// at one interval: what is asked for is what the work left takes, and a lag is only made up for);
// the smoothing's time constant is at most a tenth of T. Making up for a lag is a first-order loop of gain q/(1.25
// tau_r) = 0.18, on one side of the ramp only. Dividing by u is a fixed-point
// iteration: where what is obtained grows with the grant with an elasticity
// between 0 and 1, it approaches from one side. The law has no integrator: the
// re-estimated rate takes its place. It winds up neither by clamps nor by cuts,
// because CPU that was not granted is simply work left, so Granted changes nothing
// in it but what u compares with.
//
// # Movement
//
// How much a law moves the quota is scored by the total variation discounted by its
// trend, 2 min(rises, falls), over the mean level (Movement): following a trend is
// free, hunting is not.
//
// # Identification
//
// Identify finds p and Kf of Eq 8 from a recorded step response: the rates of
// progress before and after the cores were changed.
//
// Both laws: once the set point is 1, or where the deadline is not after the
// start, the request is min(Max, Runnable). While Weight or Rate is unknown it
// is Init; a missing Rate is replaced by the measured one as soon as a task's weight
// or 5 % of the stage is done.
//
// # Units
//
// Cores, core-seconds, weight, seconds; Instants of the node's monotonic clock.
//
// # What the caller must do
//
// Call Step once per tick with the page's timestamp, then Granted if, and only
// if, what is in force differs from the request by a cut or a failed write,
// with the value before rounding to the quantum. (Calling it each tick with the
// rounded quota makes a dead zone of quantum/(K(1-a)): 4 % of progress for a
// stage of 20 core-seconds at p = 0.) Step does so itself where it clamps. Call
// Retarget when the planner changed the target; lost work (Done shrinks) needs no
// call. Errors of Step mean that the sample was refused and nothing changed.
//
// # What it does not do
//
// It knows no clock, quota, supervisor or page, and does not divide anything.
package controller
