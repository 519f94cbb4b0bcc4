// Package cgroup is the one writer of Pacer's control groups: it limits what an executor may
// use, reads what it did use, and ends all that is in a group.
//
// # Concepts and units
//
//	Hierarchy  Pacer's parent group below a root, such as pacer/node-NAME; tests give a
//	           root of ordinary files (cgrouptest)
//	Group      one executor's group in it, APP-EXEC; a component's, APP.NAME, is below a parent beside
//	           it, such as pacer-drivers/node-NAME, with the weight of the component that has most
//	quota      units.Cores on average over each Period of 100 ms, in steps of 1 us;
//	           units.Unlimited is none
//	usage      units.Work, core-seconds since the group was made
//	Weight     a group's part where CPU is short, in multiples of the kernel's default
//
//	            v1                                   v2
//	quota       cpu.cfs_quota_us, cpu.cfs_period_us  cpu.max
//	weight      cpu.shares, 1024 = Weight 1          cpu.weight, 100 = Weight 1
//	used        cpuacct.usage, ns                    cpu.stat usage_usec
//	throttled   cpu.stat throttled_time, ns          cpu.stat throttled_usec
//	members     cgroup.procs of each tree            cgroup.procs
//	limit       memory.limit_in_bytes                memory.max
//	charged     memory.usage_in_bytes                memory.current
//	killed      memory.oom_control oom_kill          memory.events oom_kill
//	promised    -                                    memory.low
//	lent        memory.soft_limit_in_bytes           memory.high
//	pressure    -                                    memory.pressure
//
// The root tells the version. The v1 trees of cpu and cpuacct may be one mount or two. In v2
// cgroup.subtree_control passes the cpu controller down from the root.
//
// A container engine that is given a Group as the parent makes a group of its own inside. The
// quota binds it, its members count as the Group's, and Remove takes it along, in v1 in the
// trees of all controllers. Below systemd slices groups are slices (SliceParent).
//
// A quota on the engine's group, as docker update writes it, binds too. After LookInside the
// quota in force is the lower of the two, for Quota, Last and WatchQuotas alike, and SetQuota
// lifts one inside that is in force. Usage leaves out the time that such a quota throttles.
//
// # Writing
//
// Every write of a quota passes Group.SetQuota, which skips what is in force as far as the
// Group knows. Quota reads what is really in force: so a restarted node controller takes
// over, and a second writer is found. After a failed write the next one happens whatever its
// value.
//
// WatchQuotas finds a second writer without reading: the kernel tells of each write with the
// writer's process (fanotify), except from another cgroup namespace. SetQuota also puts back
// a changed Period. See docs/decisions/024.
//
// # Memory
//
// A group has a memory limit where the memory controller reaches it: in v2 where the groups
// above pass it down, in v1 in a tree of its own. There the parent group is made below the
// group that this process is in: its bound, and who counts by it, hold for executors as well.
// Executors of an earlier node controller keep their groups, wherever that one was. A container's
// limit is its engine's, in the group inside, and Pacer moves it there.
//
// RaiseMemory is one write. LowerMemory goes in steps, each of which makes the kernel give up
// 32 MiB of page cache at most, and never below what it cannot take at once and MemoryMargin.
// A program that needs more than the limit is ended by the kernel (MemoryKills).
//
// A Shield says what the kernel leaves a group where the machine is short of memory, and Hierarchy.Lacks what of
// that this kernel cannot do (docs/decisions/076). MachinePressure and MemoryUse say how long tasks wait.
//
// # Groups of other managers
//
// Others reaches groups that YARN or a kubelet has made, whoever claims the machine's. An Adopted one
// has quotas of Pacer's up to the quota found, which Release puts back with its period; so does
// Hold.PutBack, for a guard. Pacer's have a period and last digits that nobody else writes, so that what
// is in force says whose it is. Enclose moves processes out of a group that they share with others into one of Pacer's,
// in the trees of the CPU alone, with their part of what bounded them there, and each by a descriptor. No process is
// moved that gets the id of one that has ended (docs/decisions/050).
//
// # The parent's weight
//
// A quota is a ceiling: at the default weight a group competes as one with each thread of the
// root group (docs/spark.md, S43). The kernel spreads a group's weight over the CPUs that it
// runs on, so the first element of the parent's path weighs
//
//	4 x CPUs, at most 256 in v1 and 100 in v2
//
// Where one thread of the root group, such as a driver's, is busy on each CPU, Pacer gets four
// parts in five (docs/decisions/023). SetWeight takes another number than 4.
//
// # Ending
//
// Remove kills what is left, waits for its end, and removes the directory. Rounds and time
// are bounded. In v2 the kernel kills all members at once (cgroup.kill). In v1 each is killed
// by descriptor, and only after the kernel has said that it is a member.
//
// # Without root
//
// A fault of permission says what root has to grant. In v2 that is the directories, the cpu
// controller, and a place below Pacer's group for the node controller itself: moving a
// process takes the right to write to the group above both places.
//
// # What the caller does
//
// It opens one Hierarchy per node, claims it against the machine's other node controllers
// (Claim), and keeps each Group while the executor lives. SetQuota, Quota, Used, Usage and
// Host.Work are for the tick: they allocate nothing and make one to three system calls
// (docs/decisions/027). Group, Names, Kill and Remove are for other moments.
//
// The package places no processes (executor's shim does, with JoinFiles) and decides nothing.
package cgroup
