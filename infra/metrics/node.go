package metrics

import (
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Node counts what happens in a node controller and shows its newest status.
type Node struct {
	ticks        prometheus.Histogram
	missed       prometheus.Counter
	writesFailed prometheus.Counter
	events       *prometheus.CounterVec

	mu struct {
		sync.Mutex
		status api.NodeStatus
		at     units.Instant
		used   map[executorKey]usage
	}
}

type executorKey struct {
	app api.AppID
	id  api.ExecutorID
}

// usage is an executor's CPU time at one status, its rate up to it, and its memory.
type usage struct {
	cpu   units.Work
	cores units.Cores
	// memory is what was last told of its memory.
	memory api.ExecutorMemory
}

// tickBuckets go from a tick of an idle node to one as long as its interval.
var tickBuckets = []float64{50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 50e-3, 100e-3, 500e-3}

// NewNode registers a node controller's metrics.
func NewNode(r prometheus.Registerer) (*Node, error) {
	n := &Node{
		ticks: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "pacer_control_loop_duration_seconds",
			Buckets: tickBuckets,
			Help:    "How long a tick took: reading, deciding and writing."}),
		missed:       counter("pacer_control_loop_missed_ticks_total", "Slots that were skipped because the loop came late."),
		writesFailed: counter("pacer_cgroup_write_errors_total", "Quotas and weights that could not be written."),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "pacer_events_total",
			Help: "Events of the node controller, by kind."}, []string{"event"}),
	}
	n.mu.used = map[executorKey]usage{}
	return n, register(r, n.ticks, n.missed, n.writesFailed, n.events, n)
}

// Tick records how long a tick took.
func (n *Node) Tick(d time.Duration) { n.ticks.Observe(d.Seconds()) }

// Missed counts skipped slots.
func (n *Node) Missed(slots int) { n.missed.Add(float64(max(0, slots))) }

// WriteFailed counts a cgroup write that failed.
func (n *Node) WriteFailed() { n.writesFailed.Inc() }

// Event counts an event of the engine by its kind.
func (n *Node) Event(kind string) { n.events.WithLabelValues(kind).Inc() }

// Observe takes the newest status, which it copies, as of now.
func (n *Node) Observe(s *api.NodeStatus, now units.Instant) {
	n.mu.Lock()
	defer n.mu.Unlock()
	used := make(map[executorKey]usage, len(s.Executors))
	for _, x := range s.Executors {
		if x.State == api.ExecutorExited {
			continue
		}
		key := executorKey{x.App, x.ID}
		u := usage{cpu: x.CPU}
		before, ok := n.mu.used[key]
		if ok && now > n.mu.at {
			u.cores = max(0, x.CPU-before.cpu).Per(now.Sub(n.mu.at))
		}
		if u.memory = x.Memory; u.memory == (api.ExecutorMemory{}) {
			u.memory = before.memory
		}
		used[key] = u
	}
	n.mu.used, n.mu.at = used, now
	n.mu.status = *s
	n.mu.status.Executors = append([]api.ExecutorStatus(nil), s.Executors...)
	n.mu.status.Stages = make([]api.StageStatus, 0, len(s.Stages))
	for _, stage := range s.Stages {
		stage.Samples = append([]api.StageSample(nil), stage.Samples...)
		n.mu.status.Stages = append(n.mu.status.Stages, stage)
	}
	n.mu.status.Losses = append([]api.Loss(nil), s.Losses...)
	n.mu.status.Shortages = append([]api.Shortage(nil), s.Shortages...)
}

var (
	nodeOffers = desc("pacer_node_cpu_offered_cores", "CPU of the node that is offered to applications.")
	nodeCores  = desc("pacer_node_cpu_cores", "CPU of the node.")
	nodeOthers = desc("pacer_node_cpu_others_cores", "CPU that others than Pacer's executors have last used.")
	nodeMemory = desc("pacer_node_memory_bytes", "Memory for executors.")
	nodeWaits  = desc("pacer_node_pressure_ratio",
		"Part of the last ten seconds in which some task of the machine waited.", "resource")
	executors = desc("pacer_executors", "Executors on this node.", "state")

	byExecutor    = []string{"application_id", "executor_id"}
	executorQuota = desc("pacer_executor_cpu_quota_cores", "CPU quota in force, +Inf for none.", byExecutor...)
	executorUsed  = desc("pacer_executor_cpu_used_cores", "CPU used between the last two statuses.", byExecutor...)
	executorCPU   = desc("pacer_executor_cpu_seconds_total", "CPU time used since the executor's start.", byExecutor...)
	executorHeld  = desc("pacer_executor_cpu_throttled_seconds_total", "Time for which the executor was held back.",
		byExecutor...)

	executorMoves  = desc("pacer_executor_memory_moves_total", "How often off-heap memory was resized.", byExecutor...)
	executorMoving = desc("pacer_executor_memory_moving_seconds_total",
		"Time for which off-heap memory was being resized.", byExecutor...)
	executorEvicted = desc("pacer_executor_memory_evicted_bytes_total",
		"Blocks evicted so that off-heap memory could shrink.", byExecutor...)
	executorSpilled = desc("pacer_executor_memory_spilled_bytes_total", "Memory that tasks have spilled.", byExecutor...)
	executorWaits   = desc("pacer_executor_memory_pressure_ratio",
		"Part of ten seconds, once a minute, in which some task of it waited for memory.", byExecutor...)

	// Each has a name of its own, since a sum over them would mean nothing.
	executorMemory = []memoryDesc{
		{desc("pacer_executor_memory_heap_bytes", "The executor's heap, as last told, as the others are.", byExecutor...),
			func(m *api.ExecutorMemory) units.Bytes { return m.Heap }},
		{desc("pacer_executor_memory_offheap_bytes", "Off-heap memory that the executor may use.", byExecutor...),
			func(m *api.ExecutorMemory) units.Bytes { return m.OffHeap }},
		{desc("pacer_executor_memory_offheap_used_bytes", "Off-heap memory that it uses.", byExecutor...),
			func(m *api.ExecutorMemory) units.Bytes { return m.OffHeapUsed }},
		{desc("pacer_executor_memory_offheap_owed_bytes", "Off-heap memory that it is to give back.", byExecutor...),
			func(m *api.ExecutorMemory) units.Bytes { return m.Owed }},
		{desc("pacer_executor_memory_resident_bytes", "Memory of the executor's processes.", byExecutor...),
			func(m *api.ExecutorMemory) units.Bytes { return m.Resident }},
		{desc("pacer_executor_memory_page_cache_bytes", "Files that the kernel keeps for it.", byExecutor...),
			func(m *api.ExecutorMemory) units.Bytes { return m.Cache }},
		{desc("pacer_executor_memory_limit_bytes", "Memory limit that the kernel holds it to.", byExecutor...),
			func(m *api.ExecutorMemory) units.Bytes { return m.Limit }},
	}

	lost = desc("pacer_app_lost_cpu_seconds_total",
		"CPU time that an application asked for and was not granted, by who had most meanwhile.", "application_id", "to")

	short = desc("pacer_app_short_cores",
		"Cores that an application with a deadline to keep asks for and does not have now.", "application_id", "to")

	byStage       = []string{"application_id", "stage_id", "attempt", "executor_id"}
	stageSetPoint = desc("pacer_stage_setpoint_ratio", "Where a stage executor should be.", byStage...)
	stageProgress = desc("pacer_stage_progress_ratio", "Where a stage executor is.", byStage...)
	stageChanges  = desc("pacer_stage_quota_changes_total", "Quotas written for a stage executor.", byStage...)
)

// memoryDesc is a series of an executor's memory.
type memoryDesc struct {
	desc *prometheus.Desc
	of   func(*api.ExecutorMemory) units.Bytes
}

// Describe implements prometheus.Collector.
func (n *Node) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{nodeOffers, nodeCores, nodeOthers, nodeMemory, nodeWaits, executors,
		executorQuota, executorUsed, executorCPU, executorHeld, executorMoves, executorMoving, executorEvicted,
		executorSpilled, executorWaits, lost, short, stageSetPoint, stageProgress, stageChanges} {
		out <- d
	}
	for _, m := range executorMemory {
		out <- m.desc
	}
}

// Collect implements prometheus.Collector: it shows the newest status.
func (n *Node) Collect(out chan<- prometheus.Metric) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := &n.mu.status
	if s.Node == "" {
		return
	}
	out <- gauge(nodeOffers, float64(s.Offered))
	out <- gauge(nodeCores, float64(s.Total))
	out <- gauge(nodeOthers, float64(s.Others))
	out <- gauge(nodeMemory, float64(s.Memory))
	if s.Kernel.Pressure != (api.Pressure{}) {
		out <- gauge(nodeWaits, float64(s.Kernel.Pressure.CPU), "cpu")
		out <- gauge(nodeWaits, float64(s.Kernel.Pressure.Memory), "memory")
		out <- gauge(nodeWaits, float64(s.Kernel.Pressure.IO), "io")
	}
	for _, l := range s.Losses {
		out <- total(lost, float64(l.CoreSeconds), string(l.App), string(l.To))
	}
	for _, x := range s.Shortages {
		out <- gauge(short, float64(max(0, x.Asked-x.Had)), string(x.App), string(x.To))
	}
	states := map[api.ExecutorState]int{api.ExecutorStarting: 0, api.ExecutorRunning: 0}
	alive := map[executorKey]bool{}
	for _, x := range s.Executors {
		if x.State == api.ExecutorExited {
			continue
		}
		states[x.State]++
		alive[executorKey{x.App, x.ID}] = true
		labels := []string{string(x.App), string(x.ID)}
		quota := float64(x.Quota)
		if x.Quota < 0 {
			quota = math.Inf(1)
		}
		out <- gauge(executorQuota, quota, labels...)
		out <- gauge(executorUsed, float64(n.mu.used[executorKey{x.App, x.ID}].cores), labels...)
		out <- total(executorCPU, float64(x.CPU), labels...)
		out <- total(executorHeld, float64(x.Throttled), labels...)
		collectMemory(out, n.mu.used[executorKey{x.App, x.ID}].memory, labels)
	}
	for state, count := range states {
		out <- gauge(executors, float64(count), string(state))
	}
	for _, stage := range s.Stages {
		if alive[executorKey{stage.App, stage.Executor}] {
			collectStage(out, stage)
		}
	}
}

func collectStage(out chan<- prometheus.Metric, s api.StageStatus) {
	labels := []string{string(s.App), strconv.Itoa(s.Stage), strconv.Itoa(s.Attempt), string(s.Executor)}
	if k := len(s.Samples); k > 0 {
		out <- gauge(stageSetPoint, float64(s.Samples[k-1].SetPoint), labels...)
	}
	out <- gauge(stageProgress, float64(s.Progress), labels...)
	out <- total(stageChanges, float64(s.QuotaChanges), labels...)
}

// collectMemory shows what was last told of an executor's memory, nothing before that.
func collectMemory(out chan<- prometheus.Metric, m api.ExecutorMemory, labels []string) {
	if m == (api.ExecutorMemory{}) {
		return
	}
	for _, d := range executorMemory {
		out <- gauge(d.desc, float64(d.of(&m)), labels...)
	}
	out <- total(executorMoves, float64(m.Moves), labels...)
	out <- total(executorMoving, float64(m.Moving), labels...)
	out <- total(executorEvicted, float64(m.Evicted), labels...)
	out <- total(executorSpilled, float64(m.Spilled), labels...)
	out <- gauge(executorWaits, float64(m.Pressure), labels...)
}
