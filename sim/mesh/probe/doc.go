// Package probe is the scheduler of M. Khelghatdoust, "Scalable and distributed resource management protocols for cloud
// and big data clusters", PhD thesis, 2018, chapter 3 (Peacock): a scheduler sends one probe per task to workers at
// random, and workers hand on what would wait too long around a ring.
//
// # Concepts
//
//	probe      stands for a task that waits for a worker; the worker fetches the task when it is free
//	job        tasks of about one length; a stage of an application
//	theta      estimate of how long a task takes
//	lambda     when a job has come
//	mu         how long its probes may wait; lambda + mu is when they are overdue
//	phi, omega how many probes, and how much estimated work, a worker has in the mean: the shared state
//	marked     of a probe: it goes to the next worker of the ring at the end of the round
//	switch     a rule for which the thesis is silent or contradicts itself, by the name of its reading
//
// # Engines
//
// Scheduler and Worker are synchronous and draw nothing by themselves: Step takes the time and a message, and appends
// to out what follows. The caller delivers messages, runs tasks, and calls Step with a Tick when Due says so. Messages
// may be lost, come twice and in any order where Config.Tries is above 0: each task is counted as finished once.
// A caller that learns that the receiver of a message is not there tells its sender so with Undelivered.
//
// # Units
//
// Instants of one clock; durations are time.Duration, so that sums of estimates are exact. Workers have one slot.
// Nothing here may be called from two goroutines at once.
package probe
