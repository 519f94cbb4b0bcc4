// Package controller decides, step by step, how many cores one stage executor needs to end
// at its deadline: not late, and not earlier than it has to.
//
// # Concepts
//
//	Target     work to do, start, deadline, nominal rate
//	set point  a0, a ramp from what was done at the start to 1 at Start + Phi (Deadline - Start)
//	progress   a, the share of Weight that is done
//	request    rc, the cores that a Step asks for
//	grant      cc, the cores in force: the request, unless Granted says otherwise
//	chain      what is left for one slot: its task and the waiting ones that follow
//	State      all that a Controller remembers
//
// Movement scores how much a quota moves to and fro; Identify finds p and Kf from a recorded
// step response.
//
// # Law "pi"
//
// Baresi, Guinea, Leva, Quattrocchi, "Fine-grained Dynamic Resource Allocation for Big-Data
// Applications" (IEEE TSE), section 5:
//
//	Eq 8      rho(k) = p rho(k-1) + (1-p) f(c(k-1)), f of gain Kf
//	Eq 9-10   a%(k) = a%(k-1) + (100 q/Do) rho(k-1)
//	Eq 13     C(z) = K(z-a)/(z-1)
//	Eq 14-15  mu_P = 100 Kf/Do, tau_P = q/(1-p), mu_C = K(1-a)/q, tau_C = q/(1-a)
//	Eq 16     w_c = 1/(sqrt(eta) tau_P), phi_m = atan(sqrt(eta)) - atan(1/sqrt(eta))
//	Eq 17     K = Do(1-p)/(100 q Kf sqrt(eta)), a = (eta+p-1)/eta
//	Eq 18     xC(k) = xC(k-1) + (1-a) e(k-1), rc(k) = K xC(k) + K e(k), e = a0% - a%
//	Eq 19     xC(k) = c(k)/K - e(k)
//	Eq 20     tau_r = sqrt(eta) tau_P, settled after 5 tau_r
//
// with Do = Weight, Kf = Rate, q = Interval, and K in cores per per cent (Config.K: for the
// whole stage).
//
// # Law "pacer"
//
// Pacer's own asks for the work left over the time left T, to the last task:
//
//	left = Weight - done - hidden
//	lag = a0 Weight - (Weight - left)
//	c r H = left + trim max(0, lag) + idle(c)   with chains
//	c r max(T - tail(c), h) = left + trim lag   without
//	rc = c/u, smoothed
//
// where h is 3q, or q with chains of tasks that are alike; H = max(T, h); and
//
//   - hidden is predicted progress of running tasks, where only finished ones count;
//   - r, weight per core-second, is measured, from the nominal rate on (estimate.go);
//   - u is the share of a usable grant that is obtained, 0.5 to 1 (utilization.go);
//   - idle(c) is what c cores lose since a task uses one at most: the sum over j <= c of V1-Vj
//     for chains V1 >= V2 >= ... (chains.go); tail(c) stands in for it.
//
// A lag above d = max(1 % of Weight, 1) makes c at least (left/H + (lag-d)/max(1.25 tau_r,
// 3q))/r. Bounds and constants are in pacer.go, stability and reasons in docs/decisions/005
// and 008. Granted changes only what u compares with.
//
// # Both laws
//
// Once the set point is 1, or if the deadline is not after the start, the request is
// min(Max, Runnable Width). While Weight or a rate is missing it is Init; a measured rate stands in
// for a nominal one once a task's weight or 5 % of the stage is done.
//
// # Units
//
// Cores, core-seconds, weight (the mean task weighs 1), seconds; Instants of the node's
// monotonic clock.
//
// # What the caller must do
//
// Call Step once per tick with the page's timestamp; after an error nothing has changed.
// Call Granted only where a cut or a failed write makes what is in force differ from the
// request, with the value before rounding to the quantum (docs/decisions/006). Call Retarget
// for a new target; lost work needs no call.
package controller
