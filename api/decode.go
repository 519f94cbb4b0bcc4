package api

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MostElements is how many elements the lists of a profile have together, as JSON: the stages of its
// variants, their parents, and what else is told of runs.
const MostElements = MostVariants*MostStages + MostEdges + 64<<10

// ReadProfile reads a profile in a message: stage by stage and variant by variant, so that a
// text with more of them than a profile may have takes no memory for them.
func ReadProfile(data []byte) (*Profile, error) {
	if n, _ := Elements(data, MostElements, len(data)); n > MostElements {
		return nil, Errorf(KindInvalid, "the profile: its lists have more than %d elements", MostElements)
	}
	type plain Profile // Its lists are decoded by the fields that stand before it.
	var p Profile
	whole := struct {
		*plain
		Stages   list[ProfileStage] `json:"stages"`
		Variants list[variant]      `json:"variants"`
	}{plain: (*plain)(&p), Stages: list[ProfileStage]{what: "stages", most: MostStages},
		Variants: list[variant]{what: "variants", most: MostVariants}}
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, fmt.Errorf("the profile: %w", err)
	}
	p.Stages = whole.Stages.of
	for _, v := range whole.Variants.of {
		p.Variants = append(p.Variants, Profile(v))
	}
	return &p, nil
}

// variant is a profile that is a part of another one; validation refuses variants of its own.
type variant Profile

// UnmarshalJSON decodes it as ReadProfile does.
func (v *variant) UnmarshalJSON(data []byte) error {
	type plain variant
	whole := struct {
		*plain
		Stages   list[ProfileStage] `json:"stages"`
		Variants list[struct{}]     `json:"variants"`
	}{plain: (*plain)(v), Stages: list[ProfileStage]{what: "stages", most: MostStages},
		Variants: list[struct{}]{what: "variants of a variant"}}
	err := json.Unmarshal(data, &whole)
	v.Stages = whole.Stages.of
	return err
}

// list is decoded element by element, and has most of them at most.
type list[T any] struct {
	what string
	most int
	of   []T
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *list[T]) UnmarshalJSON(data []byte) error {
	if l.of = nil; bytes.Equal(data, []byte("null")) {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if begins, err := d.Token(); err != nil || begins != json.Delim('[') {
		return fmt.Errorf("%s: no list", l.what)
	}
	for l.of = []T{}; d.More(); {
		if len(l.of) == l.most {
			return fmt.Errorf("%s: more than %d", l.what, l.most)
		}
		var v T
		if err := d.Decode(&v); err != nil {
			return fmt.Errorf("%s[%d]: %w", l.what, len(l.of), err)
		}
		l.of = append(l.of, v)
	}
	return nil
}

// Elements counts the elements of all lists in a JSON text and the members of all objects, those of an empty one as
// one, and stops once they are more than most or members. An element of three bytes may take a hundred times as many
// once it is decoded.
func Elements(data []byte, most, members int) (n, m int) {
	var open []*int // Counters of the commas of what is open, from the outside in.
	for i := 0; i < len(data) && n <= most && m <= members; i++ {
		switch data[i] {
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			of := &n
			if data[i] == '{' {
				of = &m
			}
			*of++
			open = append(open, of)
		case ']', '}':
			open = open[:max(0, len(open)-1)]
		case ',':
			if len(open) > 0 {
				*open[len(open)-1]++
			}
		}
	}
	return n, m
}
