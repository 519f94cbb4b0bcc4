package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	_ "github.com/sparkpacer/pacer/test/draws"
)

// schemaOf is the printed schema, as any JSON.
func schemaOf(t testing.TB) map[string]any {
	var s map[string]any
	if err := json.Unmarshal(api.ProfileJSONSchema(), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// beyond are the rules that the schema states in words alone.
var beyond = regexp.MustCompile(`is not a stage before it|does not follow|after job|(folds|habit.stages) has stage|` +
	`the number of (stages|parents of all stages) is|is shared and has|taught by all and not|has \d+ bytes`)

// fullProfile is one with every field set.
func fullProfile() api.Profile {
	p := goodProfile()
	fill(reflect.ValueOf(&p).Elem())
	p.Stages, p.Folds, p.Owner, p.Variants = goodProfile().Stages, map[int]int{4: 3}, "", []api.Profile{goodProfile()}
	fill(reflect.ValueOf(&p.Stages[1]).Elem())
	habit := api.StageHabit{Sure: api.SureGuessed, Growth: api.Growth{By: "bytes"}, Jump: api.Jump{Since: "2026-11-20"}}
	fill(reflect.ValueOf(&habit).Elem())
	p.Habit.Stages = map[int]api.StageHabit{1: habit}
	p.Stages[1].ID, p.Stages[1].Job, p.Stages[1].Parents = 1, 0, []int{0}
	return p
}

// fill sets all that v has and is zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Struct || v.Type().Elem() == reflect.TypeFor[api.Residual]() {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				fill(v.Field(i))
			}
		}
	}
}

func TestTheSchemaHasTheFieldsOfAProfile(t *testing.T) {
	p := fullProfile()
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	body, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.DecodeProfile(bytes.NewReader(body)); err != nil {
		t.Errorf("a profile with all fields: %v", err)
	}
	schema := schemaOf(t)
	defs := schema["$defs"].(map[string]any)
	for _, c := range []struct {
		of   reflect.Type
		says any
		less []string
	}{
		{reflect.TypeFor[api.Profile](), schema, nil},
		{reflect.TypeFor[api.Profile](), defs["variant"], []string{"variants"}},
		{reflect.TypeFor[api.ProfileStage](), defs["stage"], nil},
		{reflect.TypeFor[api.ProfileHabit](), defs["habit"], nil},
		{reflect.TypeFor[api.StageHabit](), defs["stageHabit"], nil},
		{reflect.TypeFor[api.Growth](), defs["growth"], nil},
		{reflect.TypeFor[api.Jump](), defs["jump"], nil},
		{reflect.TypeFor[api.Residual](), defs["residual"], nil},
		{reflect.TypeFor[api.QueryStage](), defs["query"], nil},
	} {
		var has []string
		for i := range c.of.NumField() {
			name, _, _ := strings.Cut(c.of.Field(i).Tag.Get("json"), ",")
			if !slices.Contains(c.less, name) {
				has = append(has, name)
			}
		}
		slices.Sort(has)
		object := c.says.(map[string]any)
		if said := slices.Sorted(maps.Keys(object["properties"].(map[string]any))); !slices.Equal(has, said) ||
			object["additionalProperties"] != false {
			t.Errorf("%v has %v, the schema says %v and other members: %v", c.of, has, said, object["additionalProperties"])
		}
	}
}

// TestTheSchemaAndTheReaderSayTheSame: what the reader takes the schema allows, and what it refuses the schema
// refuses, too, but for the rules that it states in words.
func TestTheSchemaAndTheReaderSayTheSame(t *testing.T) {
	schema := schemaOf(t)
	body, err := fullProfile().Encode()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var doc any
		if err := json.Unmarshal(body, &doc); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			doc = spoiled(t, doc)
		}
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		_, err = api.DecodeProfile(bytes.NewReader(text))
		allowed := allows(schema, schema, parsed(text))
		switch {
		case err == nil && !allowed:
			t.Fatalf("the reader takes what the schema refuses: %s", text)
		case err != nil && allowed && !beyond.MatchString(err.Error()):
			t.Fatalf("the reader refuses what the schema allows: %v\n%s", err, text)
		case err != nil && api.KindOf(err) != api.KindInvalid:
			t.Fatalf("%v is no fault of a user", err)
		}
	})
}

// TestTheSchemaAndValidationSayTheSame: a profile in a message is judged by Validate alone.
func TestTheSchemaAndValidationSayTheSame(t *testing.T) {
	schema := schemaOf(t)
	rapid.Check(t, func(t *rapid.T) {
		p := fullProfile()
		var places []reflect.Value
		var back []func()
		numbers(reflect.ValueOf(&p).Elem(), &places, &back)
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			v := rapid.SampledFrom(places).Draw(t, "place")
			n := rapid.SampledFrom([]float64{-1e16, -1, 0, 0.5, 1, 2, 1e6, 1.5e9, 1e15, 1.5e15, 4e18, 9e18}).Draw(t, "value")
			if v.Kind() == reflect.Float64 {
				v.SetFloat(n)
			} else {
				v.SetInt(int64(n))
			}
		}
		for _, put := range back {
			put()
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		err = p.Validate()
		if allowed := allows(schema, schema, parsed(text)); allowed != (err == nil) && !(allowed && beyond.MatchString(err.Error())) {
			t.Fatalf("the schema allows: %v, Validate says %v\n%s", allowed, err, text)
		}
	})
}

// numbers are all of v that are numbers.
func numbers(v reflect.Value, to *[]reflect.Value, back *[]func()) {
	switch v.Kind() {
	case reflect.Int, reflect.Int64, reflect.Float64:
		*to = append(*to, v)
	case reflect.Pointer:
		if !v.IsNil() {
			numbers(v.Elem(), to, back)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			numbers(v.Index(i), to, back)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			numbers(v.Field(i), to, back)
		}
	case reflect.Map:
		if v.Type().Elem() == reflect.TypeFor[api.StageHabit]() { // Its values are no places: they are put back at the end.
			for _, key := range v.MapKeys() {
				habit := reflect.New(v.Type().Elem()).Elem()
				habit.Set(v.MapIndex(key))
				numbers(habit, to, back)
				*back = append(*back, func() { v.SetMapIndex(key, habit) })
			}
		}
	}
}

func TestAFaultHasItsLineAndItsField(t *testing.T) {
	body, err := goodProfile().Encode()
	if err != nil {
		t.Fatal(err)
	}
	good := string(body)
	swap := func(old, by string) string { return strings.Replace(good, old, by, 1) }
	for want, text := range map[string]string{
		"rnus is an unknown field":                            swap(`"runs"`, `"rnus"`),
		"Runs is an unknown field":                            swap(`"runs"`, `"Runs"`),
		"runs is of type null, want integer":                  swap(`"runs": 1`, `"runs": null`),
		"runs is of type number, want integer":                swap(`"runs": 1`, `"runs": 1.0`),
		"stages[0].nominal_rate is -3, want > 0":              swap(`"nominal_rate": 25`, `"nominal_rate": -3`),
		"stages[0].tasks is 0, want at least 1":               swap(`"tasks": 4`, `"tasks": 0`),
		"stages[0].colour is an unknown field":                swap(`"tasks": 4`, `"colour": {"a": [1, {}]}, "tasks": 4`),
		"stages is missing":                                   `{"schema": 1, "name": "p"}`,
		"stages has 0 elements, want at least 1":              `{"schema": 1, "name": "p", "stages": []}`,
		"stages has 2001 elements, at most 2000 are taken":    `{"schema": 1, "name": "p", "stages": [{}` + strings.Repeat(",{}", 2000) + `]}`,
		"line 1: unexpected EOF":                              `{"schema": 1`,
		"line 66: there is more after the end of the profile": good + "{}",
		"line 4: invalid character":                           swap(`"runs"`, `runs`),
		"it is of a later version of Pacer":                   swap(`"schema": 1`, `"schema": 2`),
		"a profile's graph has no cycles":                     swap(`"parents": [`, `"parents": [4, `),
		"it is of type string, want object":                   `"p"`,
		"habit.pool is of type array, want string":            swap(`"runs": 1`, `"habit": {"pool": [[{}]]}`),
	} {
		_, err := api.DecodeProfile(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) || api.KindOf(err) != api.KindInvalid {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// spoiled is doc with one change somewhere.
func spoiled(t *rapid.T, doc any) any {
	values := []any{nil, -1.0, 0.0, 0.5, 1.0, 7.0, 1e15, 1.1e15, 5e18, "", "x", "a b", strings.Repeat("x", 1025), true, []any{}, []any{-5.0}, map[string]any{}}
	switch v := doc.(type) {
	case map[string]any:
		key := rapid.SampledFrom(append(slices.Sorted(maps.Keys(v)), "other", "Tasks")).Draw(t, "member")
		switch within, there := v[key]; {
		case there && rapid.IntRange(0, 3).Draw(t, "deeper") > 0:
			v[key] = spoiled(t, within)
		case there && rapid.Bool().Draw(t, "without"):
			delete(v, key)
		default:
			v[key] = rapid.SampledFrom(values).Draw(t, "value")
		}
		return v
	case []any:
		if len(v) > 0 {
			i := rapid.IntRange(0, len(v)-1).Draw(t, "element")
			if rapid.IntRange(0, 4).Draw(t, "kind") == 0 {
				return slices.Delete(v, i, i+1)
			}
			v[i] = spoiled(t, v[i])
			return v
		}
	}
	return rapid.SampledFrom(values).Draw(t, "value")
}

// parsed is a text as JSON whose numbers are as they are written.
func parsed(text []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

// allows judges a value by a JSON schema, as validators do; of an integer it asks how it is written.
func allows(root, s map[string]any, v any) bool {
	if ref, is := s["$ref"].(string); is {
		return allows(root, root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any), v)
	}
	types, _ := s["type"].([]any)
	if types == nil {
		types = []any{s["type"]}
	}
	of := func(key string, without float64) float64 {
		if n, is := s[key].(float64); is {
			return n
		}
		return without
	}
	switch v := v.(type) {
	case nil:
		return slices.Contains(types, any("null"))
	case bool:
		return slices.Contains(types, any("boolean"))
	case string:
		n := float64(utf8.RuneCountInString(v))
		pattern, _ := s["pattern"].(string)
		return slices.Contains(types, any("string")) && n >= of("minLength", 0) && n <= of("maxLength", math.Inf(1)) &&
			regexp.MustCompile(pattern).MatchString(v)
	case json.Number:
		n, err := v.Float64()
		whole := slices.Contains(types, any("integer")) && !strings.ContainsAny(v.String(), ".eE")
		return err == nil && (whole || slices.Contains(types, any("number"))) && n >= of("minimum", math.Inf(-1)) &&
			n <= of("maximum", math.Inf(1)) && n > of("exclusiveMinimum", math.Inf(-1))
	case []any:
		if n := float64(len(v)); !slices.Contains(types, any("array")) || n < of("minItems", 0) || n > of("maxItems", math.Inf(1)) {
			return false
		}
		for _, item := range v {
			if !allows(root, s["items"].(map[string]any), item) {
				return false
			}
		}
		return true
	case map[string]any:
		if !slices.Contains(types, any("object")) {
			return false
		}
		required, _ := s["required"].([]any)
		for _, key := range required {
			if _, has := v[key.(string)]; !has {
				return false
			}
		}
		members, _ := s["properties"].(map[string]any)
		keyed, _ := s["patternProperties"].(map[string]any)
		for key, value := range v {
			member, known := members[key].(map[string]any)
			for pattern, of := range keyed {
				if regexp.MustCompile(pattern).MatchString(key) {
					member, known = of.(map[string]any), true
				}
			}
			if !known || !allows(root, member, value) {
				return false
			}
		}
		return true
	}
	panic(fmt.Sprintf("%T is no JSON", v))
}
