package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Summary is what a trace comes to.
type Summary struct {
	Files []File `json:"files"`
	Batch *Batch `json:"batch,omitempty"`
	// Space is over machines (Machines of these), Time over hours; Proportion is CPU against memory.
	Machines   int         `json:"machines,omitempty"`
	Space      *Use        `json:"space,omitempty"`
	Time       *Use        `json:"time,omitempty"`
	Proportion *Proportion `json:"proportion,omitempty"`
	// Services are the containers that run all the time.
	Services *Services `json:"services,omitempty"`
}

// File is what became of a file's rows. FirstBad says where the first bad one is and what is wrong there.
type File struct {
	Name     string `json:"name"`
	Rows     int    `json:"rows"`
	Bad      int    `json:"bad"`
	FirstBad string `json:"first_bad,omitempty"`
}

// Batch are the rows of Table 6.11. Durations are seconds; those of tasks, and Instances, are of tasks that ended
// well. A job lasts from the creation of its first task that ended well to the end of its last one.
type Batch struct {
	Jobs             int           `json:"jobs"`
	Tasks            int           `json:"tasks"`
	Terminated       int           `json:"tasks_terminated"`
	Failed           int           `json:"tasks_failed"`
	Waiting          int           `json:"tasks_waiting"`
	Running          int           `json:"tasks_running"`
	TasksPerJob      *Distribution `json:"tasks_per_job"`
	Instances        *Distribution `json:"instances_per_task"`
	TaskDuration     *Distribution `json:"task_duration_s"`
	JobDuration      *Distribution `json:"job_duration_s"`
	Short            float64       `json:"jobs_within_0.19_h_pct"`
	TotalInstances   int           `json:"instances,omitempty"`
	InstanceDuration *Distribution `json:"instance_duration_s,omitempty"`
	Requested        *Distribution `json:"cpu_requested_per_instance,omitempty"`
	Used             *Distribution `json:"cpu_used_per_instance,omitempty"`
	MemoryUsed       *Distribution `json:"memory_used_per_instance,omitempty"`
}

// Use is how CPU and memory are spread, in per cent: over the means of machines, or of hours.
type Use struct {
	CPU    *Distribution `json:"cpu_pct"`
	Memory *Distribution `json:"memory_pct,omitempty"`
	// Greatest names the machine or the hour with most CPU.
	Greatest string `json:"greatest"`
}

// Proportion is how CPU goes with memory on the machines: Correlation of their means, and how many per cent of CPU
// there are for each of memory. Correlation is NaN-free: 0 where one of the two is the same everywhere.
type Proportion struct {
	Correlation float64       `json:"correlation"`
	Ratio       *Distribution `json:"cpu_over_memory"`
}

// Services are containers: how many, and the mean and most of what each used of its request, in per cent.
type Services struct {
	Count   int           `json:"count"`
	CPUMean *Distribution `json:"cpu_mean_pct"`
	CPUMost *Distribution `json:"cpu_max_pct"`
	Memory  *Distribution `json:"memory_mean_pct"`
	// PerBatchInstance is how many instances of batch jobs there are for each.
	PerBatchInstance float64 `json:"batch_instances_each,omitempty"`
}

// table is a file of the Alibaba trace: its name, how many columns a row has at least, and what takes a row.
type table struct {
	name    string
	columns int
	take    func(*Reader, *row)
}

var tables = []table{
	{"batch_task.csv", 8, (*Reader).task},
	{"batch_instance.csv", 8, (*Reader).instance},
	{"container_event.csv", 6, (*Reader).containerEvent},
	{"container_usage.csv", 4, (*Reader).containerUsage},
	{"server_event.csv", 3, (*Reader).serverEvent},
	{"server_usage.csv", 4, (*Reader).serverUsage},
}

// Read reads the files of a trace in a directory. A directory that has none of them is an error, as is one that
// cannot be read.
func Read(dir fs.FS) (*Summary, error) {
	r, found := NewReader(), false
	for _, name := range Names() {
		f, err := dir.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			found = true
			err = errors.Join(r.Take(name, f), f.Close())
		}
		if err != nil {
			return nil, fmt.Errorf("trace: %s: %w", name, err)
		}
	}
	if !found {
		return nil, fmt.Errorf("trace: the directory has none of %s", strings.Join(Names(), ", "))
	}
	return r.Summary(), nil
}

// Names are the names of the files of a trace.
func Names() (names []string) {
	for _, t := range tables {
		names = append(names, t.name)
	}
	return append(names, appsFile, coresFile)
}

// Take reads one file of a trace. It returns errors of reading; what is wrong in the file is in the Summary.
func (r *Reader) Take(name string, from io.Reader) error {
	switch name {
	case appsFile:
		return r.apps(from)
	case coresFile:
		return r.cores(from)
	}
	i := slices.IndexFunc(tables, func(t table) bool { return t.name == name })
	if i < 0 {
		return fmt.Errorf("it is none of %s", strings.Join(Names(), ", "))
	}
	file, lines, x := File{Name: name}, bufio.NewReaderSize(from, 1<<20), row{}
	for n, whole := 1, true; whole; n++ {
		line, err := lines.ReadSlice('\n')
		whole = err == nil
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("line %d has more than 1 MiB", n)
		case err != nil && !errors.Is(err, io.EOF):
			return fmt.Errorf("line %d: %w", n, err)
		}
		line = bytes.TrimSpace(line)
		x.split(line)
		switch {
		case len(line) == 0 || n == 1 && !isNumber(x.columns[0]): // Nothing, or a heading.
			continue
		case len(x.columns) < tables[i].columns:
			x.fault = fmt.Sprintf("it has %d columns of %d", len(x.columns), tables[i].columns)
		default:
			tables[i].take(r, &x)
		}
		if x.fault == "" {
			file.Rows++
		} else if file.Bad++; file.Bad == 1 {
			file.FirstBad = fmt.Sprintf("line %d: %s", n, x.fault)
		}
	}
	r.files = append(r.files, file)
	return nil
}

// row is a row of a table. Its reader reads all that it wants before it looks at fault.
type row struct {
	columns [][]byte
	fault   string
}

func (x *row) split(line []byte) {
	x.columns, x.fault = x.columns[:0], ""
	for {
		i := bytes.IndexByte(line, ',')
		if i < 0 {
			x.columns = append(x.columns, line)
			return
		}
		x.columns, line = append(x.columns, line[:i]), line[i+1:]
	}
}

// text is a column, from 0.
func (x *row) text(i int) string { return string(bytes.TrimSpace(x.columns[i])) }

// number is the number in a column; a column without one makes the row bad.
func (x *row) number(i int) float64 {
	text := bytes.TrimSpace(x.columns[i])
	if whole, is := digits(text); is {
		return whole
	}
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		x.fault = fmt.Sprintf("column %d is %q, want a number", i+1, text)
	}
	return n
}

// optional is the number in a column that a row may lack.
func (x *row) optional(i int) (n float64, there bool) {
	if i >= len(x.columns) || len(bytes.TrimSpace(x.columns[i])) == 0 {
		return 0, false
	}
	return x.number(i), true
}

// digits is a whole number of up to 15 digits, which most columns are.
func digits(text []byte) (n float64, is bool) {
	if len(text) == 0 || len(text) > 15 {
		return 0, false
	}
	var whole int64
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		whole = 10*whole + int64(c-'0')
	}
	return float64(whole), true
}

func isNumber(text []byte) bool {
	_, err := strconv.ParseFloat(string(bytes.TrimSpace(text)), 64)
	return err == nil
}
