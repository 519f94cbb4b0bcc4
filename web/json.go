package web

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/sparkpacer/pacer/api"
)

// object is an object of JSON.
type object = map[string]any

// unknown are the members by whose 0 package api says that something is not known.
var unknown = map[string]bool{"deadline_s": true, "duration_s": true, "first_launch_s": true,
	"predicted_finish_s": true, "earliest_s": true, "end_s": true, "mean_cores": true, "cores": true, "memory_bytes": true}

// answer is v, which is an object in JSON, with null for what is not known and the version of the API.
func answer(v any) object {
	o := values(v)
	o["v"] = api.Version
	return o
}

// values are v's as JSON has them, with null for what is not known.
func values(v any) object {
	out := object{}
	body, err := json.Marshal(v)
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(body))
		d.UseNumber()
		_ = d.Decode(&out) // It was made a moment ago.
	}
	forget(out)
	return out
}

func forget(v any) {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			forget(inner)
		}
	case object:
		for key, inner := range v {
			if inner == json.Number("0") && unknown[key] {
				v[key] = nil
			}
			forget(inner)
		}
	}
}

// diff is the JSON Merge Patch (RFC 7396) by which from becomes to. A key that is null is not there.
func diff(from, to object) object {
	patch := object{}
	for key, value := range to {
		before, ok1 := from[key].(object)
		after, ok2 := value.(object)
		switch {
		case ok1 && ok2:
			if inside := diff(before, after); len(inside) > 0 {
				patch[key] = inside
			}
		case !reflect.DeepEqual(from[key], value):
			patch[key] = value
		}
	}
	for key, was := range from {
		if _, there := to[key]; !there && was != nil {
			patch[key] = nil
		}
	}
	return patch
}
