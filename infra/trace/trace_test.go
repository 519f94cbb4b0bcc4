package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	_ "github.com/sparkpacer/pacer/test/draws"
)

func dir(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func read(t *testing.T, files map[string]string) *Summary {
	t.Helper()
	s, err := Read(dir(files))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// twelve is a trace of twelve rows, summed up by hand.
var twelve = map[string]string{
	"batch_task.csv": "create, end, job, task, instances, status, cpus, memory\n" +
		"100,160,1,1,10,Terminated,50,0.1\n" +
		"150,400,1,2,30,Terminated,50,0.1\n" +
		"100,1100,2,1,2,Terminated,100,0.2\n" +
		"100,100,3,1,5,Failed,50,0.1\n" +
		"200,200,4,1,7,Waiting,50,0.1\n",
	"batch_instance.csv": "100,130,1,1,m1,Terminated,1,1,0.9,0.5,0.2,0.1\n" +
		"100,190,1,2,m1,Terminated,1,1,0.9,0.7,0.2,0.1\n" +
		"0,50,1,2,m1,Failed,1,1,,,,\n",
	"server_usage.csv": "0,m1,10,60,0,0,0,0\n3600,m1,30,60,0,0,0,0\n0,m2,40,20,0,0,0,0\n3600,m2,60,20,0,0,0,0\n",
}

// Xu, Table 6.11 and the imbalances, on twelve rows by hand.
func TestTable611(t *testing.T) {
	s := read(t, twelve)
	b := s.Batch
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"failed tasks", float64(b.Failed), 1}, {"terminated tasks", float64(b.Terminated), 3},
		{"waiting tasks", float64(b.Waiting), 1}, {"running tasks", float64(b.Running), 0},
		{"instances per task", b.Instances.Mean, 14}, {"most", b.Instances.Most, 30}, {"least", b.Instances.Least, 2},
		{"tasks per job", b.TasksPerJob.Mean, 1.25}, {"most tasks", b.TasksPerJob.Most, 2}, {"least tasks", b.TasksPerJob.Least, 1},
		{"instances", float64(b.TotalInstances), 3}, {"tasks", float64(b.Tasks), 5}, {"jobs", float64(b.Jobs), 4},
		{"instance duration", b.InstanceDuration.Mean, 60}, {"most", b.InstanceDuration.Most, 90},
		{"task duration", b.TaskDuration.Mean, 1310.0 / 3}, {"most", b.TaskDuration.Most, 1000}, {"least", b.TaskDuration.Least, 60},
		// Job 1 takes 300 s, job 2 1,000 s.
		{"job duration", b.JobDuration.Mean, 650}, {"jobs within 0.19 h", b.Short, 50},
		{"CPU used", b.Used.Mean, 0.6}, {"CPU requested", b.Requested.Mean, 60},
		// Machines use 20 and 50 per cent of CPU and 60 and 20 of memory, hours 25 and 45.
		{"machines", float64(s.Machines), 2}, {"CPU of machines", s.Space.CPU.Mean, 35}, {"variation", s.Space.CPU.Variation, 15.0 / 35},
		{"CPU of hours", s.Time.CPU.Most, 45}, {"correlation", s.Proportion.Correlation, -1},
		{"CPU over memory", s.Proportion.Ratio.Mean, (20.0/60 + 50.0/20) / 2},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", c.name, c.got, c.want)
		}
	}
	if s.Space.Greatest != "m2" || s.Time.Greatest != "hour 2" {
		t.Errorf("most CPU on %s in %s", s.Space.Greatest, s.Time.Greatest)
	}
}

// A file that is cut anywhere counts its whole rows, and at most the last one as bad.
func TestACutFileCountsWhatIsWhole(t *testing.T) {
	text := twelve["batch_task.csv"]
	for cut := range len(text) {
		if cut < strings.Index(text, "\n")+1 {
			continue // A heading that is cut is one as well.
		}
		s := read(t, map[string]string{"batch_task.csv": text[:cut]})
		whole := strings.Count(text[:cut], "\n") - 1
		if f := s.Files[0]; f.Rows < whole || f.Rows > whole+1 || f.Bad > 1 || f.Bad+f.Rows > whole+1 {
			t.Fatalf("cut at %d: %+v, %d whole rows", cut, f, whole)
		}
	}
}

// A bad row says where and why, and changes nothing.
func TestBadRowsAreCountedWithTheirLine(t *testing.T) {
	for _, c := range []struct{ file, row, want string }{
		{"batch_task.csv", "1,2,3", "line 2: it has 3 columns of 8"},
		{"batch_task.csv", "x,2,3,4,5,Terminated,7,8", `line 2: column 1 is "x", want a number`},
		{"batch_task.csv", "1,2,3,4,NaN,Terminated,7,8", `line 2: column 5 is "NaN", want a number`},
		{"batch_task.csv", "1,2,3,4,5,Gone,7,8", `line 2: column 6 is "Gone", want one of Terminated, Failed, Waiting, Running`},
		{"batch_instance.csv", "1,2,3,4,m,Terminated,1,1,0.5,high,0.1,0.1", `line 2: column 10 is "high", want a number`},
		{"container_usage.csv", "1,c,a,0.5", `line 2: column 3 is "a", want a number`},
		{"container_event.csv", "1,Create,c,m,,0.5", `line 2: column 5 is "", want a number`},
		{"server_usage.csv", "1,m,+Inf,3", `line 2: column 3 is "+Inf", want a number`},
		{"server_event.csv", "soon,m,add", `line 2: column 1 is "soon", want a number`},
	} {
		s := read(t, map[string]string{c.file: "heading,of,the,file\n" + c.row + "\n"})
		if f := s.Files[0]; f.Bad != 1 || f.Rows != 0 || f.FirstBad != c.want {
			t.Errorf("%s: %+v, want %s", c.row, f, c.want)
		}
		if s.Batch != nil && s.Batch.Tasks > 0 || s.Machines > 0 || s.Services != nil {
			t.Errorf("%s counts: %+v", c.row, s)
		}
	}
	if _, err := Read(dir(map[string]string{"other.csv": "1"})); err == nil || !strings.Contains(err.Error(), "batch_task.csv") {
		t.Errorf("a directory without a trace: %v", err)
	}
	long := "1," + strings.Repeat("x", 1<<20)
	if _, err := Read(dir(map[string]string{"server_event.csv": long})); err == nil {
		t.Error("a line of more than 1 MiB is taken")
	}
}

// What Pacer prints itself is read, too.
func TestPacersOwnFiles(t *testing.T) {
	s := read(t, map[string]string{
		"apps.json": `{"applications": [{"id": "a", "state": "finished", "duration_s": 60}, {"id": "b", "state": "queued"},
			{"id": "c", "state": "failed", "duration_s": 10}, {"id": "d", "state": "running"}]}`,
		"cores.json": `{"step_s": 1800, "points": 4, "offered_cores": [10, 10, 10, null], "apps": [{"app": "a", "used_cores": [1, 2, 3, 4]}],
			"rest": {"used_cores": [1, 2, null, 4]}}`,
	})
	if b := s.Batch; b.Jobs != 4 || b.Terminated != 1 || b.Waiting != 1 || b.Failed != 1 || b.Running != 1 || b.JobDuration.Mean != 60 {
		t.Errorf("applications: %+v", b)
	}
	if s.Time.CPU.Count != 2 || s.Time.CPU.Most != 30 || s.Time.CPU.Least != 30 {
		t.Errorf("cores: %+v", s.Time.CPU)
	}
}

// A quantile of the histogram is within 1 % of the value of that rank, and a Summary can be written as JSON.
func TestQuantilesAreWithinAPercent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "values")
		var h histogram
		for i := range n {
			h.add(float64((i*7919)%n) + 1)
		}
		for _, q := range []float64{0.05, 0.5, 0.95} {
			want := math.Ceil(q * float64(n))
			if got := h.quantile(q); math.Abs(got-want) > 0.0101*want {
				t.Fatalf("quantile %g of 1 to %d: %g, want %g", q, n, got, want)
			}
		}
		if _, err := json.Marshal(h.sums()); err != nil {
			t.Fatal(err)
		}
	})
	var h histogram
	for _, x := range []float64{0, 0, -1, 5} {
		h.add(x)
	}
	if d := h.sums(); d.P50 != 0 || d.Least != -1 || d.Most != 5 {
		t.Errorf("%+v", fmt.Sprint(d))
	}
}

type closing struct{ *strings.Builder }

func (closing) Close() error { return nil }

// A trace that is generated is read without a bad row, is what the source tells of its own, and is the same for the same seed.
func TestAGeneratedTraceIsLikeTheSources(t *testing.T) {
	generated := func() map[string]string {
		builders, files := map[string]*strings.Builder{}, map[string]string{}
		err := Generate(0.01, 7, func(name string) (io.WriteCloser, error) {
			builders[name] = &strings.Builder{}
			return closing{builders[name]}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for name, b := range builders {
			files[name] = b.String()
		}
		return files
	}
	files := generated()
	if !maps.Equal(files, generated()) {
		t.Error("the same seed gives another trace")
	}
	s := read(t, files)
	for _, f := range s.Files {
		if f.Bad > 0 {
			t.Errorf("%+v", f)
		}
	}
	for _, c := range []struct {
		name             string
		got, least, most float64
	}{
		{"jobs", float64(s.Batch.Jobs), 130, 130}, {"tasks per job", s.Batch.TasksPerJob.Mean, 4.5, 7.5},
		{"instances per task", s.Batch.Instances.Mean, 70, 300}, {"jobs within 0.19 h", s.Batch.Short, 80, 97},
		{"machines", float64(s.Machines), 13, 13}, {"services", float64(s.Services.Count), 111, 111},
		{"CPU of services", s.Services.CPUMean.P50, 4, 8}, {"most CPU of services", s.Services.CPUMost.P50, 14, 28},
		{"correlation", s.Proportion.Correlation, -1, -0.8},
	} {
		if !(c.got >= c.least && c.got <= c.most) {
			t.Errorf("%s: %g, want %g to %g", c.name, c.got, c.least, c.most)
		}
	}
	for _, scale := range []float64{0, -1, math.NaN(), 11} {
		if Generate(scale, 1, nil) == nil {
			t.Errorf("scale %g is taken", scale)
		}
	}
	full := errors.New("no space")
	if err := Generate(0.01, 1, func(string) (io.WriteCloser, error) { return nil, full }); !errors.Is(err, full) {
		t.Errorf("a file that cannot be made: %v", err)
	}
}
