package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// JSON says what json.Marshal says of any Plan, its error included: a field
// that is new or renamed is missed here first.
func TestAPlanIsEncodedAsByReflection(t *testing.T) {
	floats := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-1e4, 1e4), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, 1e-6, 9.99e-7, 1e21, 1e20, 1 << 52, 1<<53 - 1, 1 << 53, -1 << 60, 1000,
		-1e-7, math.Inf(1), math.NaN()}))
	var e api.PlanEncoder // One for all: what it remembers of other Plans is not to show.
	rapid.Check(t, func(t *rapid.T) {
		var p api.Plan
		fill(t, reflect.ValueOf(&p).Elem(), floats)
		checkPlan(t, &e, p)
	})
}

func checkPlan(t rapid.TB, e *api.PlanEncoder, p api.Plan) {
	t.Helper()
	want, wantErr := json.Marshal(p)
	got, err := e.Append(nil, &p)
	switch {
	case (err != nil) != (wantErr != nil):
		t.Fatalf("error %v, json.Marshal's is %v", err, wantErr)
	case err == nil && string(got) != string(want):
		t.Fatalf("encoded\n%s\nby reflection\n%s", got, want)
	}
}

// Whatever field of a Launch changes, its new text is told; so is that of an
// application that the encoder has forgotten.
func TestALaunchThatHasChangedIsEncodedAnew(t *testing.T) {
	var e api.PlanEncoder
	plan := func(id int, l api.Launch) api.Plan {
		return api.Plan{Apps: []api.PlanApp{{ID: api.AppID(fmt.Sprint(id)), Launch: l}}}
	}
	for i := range reflect.TypeFor[api.Launch]().NumField() {
		var l api.Launch
		checkPlan(t, &e, plan(0, l))
		switch f := reflect.ValueOf(&l).Elem().Field(i); f.Interface().(type) {
		case []string:
			f.Set(reflect.ValueOf([]string{"x"}))
			checkPlan(t, &e, plan(0, l))
			f.Set(reflect.ValueOf([]string{"y"}))
		case map[string]string:
			f.Set(reflect.ValueOf(map[string]string{"x": "1"}))
			checkPlan(t, &e, plan(0, l))
			f.Set(reflect.ValueOf(map[string]string{"x": "2"}))
		case bool:
			f.SetBool(true)
		default:
			if f.Kind() == reflect.String {
				f.SetString("x")
			} else {
				f.SetInt(1)
			}
		}
		checkPlan(t, &e, plan(0, l))
	}
	for id := range 5000 {
		checkPlan(t, &e, plan(id, api.Launch{Heap: units.Bytes(id)}))
	}
	checkPlan(t, &e, plan(1, api.Launch{}))
}

// fill draws all that v holds.
func fill(t *rapid.T, v reflect.Value, floats *rapid.Generator[float64]) {
	draw := func(what string) int { return rapid.IntRange(-1, 2).Draw(t, what) }
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), floats)
		}
	case reflect.Slice:
		if n := draw("length"); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(t, v.Index(i), floats)
			}
		}
	case reflect.Map:
		if n := draw("size"); n >= 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fill(t, key, floats)
				fill(t, value, floats)
				v.SetMapIndex(key, value)
			}
		}
	case reflect.String:
		v.SetString(rapid.OneOf(rapid.StringMatching(`[a-z<&"\\ ]{0,6}`), rapid.String()).Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "int"))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "uint"))
	case reflect.Float64:
		v.SetFloat(floats.Draw(t, "float"))
	default:
		t.Fatalf("a Plan holds a %v", v.Kind())
	}
}

// BenchmarkPlanJSON is a node's Plan at scale: four applications with a target each.
func BenchmarkPlanJSON(b *testing.B) {
	p := api.Plan{V: api.Version, Epoch: 123456, Node: "n00001"}
	for range 4 {
		p.Apps = append(p.Apps, api.PlanApp{ID: "app-20261121043012-0001", Name: "scale", HasDeadline: true, Remaining: 123.456789012, NominalRate: 625,
			Launch: api.Launch{DriverURL: "spark://CoarseGrainedScheduler@10.0.0.1:40123", SparkHome: "/opt/spark", JavaHome: "/usr/lib/jvm/java-17",
				SparkVersion: "4.3.0", Cores: 16, Heap: 4 << 30, JavaOptions: []string{"-Dspark.driver.port=40123", "-XX:+UseG1GC"},
				ClassPath: []string{"/opt/pacer/pacer-spark.jar"}, Env: map[string]string{"SPARK_EXECUTOR_DIRS": "/tmp/spark"}},
			Executors: []api.ExecutorID{"17"}, Stages: []api.StageTarget{{Executor: "17", Rev: 41, Remaining: 12.3456789, Weight: 4, Tasks: 4, Work: 40,
				Records: 25000, LongestTask: 12, Reading: 0.75, InitCores: 2.35}}})
	}
	var e api.PlanEncoder
	var text []byte
	appended := func() (_ []byte, err error) {
		text, err = e.Append(text[:0], &p)
		return text, err
	}
	for name, encode := range map[string]func() ([]byte, error){"JSON": appended, "reflection": func() ([]byte, error) { return json.Marshal(p) }} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := encode(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
