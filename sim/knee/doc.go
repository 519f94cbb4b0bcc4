// Package knee tries the search for the smallest heap that costs nothing (package memory) on footprints like those of
// twelve applications.
//
// # Source
//
// G. Xu, "Data-Driven Intelligent Scheduling For Long Running Workloads In Large-Scale Datacenters" (thesis), section
// 3.4. Table 3.2 has, of each application, the heap of its first run, the mean and the peak of what that uses, for
// which part of the time. It also has the smallest heap that is enough, by trial. Table 3.3 has mean and deviation of
// one task. The deviations of Table 3.2 are left out: seven of them are greater than any that values from 0 to the
// peak can have.
//
// # What is made up
//
//	use         the peak's part of the time between nine tenths of the peak and the peak, and else even around what
//	            gives the mean; a heap below the peak has collections come sooner, and use shrinks with it
//	enough      what is enough moves by 1 % from run to run, what is live is 0.85 of it
//	too little  a heap below that has four to ten times the work, most of it collections; one below what is live ends
//	            the run
//
// A run with one task at a time comes first and is counted. Memory is in GB of the source, which are GiB here.
package knee
