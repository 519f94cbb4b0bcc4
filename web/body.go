package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// Bounds of a profile that is put, which are those of the bus, and of the members of its objects. Each takes memory
// that its text does not tell, so few are read at a time.
const (
	mostProfile = 4<<20 + mostBody
	mostMembers = 128 * api.MostStages
	mostUploads = 4
)

// text is the body of a request, which is JSON within the bounds of any.
func (c *call) text() ([]byte, error) {
	if kind, _, _ := mime.ParseMediaType(c.Header.Get("Content-Type")); kind != "application/json" {
		return nil, api.Errorf(api.KindInvalid, "Content-Type is %q, want application/json", api.Clip(kind, api.MostToken))
	}
	text, err := io.ReadAll(c.Body)
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, tooLarge(c.route.Most)
	}
	if err != nil {
		return nil, api.Errorf(api.KindInvalid, "the body cannot be read: %v", err)
	}
	if n, m := api.Elements(text, api.MostElements, mostMembers); n > api.MostElements || m > mostMembers {
		return nil, api.Errorf(api.KindInvalid, "the body has more than %d elements in lists or %d members of objects",
			api.MostElements, mostMembers)
	}
	return text, nil
}

// read reads the body of a request: an object that says something.
func (c *call) read(v any) error {
	text, err := c.text()
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(v)
	if _, end := d.Token(); err == nil && !errors.Is(end, io.EOF) {
		err = errors.New("there is more after the end of the value")
	}
	var members map[string]any
	if err == nil {
		err = json.Unmarshal(text, &members)
		maps.DeleteFunc(members, func(_ string, value any) bool { return value == nil })
	}
	if err == nil && len(members) == 0 {
		err = errors.New("it says nothing")
	}
	if err != nil {
		return api.Errorf(api.KindInvalid, "the body cannot be read: %v", err)
	}
	return nil
}

// body has the body of a request read into what into says.
func body(into func(*api.ControlRequest) any) func(*call, *api.ControlRequest) error {
	return func(c *call, q *api.ControlRequest) error { return c.read(into(q)) }
}

func aDeadline(q *api.ControlRequest) any {
	return &struct {
		Deadline *units.Seconds `json:"deadline_s"`
		Extend   *units.Seconds `json:"extend_s"`
	}{&q.Deadline, &q.Extend}
}

func aCap(q *api.ControlRequest) any {
	return &struct {
		Cap *units.Cores `json:"cap_cores"`
	}{&q.Cap}
}

func aStep(q *api.ControlRequest) any {
	q.Step = &api.Step{Stage: api.Unknown}
	return q.Step
}

func aDivision(q *api.ControlRequest) any {
	q.Division = &api.Division{}
	return q.Division
}

func aPolicy(q *api.ControlRequest) any {
	q.Policy = &api.QueuePolicy{}
	return q.Policy
}

// aProfile reads a profile as `pacer profiles put` reads a file.
func aProfile(c *call, q *api.ControlRequest) error {
	login := c.by.Login()
	if !c.server.uploads.Enter(login) {
		return api.Errorf(api.KindTransient, "a profile of %s is read, or %d of others: try again in a moment", login,
			mostUploads)
	}
	defer c.server.uploads.Leave(login)
	text, err := c.text()
	if err != nil {
		return err
	}
	p, err := profiles.Read(text, c.PathValue("name"))
	if q.Body, p.Taught = &p, c.flag("taught"); p.Taught && !c.flag("shared") {
		c.wrong("taught", "it of a profile that is shared")
	}
	return err
}
