package planner

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// figure is what its node told of an executor's work for a stage, as it is kept and
// stored: without a pointer, as a planner of many applications has tens of thousands of
// them. None of its numbers falls, so that a node's restart takes nothing back.
type figure struct {
	CPU    units.Work // Used for the stage.
	Quotas int64      // Written for it.
	// Heavy is the CPU time of the heavy tasks that have finished, Reading the part of
	// it in which they read.
	Heavy, Reading units.Work
	// Would is the sum of what the executor of an observed application would have been
	// granted in the ticks in which tasks ran, WouldTicks their number.
	Would      units.Cores
	WouldTicks int64
}

// view is what a node told last of an executor at work on a stage; it is not stored.
type view struct {
	progress units.Fraction
	pace     pace
	// lacked is the time for which it got less than it asked for, each moment counted by
	// the part that was missing.
	lacked units.Seconds
}

// number is an executor's, from 1: ids are decimal (addExecutor); 0 for what is none.
func number(id api.ExecutorID) int {
	n, err := strconv.Atoi(string(id))
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// reach makes list long enough for the executor of that number.
func reach[T any](list []T, number int) []T {
	if missing := number - len(list); missing > 0 {
		return append(list, make([]T, missing)...)
	}
	return list
}

// reached is the value of the executor of that id, zero where nothing was told of it.
func reached[T any](list []T, id api.ExecutorID) (v T) {
	if n := number(id); n > 0 && n <= len(list) {
		v = list[n-1]
	}
	return v
}

func (s *stage) figure(id api.ExecutorID) figure { return reached(s.figures, id) }
func (s *stage) view(id api.ExecutorID) view     { return reached(s.views, id) }

// appendNumbers appends the value of a list of numbers or of structs of them: a byte
// with stateVersion, then all, little endian.
func appendNumbers[T any](list []T) ([]byte, error) {
	return binary.Append([]byte{stateVersion}, binary.LittleEndian, list)
}

// readNumbers is appendNumbers' inverse.
func readNumbers[T any](b []byte) ([]T, error) {
	var one T
	size := binary.Size(one)
	if len(b) == 0 || (len(b)-1)%size != 0 || b[0] != stateVersion {
		return nil, fmt.Errorf("it is no list of layout %d", stateVersion)
	}
	list := make([]T, (len(b)-1)/size)
	_, err := binary.Decode(b[1:], binary.LittleEndian, list)
	return list, err
}

// putNumbers saves a list under key.
func putNumbers[T any](e *Engine, key string, list []T) {
	value, err := appendNumbers(list)
	e.putText(key, value, err)
}

// oldFigures are a stage's figures in versions 1 and 2, as JSON by executor.
type oldFigures struct {
	CPU          map[api.ExecutorID]units.Work `json:"cpu"`
	QuotaChanges map[api.ExecutorID]int64      `json:"quota_changes"`
	Heavy        map[api.ExecutorID]struct {
		CPU     units.Work `json:"core_seconds"`
		Reading units.Work `json:"reading_core_seconds"`
	} `json:"heavy"`
	Would map[api.ExecutorID]struct {
		Sum   units.Cores `json:"sum"`
		Ticks int64       `json:"ticks"`
	} `json:"would"`
}

// readFigures reads a stage's figures in the layout of any version.
func readFigures(b []byte) (list []figure, err error) {
	if !bytes.HasPrefix(b, []byte("{")) {
		return readNumbers[figure](b)
	}
	var old oldFigures
	err = json.Unmarshal(b, &old)
	of := func(id api.ExecutorID) *figure {
		n := max(1, number(id))
		list = reach(list, n)
		return &list[n-1]
	}
	for id, v := range old.CPU {
		of(id).CPU = v
	}
	for id, v := range old.QuotaChanges {
		of(id).Quotas = v
	}
	for id, v := range old.Heavy {
		of(id).Heavy, of(id).Reading = v.CPU, v.Reading
	}
	for id, v := range old.Would {
		of(id).Would, of(id).WouldTicks = v.Sum, v.Ticks
	}
	return slices.Clip(list), err
}

// putUsage saves the CPU time of a's executors: it grows all the time, and their
// record need not be written for it.
func (e *Engine) putUsage(a *app) {
	used := make([]units.Work, 0, len(a.Executors))
	for _, x := range a.Executors {
		used = append(used, x.CPU)
	}
	putNumbers(e, usageKey(a.ID), used)
}

// restoreUsage gives a's executors the CPU time back that was saved last.
func (a *app) restoreUsage(b []byte) error {
	used, err := readNumbers[units.Work](b)
	for i, cpu := range used[:min(len(used), len(a.Executors))] {
		a.Executors[i].CPU = max(a.Executors[i].CPU, cpu)
	}
	return err
}
