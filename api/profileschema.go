package api

import (
	"bytes"
	"cmp"
	_ "embed" // The schema is a file.
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

//go:embed profile.schema.json
var profileSchema []byte

// profileForm is what the schema says.
var profileForm = func() (f form) {
	if err := json.Unmarshal(profileSchema, &f); err != nil {
		panic(err) // It is compiled in.
	}
	return f
}()

// ProfileJSONSchema returns the JSON schema of profile files. DecodeProfile reads by it, and takes no text that it
// refuses.
func ProfileJSONSchema() []byte { return slices.Clone(profileSchema) }

// form is a JSON schema, as far as that of a profile needs one: an object has no other members than it says.
type form struct {
	Ref       string           `json:"$ref"`
	Defs      map[string]*form `json:"$defs"`
	Types     []string         `json:"type"`
	Members   map[string]*form `json:"properties"`
	Keyed     namedForms       `json:"patternProperties"`
	Required  []string         `json:"required"`
	Items     *form            `json:"items"`
	MinItems  int              `json:"minItems"`
	MaxItems  int              `json:"maxItems"`
	Least     *float64         `json:"minimum"`
	Above     *float64         `json:"exclusiveMinimum"`
	Most      *float64         `json:"maximum"`
	MinLength int              `json:"minLength"`
	MaxLength int              `json:"maxLength"`
	Pattern   *regexp.Regexp   `json:"pattern"`
}

// namedForms are the forms of members by what their names fit.
type namedForms []struct {
	names *regexp.Regexp
	form  *form
}

// UnmarshalJSON compiles the expressions once, for each profile asks them thousands of times.
func (k *namedForms) UnmarshalJSON(text []byte) error {
	var forms map[string]*form
	if err := json.Unmarshal(text, &forms); err != nil {
		return err
	}
	*k = make(namedForms, 0, len(forms))
	for _, names := range slices.Sorted(maps.Keys(forms)) {
		fits, err := regexp.Compile(names)
		if err != nil {
			return err
		}
		*k = append(*k, struct {
			names *regexp.Regexp
			form  *form
		}{fits, forms[names]})
	}
	return nil
}

// checkProfile reports what of a text the schema refuses: the line of what is no JSON, else all fields at once.
func checkProfile(f *faults, text []byte) {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err := d.Decode(&v)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more after the end of the profile")
		}
	}
	if err != nil {
		at := d.InputOffset()
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			at = syntax.Offset
		}
		f.add("line %d: %v", 1+bytes.Count(text[:min(at, int64(len(text)))], []byte("\n")), err)
	} else {
		profileForm.check(f, "", v)
	}
}

// check reports what of v, which is at that path, the form refuses.
func (s *form) check(f *faults, path string, v any) {
	for s.Ref != "" {
		s = profileForm.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
	}
	if kind := kindOf(v); !slices.Contains(s.Types, kind) && (kind != "integer" || !slices.Contains(s.Types, "number")) {
		f.add("%s is of type %s, want %s", cmp.Or(path, "it"), kind, strings.Join(s.Types, " or "))
		return
	}
	switch v := v.(type) {
	case map[string]any:
		s.members(f, strings.TrimPrefix(path+".", "."), v)
	case []any:
		f.check(len(v) >= s.MinItems, "%s has %d elements, want at least %d", path, len(v), s.MinItems)
		if s.MaxItems > 0 && len(v) > s.MaxItems {
			f.add("%s has %d elements, at most %d are taken", path, len(v), s.MaxItems)
			return // There is no end to what else may be wrong.
		}
		for i := range v {
			s.Items.check(f, fmt.Sprintf("%s[%d]", path, i), v[i])
		}
	case json.Number:
		n, err := v.Float64()
		f.check(err == nil && (s.Least == nil || n >= *s.Least), "%s is %s, want at least %v", path, v, value(s.Least))
		f.check(err == nil && (s.Above == nil || n > *s.Above), "%s is %s, want > %v", path, v, value(s.Above))
		f.check(err == nil && (s.Most == nil || n <= *s.Most), "%s is %s, want at most %v", path, v, value(s.Most))
	case string:
		n := utf8.RuneCountInString(v)
		f.check(n >= s.MinLength, "%s is empty", path)
		f.check(s.MaxLength == 0 || n <= s.MaxLength, "%s has %d characters, at most %d are taken", path, n, s.MaxLength)
		f.check(s.Pattern == nil || s.Pattern.MatchString(v), "%s is %q, want what fits %s", path, Clip(v, MostToken),
			s.Pattern)
	}
}

// members is check for those of an object.
func (s *form) members(f *faults, path string, v map[string]any) {
	for _, key := range s.Required {
		_, has := v[key]
		f.check(has, "%s is missing", path+key)
	}
	for _, key := range slices.Sorted(maps.Keys(v)) {
		member := s.Members[key]
		for _, of := range s.Keyed {
			if of.names.MatchString(key) {
				member = of.form
			}
		}
		if member == nil {
			f.add("%s is an unknown field", path+Clip(key, MostToken))
			continue
		}
		member.check(f, path+key, v[key])
	}
}

func value(of *float64) float64 {
	if of == nil {
		return 0
	}
	return *of
}

// kindOf is the type of a value of JSON; an integer is written without a fraction and an exponent.
func kindOf(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "number"
		}
		return "integer"
	}
	return "null"
}
