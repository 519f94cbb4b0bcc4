package web

import (
	"bytes"
	"encoding/json"
	"iter"
	"reflect"

	"github.com/sparkpacer/pacer/api"
)

// object is an object of JSON.
type object = map[string]any

// values are v's as JSON has them, which is an object there.
func values(v any) object {
	var out object
	body, err := json.Marshal(v)
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(body))
		d.UseNumber()
		_ = d.Decode(&out) // It was made a moment ago.
	}
	return out
}

// versioned is values with the version of the API.
func versioned(v any) object {
	o := values(v)
	if o != nil {
		o["v"] = api.Version
	}
	return o
}

// forget puts null for each 0 of keys, by which package api says that something is not known.
func forget(o object, keys ...string) object {
	for _, key := range keys {
		if n, ok := o[key].(json.Number); ok && n == "0" {
			o[key] = nil
		}
	}
	return o
}

// inner are the objects of a list in o.
func inner(o object, key string) iter.Seq[object] {
	return func(yield func(object) bool) {
		list, _ := o[key].([]any)
		for _, v := range list {
			if one, ok := v.(object); ok && !yield(one) {
				return
			}
		}
	}
}

// diff is the JSON Merge Patch (RFC 7396) by which from becomes to. What is null is not there.
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
