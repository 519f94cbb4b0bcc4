// Package memory divides a node's memory among the applications that run there:
// heaps as their users asked, the rest as equal shares of off-heap memory.
//
// # Source
//
// Baresi, Guinea, Leva, Quattrocchi, "Fine-grained Dynamic Resource Allocation
// for Big-Data Applications" (IEEE TSE), section 3.2. With M the memory, A the
// running applications and h an application's heap, which is static:
//
//	pool        O   = M - h |A|
//	share       o   = O / |A|
//	arrival     O'  = O - h      o'  = O' / (|A| + 1)
//	departure   O'' = O + h      o'' = O'' / (|A| - 1)
//
// Pacer does this per node, where h is the sum over the application's executors there of heap and overhead (max(384
// MiB, a tenth of the heap) unless the user said otherwise). It may differ from one application to the next. A share is
// divided equally by the application's executors. An application whose user fixed the off-heap size gets that, out of
// the pool. Applications may declare weights and floors: a share is then max(floor, level x weight), with the level at
// which the shares come to the pool; equal weights without floors are the paper's.
//
// All sizes are bytes; a share per executor is rounded down to a MiB. The
// functions are pure and safe for concurrent use.
//
// # Heaps that find their size
//
// Xu, "Data-Driven Intelligent Scheduling For Long Running Workloads In Large-Scale Datacenters" (thesis), 3:
// Estimate and Knee are Eq 3.3 to 3.10, the search for the smallest heap at which an application that runs again
// and again is not slower, with guards of Pacer's own (KneeParams). A Knee is a value that its caller keeps, and
// not safe for concurrent use.
//
// # What the caller must do
//
// Start executors at their floors (Floor), shrink before a new application starts, and
// grow after one has gone: package node does.
//
// # What it does not do
//
// It changes no executor, and does not look at what is used.
package memory
