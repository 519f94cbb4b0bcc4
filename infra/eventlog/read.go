package eventlog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Source is a file of a log. Files of a directory are Sources in their order.
type Source struct {
	// Name is the file's, which errors have.
	Name string
	Open func() (io.ReadCloser, error)
}

// longestLine is how long a line may be.
const longestLine = 1 << 26

// Read reads a log in one pass and hands its tasks to each, nil for nobody, as they end; what it hands is
// its own, and changes afterwards. A log that is cut off is read up to there.
func Read(sources []Source, each func(*Task)) (Application, error) {
	r := newReader(each)
	empty := 0
	for _, source := range sources {
		if strings.HasSuffix(source.Name, ".compact") {
			r.cut(source.Name, 1, "Spark has compacted it, and dropped jobs that had ended")
		}
		err := r.file(source)
		if errors.Is(err, errEmpty) && len(sources) > 1 {
			empty++ // A file that was begun, and is written to next.
			err = nil
		}
		if err == nil && empty == len(sources) {
			err = errEmpty
		}
		if err != nil {
			return Application{}, fmt.Errorf("read an event log: %s: %w", source.Name, err)
		}
	}
	return r.end(), nil
}

// file reads one of a log's files.
func (r *reader) file(source Source) error {
	file, err := source.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	packed, err := unpacked(source.Name, file)
	if err != nil {
		return err
	}
	defer packed.Close()
	lines := bufio.NewReaderSize(packed, 1<<20)
	for n := 1; ; n++ {
		line, err := r.line(lines)
		if whole := err == nil; whole || errors.Is(err, io.EOF) && len(line) > 0 {
			var fault error
			if len(bytes.TrimSpace(line)) > 0 {
				fault = r.event(line)
			}
			switch {
			case fault != nil && whole:
				return fmt.Errorf("line %d: %w", n, fault)
			case fault != nil:
				r.cut(source.Name, n, "a line has no end")
			}
			r.app.Lines++
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			r.cut(source.Name, n, "a block has no end")
			return nil
		default:
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
}

// line is the next line, without its end. It is the reader's until the next one.
func (r *reader) line(lines *bufio.Reader) ([]byte, error) {
	line, err := lines.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		r.long = append(r.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) && len(r.long) <= longestLine {
			line, err = lines.ReadSlice('\n')
			r.long = append(r.long, line...)
		}
		if line = r.long; len(line) > longestLine {
			return nil, fmt.Errorf("it is longer than %d MiB", longestLine>>20)
		}
	}
	return bytes.TrimSuffix(line, []byte("\n")), err
}

// cut notes where a log was cut off first.
func (r *reader) cut(name string, line int, how string) {
	if r.app.Cut == "" {
		r.app.Cut = fmt.Sprintf("%s: line %d: %s", name, line, how)
	}
}

// begins is how a line of Spark's begins: the name of its event comes first.
var begins = []byte(`{"Event":"`)

// event takes one line.
func (r *reader) event(line []byte) error {
	name, ok := nameOf(line)
	if !ok {
		return fmt.Errorf("it is no event of Spark's, but %q", line[:min(len(line), 40)])
	}
	if read := tasks[name]; read != nil {
		s := scan{b: line}
		if read(r, &s); s.bad {
			return fmt.Errorf("%s is no JSON", name)
		}
		return nil
	}
	read, known := handlers[name]
	if !known {
		if _, seen := r.app.Unknown[name]; !others.MatchString(name) && (seen || len(r.app.Unknown) < mostUnknown) {
			r.app.Unknown[name]++
		}
		return nil
	}
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return read(r, &e)
}

// nameOf is the name of the event of a line.
func nameOf(line []byte) (string, bool) {
	if rest, is := bytes.CutPrefix(line, begins); is {
		name, _, ok := bytes.Cut(rest, []byte(`"`))
		return string(name), ok
	}
	var e struct{ Event string }
	err := json.Unmarshal(line, &e)
	return e.Event, err == nil && e.Event != ""
}

// mostUnknown is how many names of unknown events are kept.
const mostUnknown = 100

// tasks are the events that are most of a log, handlers the others that matter.
var (
	tasks = map[string]func(*reader, *scan){
		"SparkListenerTaskStart": taskStart,
		"SparkListenerTaskEnd":   taskEnd,
	}
	handlers = map[string]func(*reader, *event) error{
		"SparkListenerLogStart":          logStart,
		"SparkListenerApplicationStart":  applicationStart,
		"SparkListenerApplicationEnd":    applicationEnd,
		"SparkListenerEnvironmentUpdate": environment,
		"SparkListenerExecutorAdded":     executorAdded,
		"SparkListenerExecutorRemoved":   executorRemoved,
		"SparkListenerJobStart":          jobStart,
		"SparkListenerJobEnd":            jobEnd,
		"SparkListenerStageSubmitted":    stageSubmitted,
		"SparkListenerStageCompleted":    stageCompleted,
		sqlEvents + "Start":              queryStart,
		sqlEvents + "End":                queryEnd,
	}
)

const sqlEvents = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution"

// others are the events that Spark 3.5 to 4.3 write besides, and no reader here needs.
var others = regexp.MustCompile(`^(SparkListener(TaskGettingResult|StageExecutorMetrics|SpeculativeTaskSubmitted|` +
	`BlockManager(Added|Removed)|BlockUpdated|UnpersistRDD|ResourceProfileAdded|ExecutorMetricsUpdate|` +
	`MiscellaneousProcessAdded|(Executor|Node)(Excluded|Unexcluded|Blacklisted|Unblacklisted)(ForStage)?|` +
	`UnschedulableTaskSet(Added|Removed))|org\.apache\.spark\..*)$`)

// names are texts that come again and again, each kept once; so many of them.
type names map[string]string

const mostNames = 1 << 16

// of is the text of those bytes.
func (n names) of(text []byte) string {
	known, is := n[string(text)]
	if !is {
		if known = string(text); len(n) < mostNames {
			n[known] = known
		}
	}
	return known
}
