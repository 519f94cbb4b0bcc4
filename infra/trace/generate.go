package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/sparkpacer/pacer/api"
)

// The trace that is generated, fitted to what chapter 6 of the source tells of its own: counts at scale 1, times
// in seconds.
const (
	allJobs, allServices, allMachines = 12951, 11089, 1300
	traceLength, usageEvery           = 12 * 3600, 300
	mostTasks, mostInstances          = 156, 64486
	meanTasks                         = 6
	// A job takes exp(3.85 + 2.07 x) s, 10 hours at most, where x is standard normal: 90, 96 and 98 % within 684,
	// 1,800 and 3,600 s.
	jobMiddle, jobSpread, longestJob = 3.85, 2.07, 36000
	// A task has exp(2.6 + 2.2 x) instances: 152 in the mean.
	instancesMiddle, instancesSpread = 2.6, 2.2
)

// Generate writes a trace of the six tables, of that scale and seed. Create opens a file by name; Generate closes it.
func Generate(scale float64, seed uint64, create func(name string) (io.WriteCloser, error)) error {
	if !(scale > 0 && scale <= 10) {
		return api.Errorf(api.KindInvalid, "scale is %v, want more than 0 and at most 10", scale)
	}
	count := func(all float64) int { return max(1, int(math.Round(all*scale))) }
	for i, part := range []struct {
		names []string
		write func(*rand.Rand, []*bufio.Writer)
	}{
		{[]string{"batch_task.csv", "batch_instance.csv"}, func(r *rand.Rand, w []*bufio.Writer) {
			generateBatch(r, count(allJobs), count(allMachines), w[0], w[1])
		}},
		{[]string{"container_event.csv", "container_usage.csv"}, func(r *rand.Rand, w []*bufio.Writer) {
			generateServices(r, count(allServices), count(allMachines), w[0], w[1])
		}},
		{[]string{"server_event.csv", "server_usage.csv"}, func(r *rand.Rand, w []*bufio.Writer) {
			generateMachines(r, count(allMachines), w[0], w[1])
		}},
	} {
		if err := generatePart(part.names, create, func(w []*bufio.Writer) {
			part.write(rand.New(rand.NewPCG(seed, uint64(i))), w)
		}); err != nil {
			return fmt.Errorf("generate a trace: %w", err)
		}
	}
	return nil
}

func generatePart(names []string, create func(string) (io.WriteCloser, error),
	write func([]*bufio.Writer)) (err error) {
	var writers []*bufio.Writer
	for _, name := range names {
		f, opened := create(name)
		if opened != nil {
			return opened
		}
		w := bufio.NewWriterSize(f, 1<<20)
		writers = append(writers, w)
		defer func() { err = errors.Join(err, w.Flush(), f.Close()) }()
	}
	write(writers)
	return nil
}

// logNormal is a draw of exp(middle + spread x), at most most.
func logNormal(r *rand.Rand, middle, spread, most float64) float64 {
	return min(most, math.Exp(middle+spread*r.NormFloat64()))
}

func generateBatch(r *rand.Rand, jobs, machines int, tasks, instances *bufio.Writer) {
	for job := range jobs {
		start := 1 + r.Float64()*traceLength
		length := max(1, logNormal(r, jobMiddle, jobSpread, longestJob))
		count := 1
		for count < mostTasks && r.Float64() > 1.0/meanTasks {
			count++
		}
		for task := range count {
			from, to := 0.0, length // The first task begins with the job, the last one ends with it.
			if task > 0 {
				from = length * 0.7 * r.Float64()
			}
			if task < count-1 {
				to = from + (length-from)*r.Float64()
			}
			n := max(1, math.Round(logNormal(r, instancesMiddle, instancesSpread, mostInstances)))
			status, cpu := terminatedWord, 50*(1+r.IntN(2))
			switch x := r.Float64(); { // As 67,013, 1,126 and 8,847 of 76,986.
			case x < 0.0146:
				status = failedWord
			case x < 0.1295:
				status = waitingWord
			}
			fmt.Fprintf(tasks, "%d,%d,%d,%d,%d,%s,%d,%.4f\n", int(start+from), int(start+to), job+1, task+1, int(n), status,
				cpu, 0.05+0.1*r.Float64())
			if status == waitingWord {
				continue
			}
			for range int(n) {
				begin := start + from + (to-from)*0.3*r.Float64()
				used := 0.1 + 0.6*r.Float64()
				fmt.Fprintf(instances, "%d,%d,%d,%d,%d,%s,1,1,%.2f,%.2f,%.3f,%.3f\n", int(begin),
					int(begin+(start+to-begin)*(0.4+0.6*r.Float64())), job+1, task+1, 1+r.IntN(machines), status, used*1.2,
					used, 0.05, 0.001+0.049*r.Float64())
			}
		}
	}
}

func generateServices(r *rand.Rand, services, machines int, events, usage *bufio.Writer) {
	for id := range services {
		fmt.Fprintf(events, "0,Create,%d,%d,4,0.04,0.04,1|2|3|4\n", id+1, 1+r.IntN(machines))
		middle, memory := math.Log(5)+0.7*r.NormFloat64(), 45+10*r.NormFloat64()
		for at := 0; at < traceLength; at += usageEvery {
			fmt.Fprintf(usage, "%d,%d,%.2f,%.2f,10\n", at, id+1, logNormal(r, middle, 0.5, 100),
				min(100, max(1, memory+r.NormFloat64())))
		}
	}
}

// generateMachines draws machines a third of which are hotter in CPU and have less memory in use, and whose CPU
// rises over the trace while memory falls.
func generateMachines(r *rand.Rand, machines int, events, usage *bufio.Writer) {
	for id := range machines {
		fmt.Fprintf(events, "0,%d,add,,64,1,1\n", id+1)
		hot := 0.0
		if id%3 == 0 {
			hot = 10
		}
		for at := 0; at < traceLength; at += usageEvery {
			part := float64(at) / traceLength
			fmt.Fprintf(usage, "%d,%d,%.2f,%.2f,40,0,0,0\n", at, id+1,
				min(100, max(0, 20+hot+12*part+6*r.NormFloat64())), min(100, max(0, 60-hot-10*part+5*r.NormFloat64())))
		}
	}
}
