package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// PlanEncoder encodes Plans. It remembers the text of each application's Launch,
// which is the longest part of a Plan and the same in all of them and at all times;
// one that has changed is encoded anew. The zero value is ready; it is not safe for
// concurrent use.
type PlanEncoder struct{ launches map[launchKey]*launchText }

// launchKey is what a Launch hangs on: nodes differ in their cores.
type launchKey struct {
	app   AppID
	cores int
}

type launchText struct {
	launch Launch
	text   []byte
}

// mostLaunches is how many are remembered, about 1 KiB each: twice as many as there
// are applications in the largest planner measured.
const mostLaunches = 2048

// Append appends to b what json.Marshal makes of p, byte by byte (tested), or
// returns its error: a stage's event makes a Plan for each of its nodes, and having
// them encoded by reflection was two fifths of its cost.
func (e *PlanEncoder) Append(b []byte, p *Plan) ([]byte, error) {
	from := len(b)
	b = strconv.AppendInt(append(b, `{"v":`...), int64(p.V), 10)
	b = strconv.AppendUint(append(b, `,"epoch":`...), p.Epoch, 10)
	b = appendOptional(b, `,"planner":`, p.Planner)
	if p.Term != 0 {
		b = strconv.AppendUint(append(b, `,"term":`...), p.Term, 10)
	}
	if p.Sent != 0 {
		b = strconv.AppendInt(append(b, `,"sent_ns":`...), int64(p.Sent), 10)
	}
	b = appendText(append(b, `,"node":`...), p.Node)
	b = append(appendList(append(b, `,"apps":`...), p.Apps, e.appendApp), '}')
	if bytes.IndexByte(b[from:], rare) < 0 {
		return b, nil
	}
	text, err := json.Marshal(p)
	return append(b[:from], text...), err
}

// rare stands for what is left to encoding/json: text to be escaped, exponents, what
// is no number. JSON never holds this byte.
const rare = 0

func (e *PlanEncoder) appendApp(b []byte, a *PlanApp) []byte {
	b = appendText(append(b, `{"id":`...), string(a.ID))
	b = appendText(append(b, `,"name":`...), a.Name)
	b = strconv.AppendBool(append(b, `,"has_deadline":`...), a.HasDeadline)
	b = appendFloat(append(b, `,"remaining_s":`...), float64(a.Remaining))
	if a.NominalRate != 0 {
		b = appendFloat(append(b, `,"nominal_rate":`...), float64(a.NominalRate))
	}
	b = append(append(b, `,"launch":`...), e.launch(a)...)
	b = appendList(append(b, `,"executors":`...), a.Executors, appendOne[ExecutorID])
	return append(appendList(append(b, `,"stages":`...), a.Stages, appendTarget), '}')
}

// launch is the text of a's Launch.
func (e *PlanEncoder) launch(a *PlanApp) []byte {
	key := launchKey{a.ID, a.Launch.Cores}
	known := e.launches[key]
	if known == nil || !known.launch.equal(&a.Launch) {
		if e.launches == nil || len(e.launches) >= mostLaunches {
			e.launches = make(map[launchKey]*launchText)
		}
		known = &launchText{a.Launch, appendLaunch(nil, &a.Launch)}
		e.launches[key] = known
	}
	return known.text
}

// equal reports whether both have the same text: an empty list or map is left out as
// one that is not there.
func (l *Launch) equal(o *Launch) bool {
	return l.DriverURL == o.DriverURL && l.SparkHome == o.SparkHome && l.JavaHome == o.JavaHome && l.SparkVersion == o.SparkVersion &&
		l.Cores == o.Cores && l.Heap == o.Heap && l.Overhead == o.Overhead && l.OffHeap == o.OffHeap && l.OffHeapFixed == o.OffHeapFixed &&
		slices.Equal(l.JavaOptions, o.JavaOptions) && slices.Equal(l.ClassPath, o.ClassPath) && maps.Equal(l.Env, o.Env) &&
		l.Mode == o.Mode && l.Image == o.Image
}

func appendTarget(b []byte, t *StageTarget) []byte {
	b = strconv.AppendInt(append(b, `{"stage":`...), int64(t.Stage), 10)
	b = strconv.AppendInt(append(b, `,"attempt":`...), int64(t.Attempt), 10)
	b = appendText(append(b, `,"executor":`...), string(t.Executor))
	b = strconv.AppendUint(append(b, `,"rev":`...), t.Rev, 10)
	b = appendFloat(append(b, `,"remaining_s":`...), float64(t.Remaining))
	b = appendFloat(append(b, `,"weight":`...), t.Weight)
	b = strconv.AppendInt(append(b, `,"tasks":`...), int64(t.Tasks), 10)
	b = appendFloat(append(b, `,"core_seconds":`...), float64(t.Work))
	b = appendFloat(append(b, `,"records":`...), t.Records)
	if t.LongestTask != 0 {
		b = appendFloat(append(b, `,"longest_task_s":`...), float64(t.LongestTask))
	}
	if t.Reading != 0 {
		b = appendFloat(append(b, `,"reading":`...), float64(t.Reading))
	}
	if t.Even != 0 {
		b = appendFloat(append(b, `,"even":`...), float64(t.Even))
	}
	b = appendFloat(append(b, `,"init_cores":`...), float64(t.InitCores))
	if t.Hold != 0 {
		b = appendFloat(append(b, `,"hold_cores":`...), float64(t.Hold))
	}
	if t.HoldFor != 0 {
		b = appendFloat(append(b, `,"hold_s":`...), float64(t.HoldFor))
	}
	if t.Last {
		b = append(b, `,"last":true`...)
	}
	return append(b, '}')
}

func appendLaunch(b []byte, l *Launch) []byte {
	b = appendText(append(b, `{"driver_url":`...), l.DriverURL)
	b = appendOptional(b, `,"spark_home":`, l.SparkHome)
	b = appendOptional(b, `,"java_home":`, l.JavaHome)
	b = appendOptional(b, `,"spark_version":`, l.SparkVersion)
	if l.Cores != 0 {
		b = strconv.AppendInt(append(b, `,"cores":`...), int64(l.Cores), 10)
	}
	b = strconv.AppendInt(append(b, `,"heap_bytes":`...), int64(l.Heap), 10)
	b = strconv.AppendInt(append(b, `,"overhead_bytes":`...), int64(l.Overhead), 10)
	b = strconv.AppendInt(append(b, `,"offheap_bytes":`...), int64(l.OffHeap), 10)
	if l.OffHeapFixed {
		b = append(b, `,"offheap_fixed":true`...)
	}
	if len(l.JavaOptions) > 0 {
		b = appendList(append(b, `,"java_options":`...), l.JavaOptions, appendOne[string])
	}
	if len(l.ClassPath) > 0 {
		b = appendList(append(b, `,"class_path":`...), l.ClassPath, appendOne[string])
	}
	if len(l.Env) > 0 {
		b = appendTexts(append(b, `,"env":`...), l.Env)
	}
	b = appendOptional(b, `,"mode":`, string(l.Mode))
	return append(appendOptional(b, `,"image":`, l.Image), '}')
}

// appendList appends a slice, each value as one does it.
func appendList[T any](b []byte, values []T, one func([]byte, *T) []byte) []byte {
	if values == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, &values[i])
	}
	return append(b, ']')
}

// appendTexts appends a map that is not empty, in the order of its keys.
func appendTexts(b []byte, m map[string]string) []byte {
	keys := make([]string, 0, 16)
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	separator := byte('{')
	for _, k := range keys {
		b = appendText(append(b, separator), k)
		b = appendText(append(b, ':'), m[k])
		separator = ','
	}
	return append(b, '}')
}

func appendOptional(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return appendText(append(b, name...), value)
}

func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if !plain[s[i]] {
			return append(b, rare)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// plain are the bytes that JSON has as they are: a table, because Plans hold long
// paths and options.
var plain = func() (is [256]bool) {
	for c := ' '; c <= '~'; c++ {
		is[c] = !strings.ContainsRune(`"\<>&`, c)
	}
	return is
}()

// appendOne is appendText for the values of a list.
func appendOne[T ~string](b []byte, s *T) []byte { return appendText(b, string(*s)) }

func appendFloat(b []byte, v float64) []byte {
	size := math.Abs(v)
	if v != 0 && !(size >= 1e-6 && size < 1e21) {
		return append(b, rare)
	}
	if size >= 1 && size < 1<<53 && math.Trunc(v) == v {
		return strconv.AppendInt(b, int64(v), 10) // The same text, sooner.
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}
