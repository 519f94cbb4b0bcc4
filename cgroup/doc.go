// Package cgroup is the one writer of Pacer's control groups: it limits what an
// executor may use, reads what it did use, and ends all that is in a group.
// Nothing else in Pacer knows what a quota or a period is.
//
// # Concepts and units
//
// A Hierarchy is Pacer's parent group below a root that is an argument (tests
// give a tree of ordinary files, see cgrouptest). A Group is one executor's. Full
// names are PARENT/NODE/APP-EXEC, so that several node controllers share a
// machine. Quotas are units.Cores on average over each Period of 100 ms;
// units.Unlimited is no quota. The kernel rounds to microseconds: 0.00002 core.
// Usage is units.Work, core-seconds since the group was made.
//
//	            v1                                   v2
//	quota       cpu.cfs_quota_us, cpu.cfs_period_us  cpu.max
//	weight      cpu.shares, 1024 = Weight 1          cpu.weight, 100 = Weight 1
//	used        cpuacct.usage, ns                    cpu.stat usage_usec
//	throttled   cpu.stat throttled_time, ns          cpu.stat throttled_usec
//	members     cgroup.procs of each tree            cgroup.procs
//
// The v1 trees of cpu and cpuacct may be one mount or two. For v2 the cpu
// controller is passed down by cgroup.subtree_control from the root on.
//
// A container engine that is given a Group as the parent makes a group of its own
// inside, for which the quota holds too. Its members count as the Group's, and it
// goes with it, in v1 in the trees of all other controllers as well. Below a
// parent of systemd slices groups are slices (SliceParent), as engines with the
// systemd driver want them; names stay the same.
//
// A quota on the engine's group (docker update) binds too: after LookInside the
// quota in force is the lower of the two, for Quota, Last and WatchQuotas alike,
// and SetQuota lifts one inside that is in force. v1 refuses a quota below one
// inside, so that has to go first. What it throttles counts in no Usage.
//
// # Writing
//
// Every write of a quota passes Group.SetQuota. It skips what is in force
// already, as far as the Group knows, on a file that stays open. Quota reads back
// what is really in force, which is how a restarted node controller takes over
// without a jump and how a second writer is found: what was read replaces what
// was known. A failed write makes the next one happen whatever its value.
//
// WatchQuotas finds a second writer without reading: the kernel tells of each
// write with the writer's process (fanotify; the marks are on inodes, so a writer
// in another cgroup namespace, which has inodes of its own, is found by reading
// only). The name is looked up at once, but one that has ended by then leaves its
// number only, as a shell's echo may. A second writer may change the period too
// (docker update --cpu-period does): SetQuota then puts back Period as well.
//
// # The parent's weight
//
// A quota is a ceiling only: at the default weight a group competes as one with
// every thread of the root group. Measured here on 2 CPUs with one busy thread of
// the root group on each, a quota of 1.5 cores got 0.92 at the default weight,
// 1.49 at 8 times that and no more above. On the other side a busy driver thread,
// which lives in the root group, got 0.95, 0.21, 0.06 and 0.01 core against four
// busy executor threads without quota at 1, 8, 32 and 256 times; a waking one was
// served at once in all cases. The driver plans the next stage and must not
// starve, so the parent gets 4 times the default per CPU (the kernel spreads the
// weight of a group over the CPUs that it runs on): 4 parts in 5 are Pacer's
// when everybody is busy. What the kernel takes at most is 256 times for v1 and
// 100 times for v2; bigger machines end there. SetWeight changes it.
//
// # Ending
//
// Remove kills what is left, waits for the end of what it killed, and removes the
// directory. Rounds and time are bounded. In v2 the kernel kills all members at
// once (cgroup.kill); in v1 each is killed by descriptor and only after the kernel
// has said that it is one.
//
// # Without root
//
// A fault of permission says what root has to grant. In v2 that is more than
// directories: the cpu controller before the files are given away, and a place
// below Pacer's group for the node controller itself, as the kernel moves a
// process for those only who may write to the group above both places.
//
// # What the caller does
//
// It opens one Hierarchy per node, claims it against other node controllers of the
// machine (Claim), keeps each Group while the executor lives, and
// reads and writes in the tick as it likes: SetQuota, Quota, Used, Usage and
// Host.Usage allocate nothing and cost one to three system calls. A read takes
// 0.8 us when it follows another of the same file and 2 to 3 us after half a
// second, when nothing of the group is in the CPU's caches; a write 3 to 25 us,
// since the kernel walks all groups of the machine each time. So a tick with
// hundreds of groups reads only Used of each.
// Group, Names, Kill and Remove are for other moments.
//
// The package does not place processes (executor's shim does, with JoinFiles),
// decides nothing, and does not touch memory. The version in use is read from the
// root given; github.com/containerd/cgroups/v3 tells the machine's mode when
// there is nothing to use, and which groups a process is in. Its Stat, which
// starts goroutines and allocates, stays out of the tick.
package cgroup
