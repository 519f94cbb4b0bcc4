package eventlog

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
)

// stageInfo is what an event says of a stage.
type stageInfo struct {
	ID        int    `json:"Stage ID"`
	Attempt   int    `json:"Stage Attempt ID"`
	Name      string `json:"Stage Name"`
	Tasks     int    `json:"Number of Tasks"`
	RDDs      []rdd  `json:"RDD Info"`
	Parents   []int  `json:"Parent IDs"`
	Submitted int64  `json:"Submission Time"`
	Completed int64  `json:"Completion Time"`
	Failed    string `json:"Failure Reason"`
}

// rdd is an RDD that a stage computes.
type rdd struct {
	ID         int    `json:"RDD ID"`
	Name       string `json:"Name"`
	Scope      string `json:"Scope"` // JSON of its own.
	Parents    []int  `json:"Parent IDs"`
	Partitions int    `json:"Number of Partitions"`
}

// code is what the RDD has of its stage's signature.
func (d *rdd) code() profiles.RDD {
	var scope struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal([]byte(d.Scope), &scope) // It has none, then.
	return profiles.RDD{Name: d.Name, Scope: scope.Name, Root: len(d.Parents) == 0}
}

func stageSubmitted(r *reader, e *event) error {
	i := &e.Stage
	stage := r.stage(i.ID)
	if stage == nil {
		stage = r.begin(i, &e.Properties)
	}
	if stage.attempt(i.Attempt) == nil {
		stage.Attempts = append(stage.Attempts, Attempt{Attempt: i.Attempt, Tasks: i.Tasks, Submitted: r.moment(i.Submitted)})
		r.running[api.StageKey{Stage: i.ID, Attempt: i.Attempt}] = &running{}
	}
	return nil
}

// begin notes a stage that is submitted for the first time. The place of its query among those of a shape is that
// of the query's first stage.
func (r *reader) begin(i *stageInfo, p *properties) *Stage {
	stage := Stage{ID: i.ID, Name: i.Name, Job: -1, Query: p.query(), Pool: p.Pool}
	if job, known := r.first[i.ID]; known {
		stage.Job = job
	}
	if len(i.RDDs) > 0 {
		stage.Partitions = i.RDDs[0].Partitions
	}
	if at, known := r.queries[stage.Query]; known && r.app.Queries[at].Nth < 0 {
		q := &r.app.Queries[at]
		q.Nth = r.shapes[q.Shape]
		r.shapes[q.Shape]++
	}
	r.stages[i.ID] = len(r.app.Stages)
	r.app.Stages = append(r.app.Stages, stage)
	return &r.app.Stages[len(r.app.Stages)-1]
}

func stageCompleted(r *reader, e *event) error {
	i := &e.Stage
	stage := r.stage(i.ID)
	a := stage.attempt(i.Attempt)
	if a == nil {
		return nil // A compacted log has dropped the beginning.
	}
	a.Submitted, a.Completed = cmp.Or(i.Submitted, a.Submitted), cmp.Or(r.moment(i.Completed), r.last)
	key := api.StageKey{Stage: i.ID, Attempt: i.Attempt}
	kind := ""
	if was := r.running[key]; was != nil {
		kind = was.kind
	}
	delete(r.running, key)
	if a.Failed = i.Failed; a.Failed != "" {
		r.losses++
	}
	if stage.Signature == "" && kind != "" {
		r.sign(stage, i, kind == "ShuffleMapTask")
	}
	return nil
}

// sign finds what a stage is recognised by, and what it reads from, as the driver does (StageHistory.scala).
func (r *reader) sign(stage *Stage, i *stageInfo, writes bool) {
	stage.Map = writes
	sorted, shuffled := chain(i.RDDs)
	signed := profiles.StageCode{Map: writes, Name: i.Name}
	for i := range sorted {
		d := &sorted[i]
		signed.RDDs = append(signed.RDDs, d.code())
	}
	for _, id := range shuffled {
		from := r.writer(id, i.Parents)
		if from == nil {
			signed.Parents = append(signed.Parents, profiles.Signed{})
			continue
		}
		signed.Parents = append(signed.Parents, profiles.Signed{Signature: from.Signature, Lineage: from.Lineage})
		stage.Parents = append(stage.Parents, from.ID)
	}
	slices.Sort(stage.Parents)
	stage.Parents = slices.Compact(stage.Parents)
	of := signed.Sign()
	stage.Signature, stage.Lineage, stage.Python = of.Signature, of.Lineage, signed.Python()
	if writes && len(sorted) > 0 {
		stage.Repeats = r.repeated(stage, sorted[0].ID)
		r.writers[sorted[0].ID] = append(r.writers[sorted[0].ID], stage.ID)
		r.wrote[stage.ID] = r.losses
	}
}

// chain are the RDDs that a stage computes, from the last one on, and those that it reads by a shuffle. A parent
// that the stage does not compute is read by one.
func chain(rdds []rdd) (sorted []rdd, shuffled []int) {
	of := make(map[int]*rdd, len(rdds))
	for i := range rdds {
		of[rdds[i].ID] = &rdds[i]
	}
	if len(rdds) == 0 {
		return nil, nil
	}
	seen := map[int]bool{rdds[0].ID: true}
	sorted = append(sorted, rdds[0])
	for next := 0; next < len(sorted); next++ {
		for _, id := range sorted[next].Parents {
			if seen[id] {
				continue
			}
			seen[id] = true
			if d := of[id]; d != nil {
				sorted = append(sorted, *d)
			} else {
				shuffled = append(shuffled, id)
			}
		}
	}
	return sorted, shuffled
}

// writer is the stage that wrote what is read of an RDD: where several have, the newest of those that Spark
// itself calls parents, else the newest; nil where none has.
func (r *reader) writer(rdd int, parents []int) *Stage {
	all := r.writers[rdd]
	for _, id := range slices.Backward(all) {
		if slices.Contains(parents, id) {
			return r.stage(id)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return r.stage(all[len(all)-1])
}

// repeated is the first stage whose lost output one writes again under another id, nil where it writes its own.
func (r *reader) repeated(stage *Stage, rdd int) *int {
	for _, id := range r.writers[rdd] {
		if was := r.stage(id); was.ID != stage.ID && was.Name == stage.Name && (r.losses > r.wrote[id] || stage.partial()) {
			return &id
		}
	}
	return nil
}

// partial reports whether its first attempt computed only some of its partitions.
func (s *Stage) partial() bool { return s.Attempts[0].Tasks < s.Partitions }
