package api_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
)

// JSON says what json.Marshal says of any Plan, its error included: a field
// that is new or renamed is missed here first.
func TestAPlanIsEncodedAsByReflection(t *testing.T) {
	floats := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-1e4, 1e4), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, 1e-6, 9.99e-7, 1e21, 1e20, 1 << 52, 1<<53 - 1, 1 << 53, -1 << 60, 1000,
		-1e-7, math.Inf(1), math.NaN()}))
	rapid.Check(t, func(t *rapid.T) {
		var p api.Plan
		fill(t, reflect.ValueOf(&p).Elem(), floats)
		want, wantErr := json.Marshal(p)
		got, err := p.AppendJSON(nil)
		switch {
		case (err != nil) != (wantErr != nil):
			t.Fatalf("error %v, json.Marshal's is %v", err, wantErr)
		case err == nil && string(got) != string(want):
			t.Fatalf("encoded\n%s\nby reflection\n%s", got, want)
		}
	})
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
	var text []byte
	appended := func() (_ []byte, err error) {
		text, err = p.AppendJSON(text[:0])
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
