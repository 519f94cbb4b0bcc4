package webtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/sparkpacer/pacer/web"
)

const resource = "https://pacer/openapi"

// Description is openapi.yaml. It is safe for concurrent use.
type Description struct {
	doc map[string]any
	// segments are those of each path that it has.
	segments map[string][]string

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

// Load reads the description.
func Load() (*Description, error) {
	var tree any
	if err := yaml.Unmarshal(web.OpenAPI(), &tree); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	body, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	d := &Description{doc: doc.(map[string]any), segments: map[string][]string{}, compiler: jsonschema.NewCompiler(),
		schemas: map[string]*jsonschema.Schema{}}
	d.compiler.AssertFormat()
	for path := range d.at("paths") {
		d.segments[path] = strings.Split(path, "/")
	}
	return d, d.compiler.AddResource(resource, doc)
}

// at is an object of the document.
func (d *Description) at(keys ...string) map[string]any {
	here := d.doc
	for _, key := range keys {
		here, _ = here[key].(map[string]any)
	}
	return here
}

// Operations are all routes that it has, as "GET /nodes", in order.
func (d *Description) Operations() []string {
	var all []string
	for path, item := range d.at("paths") {
		for method := range item.(map[string]any) {
			if method != "parameters" {
				all = append(all, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(all)
	return all
}

// Schemas are the names of all schemas that it has.
func (d *Description) Schemas() []string {
	return slices.Sorted(maps.Keys(d.at("components", "schemas")))
}

// Of is the operation that a request is for, "" for none.
func (d *Description) Of(method, path string) string {
	path, _ = strings.CutPrefix(path, "/api/v1")
	got := strings.Split(path, "/")
	for name, want := range d.segments {
		fits := len(got) == len(want) && d.at("paths", name, strings.ToLower(method)) != nil
		for i := 0; fits && i < len(want); i++ {
			fits = want[i] == got[i] || strings.HasPrefix(want[i], "{") && got[i] != ""
		}
		if fits {
			return method + " " + name
		}
	}
	return ""
}

// Check returns an error unless it documents an answer: its operation, its status, its type and its body.
func (d *Description) Check(method, path string, status int, contentType string, body []byte) error {
	operation := d.Of(method, path)
	if operation == "" {
		return fmt.Errorf("%s %s is not documented", method, path)
	}
	_, name, _ := strings.Cut(operation, " ")
	responses := d.at("paths", name, strings.ToLower(method), "responses")
	response, ok := responses[strconv.Itoa(status)].(map[string]any)
	if !ok {
		response, _ = responses["default"].(map[string]any)
	}
	if ref, ok := response["$ref"].(string); ok {
		response = d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	kind, _, _ := strings.Cut(contentType, ";")
	content, _ := response["content"].(map[string]any)
	media, ok := content[kind].(map[string]any)
	if !ok {
		return fmt.Errorf("%s: an answer %d of %q is not documented", operation, status, contentType)
	}
	ref, ok := media["schema"].(map[string]any)["$ref"].(string)
	if !ok {
		return nil // A text.
	}
	if err := d.Is(strings.TrimPrefix(ref, "#/components/schemas/"), body); err != nil {
		return fmt.Errorf("%s: %d: %w", operation, status, err)
	}
	return nil
}

// Is returns an error unless body is what the schema of that name says.
func (d *Description) Is(name string, body []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	schema := d.schemas[name]
	if schema == nil {
		var err error
		if schema, err = d.compiler.Compile(resource + "#/components/schemas/" + name); err != nil {
			return err
		}
		d.schemas[name] = schema
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	return errors.Join(err, schema.Validate(v))
}
