package pacer_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/constant"
	"go/types"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/test/testenv"
	"github.com/sparkpacer/pacer/units"
)

// testdata/RELEASE has what a release stores and says. Later builds read it, and say all that its peers read. The release
// that VERSION names can be written anew until it is out (go test . -run TestEarlier -rewrite); an earlier one stays as
// it is.
var rewrite = flag.Bool("rewrite", false, "write testdata/VERSION anew")

// bodies are what peers send each other (package bus); in testdata each has all members, filled, and those that the jar
// sends or reads a sample of it besides.
var bodies = map[string]func() any{
	"RegisterRequest": func() any { return &api.RegisterRequest{} }, "RegisterReply": func() any { return &api.RegisterReply{} },
	"Events": func() any { return &api.Events{} }, "EventsReply": func() any { return &api.EventsReply{} },
	"Directive": func() any { return &api.Directive{} }, "NodeStatus": func() any { return &api.NodeStatus{} },
	"HelloReply": func() any { return &api.HelloReply{} }, "FetchRequest": func() any { return &api.FetchRequest{} },
	"FetchReply": func() any { return &api.FetchReply{} }, "Plan": func() any { return &api.Plan{} },
	"LogRequest": func() any { return &api.LogRequest{} }, "LogReply": func() any { return &api.LogReply{} },
	"ControlRequest": func() any { return &api.ControlRequest{} }, "ControlReply": func() any { return &api.ControlReply{} },
	"PlanRequest": func() any { return &api.PlanRequest{} }, "PlanReply": func() any { return &api.PlanReply{} },
}

// samples are those of the jar, by body.
var samples = map[string]string{"RegisterRequest": "register.json", "RegisterReply": "register_reply.json", "Events": "events.json",
	"EventsReply": "events_reply.json", "Directive": "directive.json"}

// fill gives all of v a value, but what it is in again.
func fill(v reflect.Value, in ...reflect.Type) {
	if slices.Contains(in, v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), in...)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 11, 29, 12, 30, 0, 0, time.UTC)))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), append(in, v.Type())...)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), in...)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, in...)
		fill(value, in...)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	}
}

// plain is v as any reader of JSON has it.
func plain(t *testing.T, v any) (out any) {
	t.Helper()
	body, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(body, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// missing names all of was that is not in is.
func missing(at string, was, is any) (out []string) {
	switch was := was.(type) {
	case map[string]any:
		has, _ := is.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(was)) {
			out = append(out, missing(at+"."+name, was[name], has[name])...)
		}
	case []any:
		has, _ := is.([]any)
		for i := range was {
			if i >= len(has) {
				return append(out, at)
			}
			out = append(out, missing(at+"[]", was[i], has[i])...)
		}
	default:
		if empty := was == nil || was == false || was == "" || was == 0.0; was != is && !(empty && is == nil) {
			out = append(out, at)
		}
	}
	return out
}

// words are the values of the constants of package api that have a type of its own, by type.
func words(t *testing.T) map[string][]string {
	out := map[string][]string{}
	for _, p := range checked(t) {
		if p.name != "api" {
			continue
		}
		for _, name := range p.types.Scope().Names() {
			c, ok := p.types.Scope().Lookup(name).(*types.Const)
			if !ok {
				continue
			}
			if of, named := c.Type().(*types.Named); named && of.Obj().Pkg() == p.types && c.Val().Kind() != constant.Float {
				out[of.Obj().Name()] = append(out[of.Obj().Name()], c.Val().ExactString())
			}
		}
	}
	for _, values := range out {
		slices.Sort(values)
	}
	return out
}

// put writes a file of the release.
func put(t *testing.T, path string, v any) {
	t.Helper()
	body, raw := v.([]byte)
	if !raw {
		var err error
		if body, err = json.MarshalIndent(v, "", " "); err != nil {
			t.Fatal(err)
		}
		body = append(body, '\n')
	}
	if err := os.WriteFile(path, body, 0o644); err != nil {
		t.Fatal(err)
	}
}

// get reads one.
func get[T any](t *testing.T, path string) (v T) {
	t.Helper()
	body, err := os.ReadFile(path)
	if raw, ok := any(&v).(*[]byte); ok {
		*raw = body
	} else if err == nil {
		err = json.Unmarshal(body, &v)
	}
	if err != nil {
		t.Fatalf("%v: -rewrite makes what the release of VERSION has", err)
	}
	return v
}

func TestEarlierReleases(t *testing.T) {
	version := strings.TrimSpace(string(get[[]byte](t, "VERSION")))
	if *rewrite {
		if err := os.MkdirAll(filepath.Join("testdata", version), 0o755); err != nil {
			t.Fatal(err)
		}
		writeRelease(t, filepath.Join("testdata", version))
	}
	releases, err := filepath.Glob("testdata/*.*.*")
	if err != nil || !slices.Contains(releases, filepath.Join("testdata", version)) {
		t.Fatalf("%v has nothing of release %s: -rewrite makes it", releases, version)
	}
	for _, dir := range releases {
		in := func(name string) string { return filepath.Join(dir, name) }
		t.Run(filepath.Base(dir)+"/wire", func(t *testing.T) {
			for name, messages := range get[map[string][]any](t, in("wire.json")) {
				for _, was := range messages {
					is := bodies[name]()
					body, err := json.Marshal(was)
					if err == nil {
						err = json.Unmarshal(body, is)
					}
					if lost := missing(name, was, plain(t, is)); err != nil || len(lost) > 0 {
						t.Errorf("%s is not read, or not said any more: %v, %q", name, err, lost)
					}
				}
			}
			now := words(t)
			for of, values := range get[map[string][]string](t, in("words.json")) {
				for _, v := range values {
					if !slices.Contains(now[of], v) {
						t.Errorf("%s has no %s any more", of, v)
					}
				}
			}
		})
		t.Run(filepath.Base(dir)+"/pages", func(t *testing.T) {
			if lost := missing("page", get[any](t, in("page.json")), plain(t, readPage(t, in("page.bin")))); len(lost) > 0 {
				t.Errorf("the page of its jar lacks %q", lost)
			}
			if was, is := get[[]byte](t, in("wish.bin")), wish(t); !bytes.Equal(was, is) {
				t.Error("its jar does not read the wish page of this node")
			}
		})
		t.Run(filepath.Base(dir)+"/stores", func(t *testing.T) { testStores(t, dir) })
	}
}

func readPage(t *testing.T, path string) (page meter.Page) {
	t.Helper()
	r, err := progress.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Read(&page); err != nil {
		t.Fatal(err)
	}
	return page
}

// wish is a wish page with two wishes.
func wish(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "wish")
	if err := progress.CreateWish(path); err != nil {
		t.Fatal(err)
	}
	w, err := progress.OpenWish(path)
	if err != nil {
		t.Fatal(err)
	}
	w.Put(3 * units.GiB)
	w.Put(5 * units.MiB)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return get[[]byte](t, path)
}

// nightly is an application whose profile the release keeps.
func nightly() plant.App { return testenv.Chain("nightly", 3, 20) }

// writeRelease runs daemons of this build, and keeps their stores in the middle of a run under a deadline.
func writeRelease(t *testing.T, dir string) {
	messages := map[string][]any{}
	for name, make := range bodies {
		v := make()
		fill(reflect.ValueOf(v).Elem())
		messages[name] = []any{v}
		if file := samples[name]; file != "" {
			messages[name] = append(messages[name], get[any](t, filepath.Join("spark/src/test/resources/samples", file)))
		}
	}
	put(t, filepath.Join(dir, "wire.json"), messages)
	put(t, filepath.Join(dir, "words.json"), words(t))
	put(t, filepath.Join(dir, "page.bin"), get[[]byte](t, "spark/src/test/resources/samples/page.bin"))
	put(t, filepath.Join(dir, "page.json"), readPage(t, filepath.Join(dir, "page.bin")))
	put(t, filepath.Join(dir, "wish.bin"), wish(t))
	testenv.Run(t, func(e *testenv.Env) {
		e.StartPlanner()
		e.StartNode(testenv.NodeSpec{Name: "n1", Cores: 2})
		a := nightly()
		a.Deadline = 2 * e.Submit(a).Wait().Duration
		e.Submit(a)
		e.Pass(20 * time.Second)
		put(t, filepath.Join(dir, "planner.db"), get[[]byte](t, filepath.Join(e.Dir(), "planner", "planner.db")))
		put(t, filepath.Join(dir, "node.db"), get[[]byte](t, filepath.Join(e.Dir(), "node-n1", "node.db")))
		r, err := e.Ask(api.VerbProfile, api.ControlRequest{Profile: a.Name})
		if err != nil || len(r.Profiles) != 1 {
			t.Fatalf("%d profiles, %v", len(r.Profiles), err)
		}
		put(t, filepath.Join(dir, "profile.json"), r.Profiles[0])
	})
}

// testStores starts daemons of this build on the stores of a release, and has them go on.
func testStores(t *testing.T, dir string) {
	testenv.Run(t, func(e *testenv.Env) {
		var said bytes.Buffer
		e.Log = slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn}))
		for from, to := range map[string]string{"planner.db": "planner", "node.db": "node-n1"} {
			to = filepath.Join(e.Dir(), to)
			if err := os.MkdirAll(to, 0o755); err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(to, from), get[[]byte](t, filepath.Join(dir, from)))
		}
		e.StartPlanner()
		e.StartNode(testenv.NodeSpec{Name: "n1", Cores: 2})
		r, err := e.Ask(api.VerbApps, api.ControlRequest{})
		states := map[api.AppState]int{}
		for _, a := range r.Apps {
			states[a.State]++
		}
		if err != nil || len(r.Apps) != 2 || states[api.AppFinished] != 1 || states[api.AppRunning] != 1 {
			t.Errorf("applications: %+v, %v", r.Apps, err)
		}
		e.Until("the run that lost its driver is over", func() bool {
			r, err := e.Ask(api.VerbApps, api.ControlRequest{})
			return err == nil && !slices.ContainsFunc(r.Apps, func(a api.AppSummary) bool { return a.State == api.AppRunning })
		})
		p, err := api.ReadProfile(get[[]byte](t, filepath.Join(dir, "profile.json")))
		if err != nil {
			t.Fatal(err)
		}
		p.Name = "put"
		if _, err := e.Ask(api.VerbProfilePut, api.ControlRequest{Profile: p.Name, Body: p}); err != nil {
			t.Errorf("its profile is refused: %v", err)
		}
		if d := e.Submit(nightly()); d.Refused() == nil { // Submissions are numbered anew here.
			t.Error("the first submission, which has ended, runs again")
		}
		for _, name := range []string{"nightly", "put"} {
			a := nightly()
			a.Profile, a.Deadline = name, p.Duration*1.6
			d := e.Submit(a)
			if err := d.Refused(); err != nil {
				t.Fatal(err)
			}
			if run := d.Wait(); d.Reply().Verdict != api.VerdictFeasible || run.ErrorPct == nil || *run.ErrorPct < 0 || *run.ErrorPct > 2 {
				t.Errorf("by profile %s: %s, ended %v %% before its deadline", name, d.Reply().Verdict, run.ErrorPct)
			}
		}
		for line := range strings.Lines(said.String()) {
			if strings.Contains(line, "cannot be") || strings.Contains(line, "aside") {
				t.Errorf("of the stores: %s", line)
			}
		}
	})
}
