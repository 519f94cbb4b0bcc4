// Package shaped simulates a cluster whose applications are given what they are foretold to use of memory, in the place
// of what they have reserved. It tries packages memory/forecast and memory/shaping as they are.
//
// # Source
//
// F. Pace, "Mechanisms for Efficient and Responsive Distributed Applications in Compute Clusters" (thesis, 2018),
// section 4.3: 150,000 applications on 250 machines of 128 GB, first come first served. Here it is a fiftieth of both
// unless Options say more: forecasts by gp are most of what a run costs.
//
// # The world
//
//	application  core components, without which it ends, and elastic ones; its rate is how many of both it has
//	request      memory of a component; the scheduler starts an application where the requests of its core fit
//	use          what a component uses: a part of its request, another one in each period, the same for all of one
//	             application
//	size         what a component may use: the request at first, and each period what the policy says
//	period       10 minutes, which is the source's time of grace: shaping begins with the second sample
//	oracle       the forecast that knows the next sample; it is in this package alone
//
// A component that uses more than its size takes the rest of what its machine has free, and fails where that is too
// little. Where all that is used is more than a machine has, the greatest user fails. An application fails with a core
// component, loses its work and waits again at its place by arrival; so does one that is preempted, which counts as no
// failure. After ten failures it keeps its request: the source does
// not say after how many.
//
// # What is made up
//
// The source's trace and its uses are not public. Sizes, times and courses of use are drawn (draw.go); the load, one
// number, is chosen among six for the gains under arima and gp, at which the cluster is saturated without shaping.
// Cores are not looked at.
//
// A world is one goroutine, and the same for the same seed; worlds run side by side. Memory is in GB.
package shaped
