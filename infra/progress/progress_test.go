package progress_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/node/meter"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

func create(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "progress")
	if err := progress.Create(path, -1, -1); err != nil {
		t.Fatal(err)
	}
	return path
}

func writer(t testing.TB, path string) *progress.Writer {
	t.Helper()
	w, err := progress.NewWriter(path, 4711)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func page(t testing.TB, path string) *progress.Reader {
	t.Helper()
	p, err := progress.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// full returns a page with every field set, all of them derived from seed.
func full(seed, stages, tasks int) *meter.Page {
	s := &meter.Page{
		At: units.Instant(seed),
		Memory: meter.Memory{
			Known: true, Moves: seed%2 == 0, InForce: units.Bytes(seed + 21), Storage: units.Bytes(seed + 22), Execution: units.Bytes(seed + 23),
			Owed: units.Bytes(seed + 24), Acknowledged: uint64(seed + 25), Spilled: units.Bytes(seed + 26), Evicted: units.Bytes(seed + 27),
			Met: seed + 28, Moving: time.Duration(seed + 29), Heap: units.Bytes(seed + 30),
			Used: units.Bytes(seed + 31), Collecting: time.Duration(seed + 32),
		},
	}
	for i := range stages {
		k := 100*i + seed
		s.Stages = append(s.Stages, meter.Stage{
			Key: api.StageKey{Stage: k, Attempt: i}, Finished: k + 1, Failed: k + 2, Weight: float64(k) + 0.25,
			Records: float64(k + 3), CPU: work(k + 4), Running: k + 5, RunningRecords: float64(k + 6), RunningCPU: work(k + 7),
			LargeCPU: work(k + 9), LargeReading: work(k + 10),
		})
	}
	if stages > 0 {
		s.Stages[stages-1].Heaviest = float64(seed) + 0.75 // Told of one stage.
	}
	for i := range tasks {
		k := 10*i + seed
		s.Tasks = append(s.Tasks, meter.Task{
			Stage: api.StageKey{Stage: k + 1, Attempt: i}, Partition: k + 2, Weight: float64(k) + 0.5, CPU: work(k + 3), Records: float64(k + 4),
		})
	}
	return s
}

// work is that CPU time.
func work(nanoseconds int) units.Work { return units.Work(time.Duration(nanoseconds).Seconds()) }

// The layout of doc.go, word by word: what the JVM's writer is held to.
func TestLayout(t *testing.T) {
	path := create(t)
	w := writer(t, path)
	w.Publish(full(1, 0, 0))
	w.Publish(full(1000, 2, 2)) // generation 2: slot 1
	data, err := os.ReadFile(path)
	if err != nil || len(data) != 8192 || progress.PageSize != 8192 {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	if string(data[:8]) != "PACERPG1" {
		t.Errorf("magic %q", data[:8])
	}
	const slot0, slot1 = 16, 348
	for word, want := range map[int]uint64{
		1: 7, 2: 2, 3: 4711, 4: 0, 15: 0,
		slot0: 1, slot0 + 1: 0, slot0 + 2: 0,
		slot1: 1000, slot1 + 1: 2, slot1 + 2: 2, slot1 + 3: 1000_750_000, slot1 + 4: 1100<<32 | 1,
		// memory
		slot0 + 5: 2, slot1 + 5: 1, slot1 + 6: 1021, slot1 + 7: 1022, slot1 + 8: 1023, slot1 + 9: 1024, slot1 + 10: 1025,
		slot1 + 11: 1026, slot1 + 12: 1027, slot1 + 13: 1028, slot1 + 14: 1029, slot1 + 15: 1030,
		680: 32, 681: 33, 682: 1031, 683: 1032, 684: 0,
		// stage 1
		slot1 + 28: 1100, slot1 + 29: 1, slot1 + 30: 1101, slot1 + 31: 1102, slot1 + 32: 1100_250_000,
		slot1 + 33: 1103, slot1 + 34: 1104, slot1 + 35: 1105, slot1 + 36: 1106, slot1 + 37: 1107,
		slot1 + 38: 1109, slot1 + 39: 1110,
		// task 1
		slot1 + 117: 1011<<32 | 1, slot1 + 118: 1012, slot1 + 119: 1010_500_000, slot1 + 120: 1013, slot1 + 121: 1014,
	} {
		if got := binary.LittleEndian.Uint64(data[8*word:]); got != want {
			t.Errorf("word %d is %d, want %d", word, got, want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	path := create(t)
	w, p := writer(t, path), page(t, path)
	var got meter.Page
	generation := uint64(0)
	rapid.Check(t, func(rt *rapid.T) {
		want := full(rapid.IntRange(0, 1<<30).Draw(rt, "seed"), rapid.IntRange(0, 8).Draw(rt, "stages"), rapid.IntRange(0, 44).Draw(rt, "tasks"))
		w.Publish(want)
		generation++
		if err := p.Read(&got); err != nil {
			rt.Fatal(err)
		}
		want.Generation = generation
		if diff := cmp.Diff(want, &got, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatal(diff)
		}
	})
}

func TestOverfullPagesAreCut(t *testing.T) {
	path := create(t)
	w, p := writer(t, path), page(t, path)
	w.Publish(full(1, 11, 60))
	var s meter.Page
	if err := p.Read(&s); err != nil {
		t.Fatal(err)
	}
	if len(s.Stages) != progress.MaxStages || len(s.Tasks) != progress.MaxTasks {
		t.Errorf("%d stages, %d tasks", len(s.Stages), len(s.Tasks))
	}
	if s.Stages[0].Key.Stage != 1 || s.Tasks[0].Stage.Stage != 2 {
		t.Error("the first ones did not survive")
	}
}

// A node controller that maps the page before the JVM does sees it empty, a
// second JVM on the same page (a restart) goes on.
func TestLifeOfAPage(t *testing.T) {
	path := create(t)
	p := page(t, path)
	s := full(7, 1, 1)
	before := full(7, 1, 1)
	if err := p.Read(s); !errors.Is(err, progress.ErrEmpty) {
		t.Errorf("before the writer: %v", err)
	}
	w := writer(t, path)
	if err := p.Read(s); !errors.Is(err, progress.ErrEmpty) {
		t.Errorf("before the first publication: %v", err)
	}
	if diff := cmp.Diff(before, s); diff != "" {
		t.Errorf("a failed read changed the page: %s", diff)
	}
	w.Publish(full(1, 1, 1))
	writer(t, path).Publish(full(2, 1, 1))
	if err := p.Read(s); err != nil || s.At != 2 || s.Generation != 2 {
		t.Errorf("at %v, generation %d, %v", s.At, s.Generation, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Read(s); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after closing: %v", err)
	}
}

// damage returns a published page with a word changed.
func damage(t *testing.T, word int, value uint64) *progress.Reader {
	t.Helper()
	path := create(t)
	w, err := progress.NewWriter(path, 1)
	if err != nil {
		t.Fatal(err)
	}
	w.Publish(full(1, 1, 1))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(binary.LittleEndian.AppendUint64(nil, value), int64(8*word)); err != nil {
		t.Fatal(err)
	}
	return page(t, path)
}

// What its writer shows stands in words 4 to 7, before anything is published.
func TestAPageShowsItsProof(t *testing.T) {
	path := create(t)
	if proof, err := page(t, path).Proof(); !errors.Is(err, progress.ErrForeign) {
		t.Errorf("of a page of zeros: %v, %v", proof, err)
	}
	w, p := writer(t, path), page(t, path)
	if proof, err := p.Proof(); err != nil || proof != ([progress.ProofBytes]byte{}) {
		t.Errorf("of a page without one: %v, %v", proof, err)
	}
	var want [progress.ProofBytes]byte
	for i := range want {
		want[i] = byte(200 + i)
	}
	w.Prove(want)
	if proof, err := p.Proof(); err != nil || proof != want {
		t.Errorf("proof %v, %v", proof, err)
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data[32:64]) != string(want[:]) {
		t.Errorf("bytes %v, %v", data[32:64], err)
	}
	if proof, err := damage(t, 1, 5).Proof(); !errors.Is(err, progress.ErrVersion) {
		t.Errorf("of another layout: %v, %v", proof, err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if proof, err := p.Proof(); !errors.Is(err, progress.ErrTruncated) {
		t.Errorf("of a file that was cut: %v, %v", proof, err)
	}
}

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		word  int
		value uint64
		want  error
	}{
		"foreign file":     {0, 0x1234, progress.ErrForeign},
		"no magic":         {0, 0, progress.ErrForeign},
		"older version":    {1, 5, progress.ErrVersion},
		"one that is read": {1, progress.Older, nil},
		"newer version":    {1, 8, progress.ErrVersion},
		"too many stages":  {17, 9, progress.ErrForeign},
		"too many tasks":   {18, 1 << 63, progress.ErrForeign},
	} {
		var s meter.Page
		if err := damage(t, c.word, c.value).Read(&s); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestOpenRefusesOtherFiles(t *testing.T) {
	dir := t.TempDir()
	short, link := filepath.Join(dir, "short"), filepath.Join(dir, "link")
	if err := os.WriteFile(short, make([]byte, progress.PageSize-1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(create(t), link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{short: progress.ErrTruncated, dir: progress.ErrForeign, filepath.Join(dir, "none"): os.ErrNotExist} {
		if _, err := progress.Open(path); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	if _, err := progress.Open(link); err == nil {
		t.Error("a link was followed")
	}
}

// The executor's user cuts the file while the node controller has it mapped.
func TestCutWhileMapped(t *testing.T) {
	path := create(t)
	w, p := writer(t, path), page(t, path)
	w.Publish(full(1, 1, 1))
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	var s meter.Page
	if err := p.Read(&s); !errors.Is(err, progress.ErrTruncated) {
		t.Errorf("error %v", err)
	}
}

func TestCreateReplaces(t *testing.T) {
	path := create(t)
	w := writer(t, path)
	w.Publish(full(1, 1, 1))
	if err := progress.Create(path, os.Getuid(), os.Getgid()); err != nil {
		t.Fatal(err)
	}
	var s meter.Page
	if err := page(t, path).Read(&s); !errors.Is(err, progress.ErrEmpty) {
		t.Errorf("error %v", err)
	}
	if err := progress.Create(filepath.Join(path, "x"), -1, -1); err == nil {
		t.Error("a page was made in a file")
	}
}

// consistent reports what is torn in a page that full made, "" for nothing.
func consistent(s *meter.Page) string {
	seed := int(s.At)
	want := full(seed, seed%9, seed%45)
	want.Generation = s.Generation
	switch {
	case len(s.Stages) != len(want.Stages) || len(s.Tasks) != len(want.Tasks):
		return fmt.Sprintf("seed %d: %d stages, %d tasks", seed, len(s.Stages), len(s.Tasks))
	}
	for i := range s.Stages {
		if s.Stages[i] != want.Stages[i] {
			return fmt.Sprintf("seed %d: stage %d is %+v", seed, i, s.Stages[i])
		}
	}
	for i := range s.Tasks {
		if s.Tasks[i] != want.Tasks[i] {
			return fmt.Sprintf("seed %d: task %d is %+v", seed, i, s.Tasks[i])
		}
	}
	return ""
}

// torture reads a page that somebody publishes on without a pause until so many
// different states were accepted.
func torture(t *testing.T, p *progress.Reader, states int) {
	t.Helper()
	var s meter.Page
	limit, last := time.After(30*time.Second), uint64(0)
	for states > 0 {
		switch err := p.Read(&s); {
		case errors.Is(err, progress.ErrTorn), errors.Is(err, progress.ErrEmpty), err == nil && s.Generation == last:
			runtime.Gosched()
			select {
			case <-limit:
				t.Fatalf("%d states are missing after 30 s", states)
			default:
			}
			continue
		case err != nil:
			t.Fatal(err)
		}
		if torn := consistent(&s); torn != "" {
			t.Fatalf("accepted a torn page: %s", torn)
		}
		if s.Generation < last {
			t.Fatalf("generation went from %d back to %d", last, s.Generation)
		}
		states, last = states-1, s.Generation
	}
}

func TestTortureInProcess(t *testing.T) {
	path := create(t)
	w, p := writer(t, path), page(t, path)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for seed := 1; ; seed++ {
			select {
			case <-stop:
				return
			default:
				w.Publish(full(seed, seed%9, seed%45))
			}
			// On one processor the reader would wait for the end of each slice.
			if seed%64 == 0 {
				runtime.Gosched()
			}
		}
	}()
	defer func() {
		close(stop)
		<-done
	}()
	torture(t, p, 2_000)
}

// TestMain turns the test binary into the other process of TestTortureByProcess.
func TestMain(m *testing.M) {
	if path := os.Getenv("PACER_TEST_HOT_WRITER"); path != "" {
		hotWriter(path)
	}
	os.Exit(m.Run())
}

// hotWriter publishes until its standard input closes.
func hotWriter(path string) {
	w, err := progress.NewWriter(path, os.Getpid())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}()
	w.Publish(full(1, 1, 1))
	fmt.Println("ready")
	for seed := 2; ; seed++ {
		w.Publish(full(seed, seed%9, seed%45))
	}
}

// A writer that is killed in the middle leaves a page that is still readable.
func TestTortureByProcess(t *testing.T) {
	path := create(t)
	p := page(t, path)
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "PACER_TEST_HOT_WRITER="+path)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	torture(t, p, 2_000)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the writer ended with %v", err)
	}
	var s meter.Page
	if err := p.Read(&s); err != nil {
		t.Fatal(err)
	}
	if torn := consistent(&s); torn != "" {
		t.Error(torn)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if pid := binary.LittleEndian.Uint64(data[3*8:]); pid != uint64(cmd.Process.Pid) {
		t.Errorf("page of process %d, want %d", pid, cmd.Process.Pid)
	}
}

func TestReadDoesNotAllocate(t *testing.T) {
	path := create(t)
	w, p := writer(t, path), page(t, path)
	w.Publish(full(1, 8, 44))
	var s meter.Page
	if err := p.Read(&s); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if err := p.Read(&s); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRead(b *testing.B) {
	for _, tasks := range []int{2, 44} {
		b.Run(strconv.Itoa(tasks)+" tasks", func(b *testing.B) {
			path := create(b)
			writer(b, path).Publish(full(1, min(8, tasks), tasks))
			p := page(b, path)
			var s meter.Page
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Read(&s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
