// Package unknown shows what an admission is worth to applications with a deadline whose work nobody knows, on
// the engines of planner and nodes: E. Dimopoulos, "Resource Allocation in Multi-analytics, Resource-Constrained
// Environments" (2018), reserves for them what earlier deadlines have needed (section 4).
//
// # Concepts
//
//	trace      40 applications by a seed: when each comes, what it is, when it is due
//	new        of an application: it has a name of its own, so that there is no profile
//	known      of an application: the planner has the profile of its run alone
//	admission  what the planner promises a new one (planner.Config.Admission)
//	case       what an admission gave over the seeds
//	figure     a number of one case, or of one over the same of another one
//
// The applications are those of Table 4 of Baresi et al. (sim/paper), on their cluster: 4 nodes of 16 cores. Each is
// due at 1.2 to 5 times what it takes alone; half of them are new. Their work is 1.8 times what the cores can do until
// the last one comes. An application's work is not one number: a core does more than twice as much where it has few of
// them. So there are two loads: 1.8 by what each uses under the mean of the deadlines (Paced), and 1.8 by what it uses
// at all cores (AllCores), which those that share do with half of.
// The same trace runs under each admission.
//
// # What is made up
//
// The source has no such experiment: which applications come is drawn, gaps between them are exponential.
//
// # What the caller must do
//
// Call Run; the same Options give the same Table.
package unknown
