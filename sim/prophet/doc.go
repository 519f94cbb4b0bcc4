// Package prophet simulates where executors go on servers whose disks and network are shared: Prophet, which looks
// at the disk and network rates of each stage, beside schedulers that do not.
//
// # Source
//
// Xu, "Data-Driven Intelligent Scheduling For Long Running Workloads In Large-Scale Datacenters" (thesis), chapter
// 4 and section 4.4's evaluation: 90 applications on 16 servers.
//
// # The world
//
//	server      24 cores, 32 GB, 330 MB/s of disk, 250 MB/s of network
//	executor    cores and memory for all its time, and stages one after the other
//	stage       seconds that it takes alone, and the rates at which it reads and writes meanwhile
//	policy      an order of applications and an order of servers (Policies)
//
// Cores that are wanted twice are shared. A device of which x times its rate is wanted gives 1/(1 + c (x - 1)) of its
// rate, by what each executor wants: disks seek, and links drop packets. A stage is as fast as the slowest of what it
// needs. Rates change when any stage begins or ends. Policies prophet and tetris ask the functions that the planner's
// orders of nodes ask.
//
// # What it does not do
//
// Memory is never short, no executor fails, and data lies nowhere in particular. A stage that waits for one device
// wants as much of the others as if it did not.
package prophet
