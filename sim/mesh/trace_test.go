package mesh

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// Traces have the source's means over jobs (Table 3.2), and long jobs their part of the work.
func TestTable32TheShapes(t *testing.T) {
	work := map[string][2]float64{"google": {75, 95}, "yahoo": {97, 99.5}, "cloudera": {88, 97}}
	for _, s := range Shapes() {
		jobs := s.Trace(20000, 1)
		var tasks, duration, long, all float64
		for _, j := range jobs {
			tasks += float64(len(j.Durations)) / float64(len(jobs))
			duration += j.Estimate.Seconds() / float64(len(jobs))
			sum := 0.0
			for _, d := range j.Durations {
				sum += d.Seconds()
			}
			if math.Abs(sum-j.Estimate.Seconds()*float64(len(j.Durations))) > 1e-6*float64(len(j.Durations)) {
				t.Fatalf("%s: the estimate %v is not the mean of the durations", s.Name, j.Estimate)
			}
			if all += sum; j.Estimate > s.cutoff {
				long += sum
			}
		}
		if math.Abs(tasks/s.Tasks-1) > 1e-4 || math.Abs(duration/s.Duration-1) > 1e-6 {
			t.Errorf("%s: %v tasks a job, %v s, want %v and %v", s.Name, tasks, duration, s.Tasks, s.Duration)
		}
		if part := 100 * long / all; part < work[s.Name][0] || part > work[s.Name][1] {
			t.Errorf("%s: long jobs have %.1f %% of the work, want %v", s.Name, part, work[s.Name])
		}
	}
}

// A load is reckoned from means over jobs, or from the work; the true one is of the work.
func TestSection37TheLoad(t *testing.T) {
	jobs := []Job{{Estimate: time.Second, Durations: []time.Duration{time.Second}},
		{Estimate: 3 * time.Second, Durations: slices.Repeat([]time.Duration{3 * time.Second}, 3)}}
	if got := Arrive(jobs, 10, 0.5, ByJobs, 1); math.Abs(got-0.5*5/4) > 1e-9 { // Work 5 a job, means 2 and 2.
		t.Errorf("true load %v", got)
	}
	if got := Arrive(jobs, 10, 0.5, ByWork, 1); math.Abs(got-0.5) > 1e-9 {
		t.Errorf("true load by work %v", got)
	}
	Misjudge(jobs, 1)
	for _, e := range jobs[1].Wrong {
		if e < 1 || e > 6*time.Second {
			t.Errorf("an estimate of %v", e)
		}
	}
}

func TestReadTrace(t *testing.T) {
	jobs, err := ReadTrace("t", strings.NewReader("# of Hawk\n0 2 1.5 1 2\n\n3.5 1 4 4\n"))
	if err != nil || len(jobs) != 2 || jobs[1].Arrival != 3_500_000_000 || jobs[0].Estimate != 1500*time.Millisecond || len(jobs[0].Durations) != 2 {
		t.Errorf("%+v, %v", jobs, err)
	}
	for text, want := range map[string]string{
		"":                      "t:1: no job",
		"0 1 1":                 "t:1: 3 numbers",
		"0 2 1 1":               "t:1: tasks",
		"0 0 1 1":               "t:1: tasks",
		"0 1 0 1":               "t:1: mean",
		"0 1 1 NaN":             "t:1: duration",
		"-1 1 1 1":              "t:1: arrival",
		"5 1 1 1\n# x\n4 1 1 1": "t:3: arrival 4 is before",
	} {
		if _, err := ReadTrace("t", strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
