package api

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// AppendJSON appends to b what json.Marshal makes of p, byte by byte (tested), or
// returns its error: a stage's event makes a Plan for each of its nodes, and having
// them encoded by reflection was two fifths of its cost.
func (p *Plan) AppendJSON(b []byte) ([]byte, error) {
	from := len(b)
	b = strconv.AppendInt(append(b, `{"v":`...), int64(p.V), 10)
	b = strconv.AppendUint(append(b, `,"epoch":`...), p.Epoch, 10)
	b = appendText(append(b, `,"node":`...), p.Node)
	b = append(appendList(append(b, `,"apps":`...), p.Apps, appendApp), '}')
	if bytes.IndexByte(b[from:], rare) < 0 {
		return b, nil
	}
	text, err := json.Marshal(p)
	return append(b[:from], text...), err
}

// rare stands for what is left to encoding/json: text to be escaped, exponents, what
// is no number. JSON never holds this byte.
const rare = 0

func appendApp(b []byte, a *PlanApp) []byte {
	b = appendText(append(b, `{"id":`...), string(a.ID))
	b = appendText(append(b, `,"name":`...), a.Name)
	b = strconv.AppendBool(append(b, `,"has_deadline":`...), a.HasDeadline)
	b = appendFloat(append(b, `,"remaining_s":`...), float64(a.Remaining))
	if a.NominalRate != 0 {
		b = appendFloat(append(b, `,"nominal_rate":`...), float64(a.NominalRate))
	}
	b = appendLaunch(append(b, `,"launch":`...), &a.Launch)
	b = appendList(append(b, `,"executors":`...), a.Executors, appendOne[ExecutorID])
	return append(appendList(append(b, `,"stages":`...), a.Stages, appendTarget), '}')
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
	b = appendFloat(append(b, `,"init_cores":`...), float64(t.InitCores))
	if t.Hold != 0 {
		b = appendFloat(append(b, `,"hold_cores":`...), float64(t.Hold))
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
