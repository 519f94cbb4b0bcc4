package api

import (
	"strings"

	"github.com/sparkpacer/pacer/units"
)

// OtherRelease is what to do about what another release has stored.
const OtherRelease = "start the release that wrote it, or put back a backup that this one has made (pacer restore)"

// CheckVersion returns a KindVersion error unless v is the version of this build.
func CheckVersion(peer string, v int) error {
	if v == Version {
		return nil
	}
	return Errorf(KindVersion,
		"%s speaks protocol version %d, this side speaks %d: install the same release of Pacer on both", Clip(peer, MostName),
		v, Version)
}

// maxPage is Spark's own bound of a page.
const maxPage = 16 * units.GiB

// Validate reports every fault of r at once.
func (r RegisterRequest) Validate() error {
	if err := CheckVersion("the driver", r.V); err != nil {
		return err
	}
	var f faults
	f.check(r.Submission != "", "submission is empty")
	f.text("submission", r.Submission, MostToken)
	f.count("context", r.Context, MostCount)
	f.finite("before_s", float64(r.Before))
	f.check(r.AppID == "" || r.AppID.Made(), "app_id %q is none that a planner gives", Clip(string(r.AppID), MostToken))
	f.count("executors", r.Executors, MostExecutorID)
	f.text("planner", r.Planner, MostToken)
	f.check(r.Name != "", "name is empty")
	f.text("name", r.Name, MostName)
	f.text("profile", r.Profile, MostName)
	f.text("user", r.User, MostName)
	f.check(r.Key == "" || ValidKey(r.Key), "key is no public key: the driver's jar has to be of this planner's release")
	f.text("ui_web_url", r.UIWebURL, MostName)
	f.finite("deadline_s", float64(r.Deadline))
	f.finite("elapsed_s", float64(r.Elapsed))
	f.text("program", r.Program, MostName)
	f.between("utc_offset_s", float64(r.UTCOffset), -86400, 86400)
	f.check(r.Mode == "" || r.Mode == ModeControl || r.Mode == ModeEndless || r.Mode.Unmanaged(),
		"mode is %q, want %s, %s or %s", Clip(string(r.Mode), MostToken), ModeControl, ModeObserve, ModeOff)
	f.check(r.Class.Known(), "class is %q, want one of %v", Clip(string(r.Class), MostToken), Classes())
	if n := r.Nodes; n != nil {
		f.count("nodes.least", n.Least, MostExecutorID)
		f.count("nodes.most", n.Most, MostExecutorID)
		f.check(!n.HeapAuto || r.Launch.Heap >= LeastHeap, "heap_bytes is %d, want at least %d (spark.executor.memory) "+
			"where spark.pacer.memory.heap is auto", int64(r.Launch.Heap), int64(LeastHeap))
		f.size("nodes.driver_bytes", int64(n.Driver))
		f.size("nodes.group", int64(n.Lodged()))
		f.check(n.Most <= 0 || n.Least <= n.Most, "nodes.least is %d, more than nodes.most, %d", n.Least, n.Most)
	}
	f.check(r.Launch.DriverURL != "", "driver_url is empty")
	f.check(r.Launch.Heap > 0, "heap_bytes is %d, want > 0", int64(r.Launch.Heap))
	f.check(r.Launch.Withheld == 0, "withheld_bytes is %d: a driver withholds nothing", r.Launch.Withheld)
	r.Launch.validate(&f)
	return f.err("registration")
}

// validate also refuses what no program can be started with: a variable without a name, and
// a zero byte, which ends a text there.
func (l *Launch) validate(f *faults) {
	f.text("driver_url", l.DriverURL, MostName)
	f.text("spark_home", l.SparkHome, MostPath)
	f.text("java_home", l.JavaHome, MostPath)
	f.text("spark_version", l.SparkVersion, MostToken)
	f.text("image", l.Image, MostName)
	f.text("launch user", l.User, MostName)
	f.text("owner", l.Owner, MostToken)
	within(f, "launch cores", &l.Cores, 0, MostSlots)
	if l.Attach != nil {
		l.Attach.validate(f)
	}
	if l.TaskCPUs != 0 {
		within(f, "task_cpus", &l.TaskCPUs, LeastTaskCPUs, MostCores)
	}
	f.count("withheld_bytes", l.Withheld, MostPlanLaunches)
	f.size("heap_bytes", int64(l.Heap))
	f.size("overhead_bytes", int64(l.Overhead))
	f.size("offheap_bytes", int64(l.OffHeap))
	f.size("offheap_floor_bytes", int64(l.OffHeapFloor))
	f.size("offheap_page_bytes", int64(l.OffHeapPage))
	f.check(l.OffHeapPage <= maxPage, "offheap_page_bytes is %d, want at most %d", int64(l.OffHeapPage), int64(maxPage))
	f.finite("job_most_s", float64(l.JobMost))
	f.check(l.Certainty == 0 || ValidCertainty(l.Certainty), "certainty is %v, want %v to %v", float64(l.Certainty),
		float64(LeastCertainty), float64(MostCertainty))
	weight := l.OffHeapWeight
	f.check(weight == 0 || weight >= 0.01 && weight <= 100, "offheap_weight is %v, want 0.01 to 100, or 0 for 1", weight)
	all := len(l.DriverURL) + len(l.SparkHome) + len(l.JavaHome) + len(l.Image)
	zero := strings.Contains(l.DriverURL+l.SparkHome+l.JavaHome+l.Image, "\x00")
	take := func(s string) { all, zero = all+len(s), zero || strings.Contains(s, "\x00") }
	for _, s := range l.JavaOptions {
		take(s)
	}
	for _, s := range l.ClassPath {
		take(s)
	}
	for name, value := range l.Env {
		f.check(name != "" && !strings.Contains(name, "="), "env has a variable %q: no program can have one of that name",
			Clip(name, MostToken))
		take(name)
		take(value)
	}
	f.check(!zero, "the launch has a zero byte in one of its texts")
	f.check(all <= MostLaunch,
		"the launch's Java options, class path and environment have %d bytes together, at most %d are taken", all, MostLaunch)
}

// Size is about how many bytes the lists of l take.
func (l *Launch) Size() (size int) {
	const each = 16
	for _, s := range l.JavaOptions {
		size += each + len(s)
	}
	for _, s := range l.ClassPath {
		size += each + len(s)
	}
	for name, value := range l.Env {
		size += 2*each + len(name) + len(value)
	}
	return size
}

func (a *Attach) validate(f *faults) {
	f.check(a.Manager == ManagerYARN || a.Manager == ManagerKubernetes, "attach.manager is %q, want %s or %s",
		Clip(a.Manager, MostToken), ManagerYARN, ManagerKubernetes)
	f.check(a.App != "", "attach.app is empty")
	f.token("attach.app", a.App)
	f.text("attach.secret", a.Secret, MostToken)
	f.check(a.Secret == "" || len(a.Secret) >= LeastSecret, "attach.secret has %d characters, want at least %d",
		len(a.Secret), LeastSecret)
	f.count("attach.least", a.Least, MostExecutorID)
	f.count("attach.most", a.Most, MostExecutorID)
	f.check(a.Most <= 0 || a.Least <= a.Most, "attach.least is %d, more than attach.most, %d", a.Least, a.Most)
}

// Validate reports every fault of e at once: version, sequence, and that each
// event carries what its type needs, within bounds.
func (e Events) Validate() error {
	if err := CheckVersion("the driver", e.V); err != nil {
		return err
	}
	var f faults
	f.token("app_id", string(e.AppID))
	f.text("submission", e.Submission, MostToken)
	f.text("planner", e.Planner, MostToken)
	f.count("the number of events", len(e.Events), MostEvents)
	for i := range e.Events[:min(len(e.Events), MostEvents)] {
		event := &e.Events[i]
		f.in("events", i)
		if event.Seq == 0 || i > 0 && event.Seq != e.Events[i-1].Seq+1 {
			f.add("seq %d is out of order", event.Seq)
		}
		f.number("seq", event.Seq)
		f.finite("at_s", float64(event.At))
		f.text("reason", event.Reason, MostText)
		if !event.whole() {
			f.add("type %q without its body", Clip(string(event.Type), MostToken))
			continue
		}
		switch event.Type {
		case EventExecutorUp, EventExecutorGone:
			event.Executor.validate(&f)
		case EventStageReady:
			event.Stage.validate(&f)
		case EventStageBound:
			event.Bound.StageKey.validate(&f)
			validateBindings(&f, event.Bound.Bindings)
		case EventStageDone:
			event.Done.validate(&f)
		case EventQueryEnded:
			f.between("query.execution", float64(event.Query.Execution), 0, MostAmount)
		case EventPartBegan, EventPartOver:
			event.Part.validate(&f, event.Type == EventPartBegan)
		}
	}
	f.out()
	return f.err("events of " + string(e.AppID))
}

// whole reports whether e has a known type and the body that belongs to it.
func (e *Event) whole() bool {
	switch e.Type {
	case EventExecutorUp, EventExecutorGone:
		return e.Executor != nil
	case EventStageReady:
		return e.Stage != nil && e.Stage.Tasks > 0
	case EventStageBound:
		return e.Bound != nil
	case EventStageDone:
		return e.Done != nil
	case EventQueryEnded:
		return e.Query != nil
	case EventPartBegan, EventPartOver:
		return e.Part != nil
	case EventUnpaced, EventEnd, EventExit:
		return true
	}
	return false
}

func (x *ExecutorEvent) validate(f *faults) {
	f.token("executor id", string(x.ID))
	f.text("reason", x.Reason, MostText)
	f.text("host", x.Host, MostName)
	f.count("cores", x.Cores, MostCores)
	f.size("memory_bytes", int64(x.Memory))
	f.text("container", x.Container, MostName)
	f.text("machine", x.Machine, MostName)
}

func (k StageKey) validate(f *faults) {
	f.count("stage", k.Stage, MostCount)
	f.count("attempt", k.Attempt, MostCount)
}

// A number that a driver has added up and divided may be below 0 by a rounding: of such numbers only the size is
// bounded here.
func (s *StageReady) validate(f *faults) {
	s.StageKey.validate(f)
	f.text("name", s.Name, MostName)
	f.text("signature", s.Signature, MostToken)
	f.text("lineage", s.Lineage, MostToken)
	f.text("pool", s.Pool, MostName)
	if s.Query != nil {
		s.Query.validate(f)
	}
	f.count("the number of parents", len(s.Parents), MostParents)
	f.count("tasks", s.Tasks, MostCount)
	f.known("records", s.Records)
	f.known("bytes", s.Bytes)
	validateBindings(f, s.Bindings)
}

func (q *QueryStage) validate(f *faults) {
	f.between("query.execution", float64(q.Execution), 0, MostAmount)
	f.token("query.shape", q.Shape)
	f.count("query.nth", q.Nth, MostCount)
	f.between("query.exchange", float64(q.Exchange), -1, MostCount)
}

func validateBindings(f *faults, bindings []Binding) {
	f.count("the number of bindings", len(bindings), MostBindings)
	for i := range bindings[:min(len(bindings), MostBindings)] {
		b := &bindings[i]
		f.token("executor id", string(b.Executor))
		f.bounded("weight", b.Weight)
		f.count("tasks", b.Tasks, MostCount)
	}
}

func (s *StageDone) validate(f *faults) {
	s.StageKey.validate(f)
	f.text("reason", s.Reason, MostText)
	f.count("tasks", s.Tasks, MostCount)
	f.known("records_read", s.RecordsRead)
	f.known("records_written", s.RecordsWritten)
	f.known("bytes_read", s.BytesRead)
	f.known("bytes_written", s.BytesWritten)
	if s.BytesRemote != nil {
		f.size("bytes_remote", *s.BytesRemote)
	}
	f.size("bytes_cached", s.BytesCached)
	f.bounded("task_cpu_s", float64(s.TaskCPU))
	f.bounded("task_time_s", float64(s.TaskTime))
	f.bounded("longest_task_s", float64(s.LongestTask))
	f.bounded("first_launch_s", float64(s.FirstLaunch))
	f.bounded("last_finish_s", float64(s.LastFinish))
	f.bounded("task_cost_s", float64(s.TaskCost))
	f.bounded("fixed_part", float64(s.FixedPart))
}

// Size is about how many bytes e takes as JSON; a driver fills its requests by it, up to
// BatchBytes. The jar knows it too (Wire.size).
func (e *Event) Size() int {
	size := 512 + len(e.Reason)
	switch {
	case e.Executor != nil:
		size += len(e.Executor.Reason)
	case e.Stage != nil:
		size += len(e.Stage.Name) + len(e.Stage.Pool) + 64*len(e.Stage.Bindings) + 12*len(e.Stage.Parents)
	case e.Bound != nil:
		size += 64 * len(e.Bound.Bindings)
	case e.Done != nil:
		size += len(e.Done.Reason)
	case e.Part != nil:
		size += len(e.Part.Name)
	}
	return size
}

// ValidNodeName reports whether name can be part of a NATS subject and of a
// cgroup path: 1 to 63 letters, digits, hyphens and underscores.
func ValidNodeName(name string) bool {
	return name != "" && len(name) <= 63 && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
}
