package eventlog

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// of is a log of those lines.
func logOf(lines ...string) []Source {
	return []Source{of("app-1", []byte(strings.Join(lines, "\n")+"\n"))}
}

const begin = `{"Event":"SparkListenerLogStart","Spark Version":"4.3.0"}`

func started(app string) string {
	return fmt.Sprintf(`{"Event":"SparkListenerApplicationStart","App Name":"x","App ID":%q,"Timestamp":1000,"User":"u"}`, app)
}

// What is no log is refused in one line that names the file, the line or the field, and the rule.
func TestWhatIsNoLogIsRefusedWithItsRule(t *testing.T) {
	for _, c := range []struct {
		name    string
		sources []Source
		want    string
	}{
		{"empty", []Source{of("a", nil)}, "a: it has 0 bytes"},
		{"another file", []Source{of("a.csv", []byte("id,name\n1,x\n"))}, `a.csv: it begins with "id,name\n": the codec "csv" is none of zstd`},
		{"encrypted", []Source{of("local-1764", []byte("\x8c\x0d\x04\x09\x03\x02\x11\x12"))}, "it is none, or encrypted"},
		{"a codec of another build", []Source{of("app-1.brotli.inprogress", []byte("\x1b\x03\x00\xf8\x8d\x94\x6e\xde"))},
			`the codec "brotli" is none of zstd, lz4, snappy and lzf: unpack it`},
		{"a profile", logOf(`{`, `  "schema": 1`, `}`), `app-1: line 1: it is no event of Spark's, but "{"`},
		{"an event without a name", logOf(begin, `{"Time":1}`), "line 2: it is no event of Spark's"},
		{"a torn line", logOf(begin, `{"Event":"SparkListenerTaskEnd","Stage ID":`, begin), "line 2: SparkListenerTaskEnd is no JSON"},
		{"a field of another type", logOf(begin, `{"Event":"SparkListenerJobStart","Job ID":"x"}`), "line 2: SparkListenerJobStart: json:"},
		{"of a newer Spark", logOf(`{"Event":"SparkListenerLogStart","Spark Version":"5.0.0"}`), "Spark Version is 5.0.0, want 3.5 to 4.3"},
		{"of an older Spark", logOf(`{"Event":"SparkListenerLogStart","Spark Version":"2.4.8"}`), "Spark Version is 2.4.8, want 3.5 to 4.3"},
		{"of no Spark", logOf(`{"Event":"SparkListenerLogStart","Spark Version":"new"}`), `Spark Version is "new", want one such as 4.3.0`},
		{"of two applications", logOf(begin, started("a"), started("b")), `line 3: App ID is "b" after "a": the log is of two applications`},
		{"a file that is gone", []Source{{Name: "a", Open: func() (io.ReadCloser, error) { return nil, errors.New("it is gone") }}}, "a: it is gone"},
		{"a block of no codec", []Source{of("a", append([]byte("LZ4Block\x35"), make([]byte, 12)...))}, "a block of method 0x30"},
	} {
		_, err := Read(c.sources, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Fetch failures, copies of slow tasks and lost executors: what is done twice counts once.
func TestAttemptsKeepWhatWasDoneApart(t *testing.T) {
	stage := func(event string, id, attempt int, more string) string {
		return fmt.Sprintf(`{"Event":"SparkListenerStage%s","Stage Info":{"Stage ID":%d,"Stage Attempt ID":%d,"Stage Name":"count at a.py:1",`+
			`"Number of Tasks":2,"RDD Info":[{"RDD ID":%d,"Name":"PythonRDD","Parent IDs":[%d],"Number of Partitions":2}]%s}}`,
			event, id, attempt, 10+id, 9+id, more)
	}
	task := func(id, attempt, index int, kind, reason, more string) string {
		return fmt.Sprintf(`{"Event":"SparkListenerTaskEnd","Stage ID":%d,"Stage Attempt ID":%d,"Task Type":%q,"Task End Reason":{"Reason":%q},`+
			`"Task Info":{"Index":%d,"Launch Time":1000,"Finish Time":3000,"Executor ID":"1"%s},"Task Metrics":{"Executor CPU Time":1000000000,`+
			`"Executor Run Time":1500,"Input Metrics":{"Bytes Read":100,"Records Read":10}}}`, id, attempt, kind, reason, index, more)
	}
	app, err := Read(logOf(begin, started("a"),
		`{"Event":"SparkListenerExecutorAdded","Timestamp":1000,"Executor ID":"1","Executor Info":{"Host":"h","Total Cores":4}}`,
		`{"Event":"SparkListenerJobStart","Job ID":7,"Stage IDs":[0,1],"Properties":{"spark.sql.execution.id":"3","spark.job.tags":"a,b"}}`,
		stage("Submitted", 0, 0, ""), task(0, 0, 0, "ShuffleMapTask", "Success", ""), task(0, 0, 1, "ShuffleMapTask", "Success", ""),
		task(0, 0, 1, "ShuffleMapTask", "TaskKilled", `,"Killed":true`), stage("Completed", 0, 0, ""),
		stage("Submitted", 1, 0, ""), task(1, 0, 0, "ResultTask", "FetchFailed", `,"Failed":true`),
		stage("Completed", 1, 0, `,"Failure Reason":"a fetch failed"`),
		stage("Submitted", 0, 1, ""), task(0, 1, 0, "ShuffleMapTask", "Success", ""), task(0, 1, 0, "ShuffleMapTask", "Success", ""),
		`{"Event":"SparkListenerExecutorRemoved","Timestamp":4000,"Executor ID":"1","Removed Reason":"lost"}`,
		`{"Event":"SparkListenerTaskStart","Stage ID":0,"Stage Attempt ID":1,"Task Info":{}}`,
		`{"Event":"SparkListenerOfTomorrow"}`, `{"Event":"SparkListenerOfTomorrow"}`, `{"Event":"org.apache.spark.sql.X"}`,
		`{"Event":"SparkListenerApplicationEnd","Timestamp":9000,"ExitCode":3}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	first, second := app.Stages[0], app.Stages[1]
	if a := first.Attempts[0]; a.Done.Tasks != 2 || a.Done.CPU != 2 || a.Done.Run != 3 || a.Lost.Tasks != 1 ||
		a.Reasons["TaskKilled"] != 1 || a.Done.Read() != (Flow{200, 20}) || !first.Map || !first.Python || !first.Complete() {
		t.Errorf("%+v", first)
	}
	if a := first.Attempts[1]; a.Done.Tasks != 1 || a.Lost.Tasks != 1 || a.Open != 1 || a.Completed != 0 {
		t.Errorf("a success that comes again, and a task that runs: %+v", a)
	}
	if second.Complete() || second.Attempts[0].Failed != "a fetch failed" || !slices.Equal(second.Parents, []int{0}) || second.Map ||
		second.Job != 7 || second.Query != NoQuery || app.Jobs[0].Query != 3 {
		t.Errorf("%+v", second)
	}
	if x := app.Executors[0]; x.Cores != 4 || x.Removed != 4000 || app.End != 9000 || !app.Failed {
		t.Errorf("%+v", app)
	}
	if want := map[string]int{"SparkListenerOfTomorrow": 2}; !reflect.DeepEqual(app.Unknown, want) {
		t.Errorf("unknown: %v", app.Unknown)
	}
}

// A plan of more nodes than the driver looks at has no shape, a deep one is refused or has its own.
func TestAPlanMayBeLarge(t *testing.T) {
	query := func(plan string) []Source {
		return logOf(begin, started("a"), `{"Event":"`+sqlEvents+`Start","executionId":1,"sparkPlanInfo":`+plan+`}`)
	}
	wide := `{"nodeName":"Union","children":[` + strings.Repeat(`{"nodeName":"Range"},`, 100_000) + `{"nodeName":"Range"}]}`
	app, err := Read(query(wide), nil)
	if err != nil || len(app.Queries) != 1 || app.Queries[0].Shape != "" {
		t.Errorf("%v, %+v", err, app.Queries)
	}
	if app, err = Read(query(`{"nodeName":"Range"}`), nil); err != nil || app.Queries[0].Shape == "" {
		t.Errorf("%v, %+v", err, app.Queries)
	}
	deep := strings.Repeat(`{"nodeName":"Project","children":[`, 100_000) + strings.Repeat(`]}`, 100_000)
	if _, err = Read(query(deep), nil); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("%v", err)
	}
}

func TestFilesOfALogAreInOrder(t *testing.T) {
	got := inOrder([]string{"events_10_app-1.zstd", "appstatus_app-1", "events_2_app-1.zstd", "events_3_app-1.zstd.compact",
		"events_3_app-1.zstd", "events_1_app-1.zstd", "events_4_app-1.zstd", ".events_1_app-1.zstd.crc"})
	want := []string{"events_3_app-1.zstd.compact", "events_4_app-1.zstd", "events_10_app-1.zstd"}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
