package trace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/sparkpacer/pacer/api"
)

// The files that Pacer itself prints.
const appsFile, coresFile = "apps.json", "cores.json"

// apps takes what `pacer apps -o json` prints: an application that has ended well is a job with one task, one that
// waits or runs, or failed, a task of that status.
func (r *Reader) apps(from io.Reader) error {
	var list struct {
		Apps []api.AppSummary `json:"applications"`
	}
	if err := json.NewDecoder(from).Decode(&list); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	file := File{Name: appsFile, Rows: len(list.Apps)}
	for _, a := range list.Apps {
		status := map[api.AppState]string{api.AppFinished: terminatedWord, api.AppQueued: waitingWord,
			api.AppRunning: runningWord, api.AppEnding: runningWord}[a.State]
		status = cmp.Or(status, failedWord)
		start := float64(a.Submitted.Unix())
		r.ranTask(&row{}, string(a.ID), status, start, start+float64(a.Duration), 1)
	}
	r.files = append(r.files, file)
	return nil
}

// cores takes who had the cluster's cores over time: how much of what was offered was used, hour by hour.
func (r *Reader) cores(from io.Reader) error {
	var h api.CoresHistory
	if err := json.NewDecoder(from).Decode(&h); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	for i := range h.Points {
		used, offered := at(h.Rest.Used, i), at(h.Offered, i)
		for _, a := range h.Apps {
			used += at(a.Used, i)
		}
		if offered > 0 {
			of(r.hours, hour(float64(i)*float64(h.Step))).add(100*used/offered, 0)
		}
	}
	r.files = append(r.files, File{Name: coresFile, Rows: h.Points})
	return nil
}

// at is a value of a column; 0 where nobody knows it.
func at(c api.Column, i int) float64 {
	if i >= len(c) || math.IsNaN(float64(c[i])) {
		return 0
	}
	return float64(c[i])
}
