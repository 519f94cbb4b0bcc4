package eventlog

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/sparkpacer/pacer/test/draws"
)

// value is what the scan makes of JSON as encoding/json does: of arrays that they are there, of texts what stands between
// the quotes.
func value(s *scan) any {
	switch c := s.peek(); {
	case c == '{':
		m := map[string]any{}
		for key := range s.members {
			m[string(key)] = value(s)
		}
		return m
	case c == '"':
		return string(s.quoted())
	case c == 't' || c == 'f':
		return s.truth()
	case c == 'n' || c == '[':
		s.skip()
		return nil
	}
	return float64(s.number())
}

// plain is what value makes of the same.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for key, of := range v {
			m[quotedOf(key)] = plain(of)
		}
		return m
	case string:
		return quotedOf(v)
	case []any:
		return nil
	}
	return v
}

// quotedOf is a text as it stands between quotes.
func quotedOf(s string) string {
	b, _ := json.Marshal(s)
	return string(b[1 : len(b)-1])
}

func draw(t *rapid.T, depth int) any {
	switch kind := rapid.IntRange(0, 6).Draw(t, "kind"); {
	case kind == 0 && depth > 0:
		m := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			m[rapid.String().Draw(t, "key")] = draw(t, depth-1)
		}
		return m
	case kind == 1 && depth > 0:
		a := []any{}
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			a = append(a, draw(t, depth-1))
		}
		return a
	case kind < 3:
		return rapid.String().Draw(t, "text")
	case kind == 3:
		return rapid.Bool().Draw(t, "truth")
	case kind == 4:
		return nil
	}
	return float64(rapid.IntRange(-1<<52, 1<<52).Draw(t, "number"))
}

// encoding/json is the oracle: the scan reads what it writes, and goes over it to its end.
func TestTheScanReadsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := draw(t, 4)
		line, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		s := scan{b: line}
		if got := value(&s); s.bad || s.peek() != 0 || !reflect.DeepEqual(got, plain(want)) {
			t.Fatalf("%s: %v, bad %v at %d", line, got, s.bad, s.at)
		}
		over := scan{b: line}
		if over.skip(); over.bad || over.at != len(line) {
			t.Fatalf("%s: it is not gone over: %d", line, over.at)
		}
		if line[0] != '{' && line[0] != '[' {
			return
		}
		cut := scan{b: line[:rapid.IntRange(0, len(line)-1).Draw(t, "cut")]}
		if cut.skip(); !cut.bad {
			t.Fatalf("%s is taken for whole", cut.b)
		}
	})
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte(`{"Event":"SparkListenerTaskEnd","Stage ID":1,"Task Info":{"Index":0},"Task Metrics":{}}`))
	f.Add([]byte(`{"Event":"SparkListenerStageSubmitted","Stage Info":{"RDD Info":[{"Scope":"{\"name\":\"x\"}"}]}}`))
	f.Add([]byte(`{"Event":"` + sqlEvents + `Start","sparkPlanInfo":{"nodeName":"a","children":[{"nodeName":"b"}]}}`))
	f.Add([]byte(strings.Repeat(`{"Event":"SparkListenerJobStart","Stage IDs":[`, 4)))
	f.Fuzz(func(t *testing.T, lines []byte) {
		r := newReader(func(*Task) {})
		for line := range strings.Lines(string(lines)) {
			if err := r.event([]byte(line)); err != nil && err.Error() == "" {
				t.Fatal("an error says nothing")
			}
		}
		for _, s := range r.end().Stages {
			if len(s.Attempts) == 0 {
				t.Fatalf("stage %d has no attempt", s.ID)
			}
		}
	})
}
