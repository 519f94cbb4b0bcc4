// Package zoe replays the experiment by which the flexible scheduler was shown on a real
// cluster, on the engines of planner and nodes: F. Pace, "Mechanisms for Efficient and
// Responsive Distributed Applications in Compute Clusters" (2018), section 3.5.
//
// # Concepts
//
//	trace    100 applications by a seed: when each comes, and what it is
//	flavour  one of the source's applications: its units and its work
//	way      a rule and an order by which units are granted
//	case     what a way gave over the seeds
//	figure   a number of one case over the same of another one, seed by seed
//
// Ten nodes hold two units each. A fifth of the applications is rigid, a fifth interactive, a
// fifth is elastic and due at 1.5 to 4 times what it takes alone, the rest is elastic and due
// never. The same trace runs under each way.
//
// # What is the source's and what is made up
//
// The source's are the gaps between arrivals, the share of rigid applications, and what part of
// the cluster's memory each flavour asks for. How long they take is not given: their work is chosen so
// that four fifths of the cores are asked for. Interactive applications and deadlines are additions.
//
// # What the caller must do
//
// Call Run; the same Options give the same Table. Claims has what the source says of it.
package zoe
