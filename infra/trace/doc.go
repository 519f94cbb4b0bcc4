// Package trace reads the trace of a cluster and says how unevenly it is used.
//
// # Source
//
// Xu, "Data-Driven Intelligent Scheduling For Long Running Workloads In Large-Scale Datacenters" (thesis), chapter
// 6: the rows of Table 6.11, and the four imbalances that the chapter finds: over machines, over hours, of CPU
// against memory, and of batch jobs against services.
//
// # Files
//
// A directory has any of these; each is read once, row by row:
//
//	batch_task.csv, batch_instance.csv, container_event.csv, container_usage.csv, server_event.csv, server_usage.csv
//	    of the public Alibaba trace of 2017, columns by its schema.csv; a heading is passed over
//	apps.json   what `pacer apps -o json` prints: each application that has ended is a job with one task
//	cores.json  what `pacer` answers to GET /api/v1/cores: one machine of all cores, with its CPU over time
//
// Times are seconds from the trace's start, CPU of machines and containers in per cent. A row that lacks a column,
// or has no number where one is wanted, is bad: it counts with its file and the line of the first one, and what is
// whole counts. The last line of a file that was cut counts as bad too where it is not whole.
//
// Memory grows with jobs, machines and containers, not with rows. Quantiles are of a histogram on a log scale whose
// bins are 1 % wide. A Reader is not safe for concurrent use.
//
// # What it does not do
//
// It reads neither later Alibaba traces nor other formats, and it repairs no row.
package trace
