package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

// offHeapMoves is the off-heap memory of a JVM with blocks and a running sort, which is
// shrunk and grown.
const offHeapMoves = "offheap"

const (
	offHeapApp = "test/e2e/testdata/offheap.py"
	// The blocks come to some offHeapBlocks; the JVM has offHeapMost, and is shrunk to
	// offHeapFloor and back offHeapShrinks times.
	offHeapRows    = 7_500_000
	offHeapBlocks  = 512 * units.MiB
	offHeapMost    = 768 * units.MiB
	offHeapFloor   = 128 * units.MiB
	offHeapShrinks = 20
	// returned is for how long resident memory is looked at after a shrink.
	returned = 5 * time.Second
	// again is for how long blocks are waited for to be back in memory before the next.
	again = 10 * time.Second
)

// offHeap measures moves on a Spark of one process on two cores, with Pacer's plugin and the
// environment of Pacer's executors: the bench puts the wishes. Its heap is resident from
// the start, so that what changes is outside.
func offHeap(t testing.TB, add adder) {
	dir := t.TempDir()
	page, wishes := filepath.Join(dir, "progress"), filepath.Join(dir, "wish")
	stop := filepath.Join(dir, "stop")
	if err := progress.Create(page, os.Getuid(), os.Getgid()); err != nil {
		t.Fatal(err)
	}
	if err := progress.CreateWish(wishes); err != nil {
		t.Fatal(err)
	}
	env := []string{"SPARK_LOCAL_IP=127.0.0.1", "PACER_PROGRESS_PAGE=" + page, "PACER_WISH_PAGE=" + wishes,
		"MALLOC_ARENA_MAX=2", "MALLOC_MMAP_THRESHOLD_=131072", "MALLOC_TRIM_THRESHOLD_=131072"}
	run := realenv.Start(t, env, filepath.Join(realenv.SparkHome(t), "bin", "spark-submit"), "--master", "local[2]",
		"--driver-memory", "1g", "--driver-java-options", "-Xms1g -XX:+AlwaysPreTouch", "--driver-class-path",
		"spark/pacer-spark.jar",
		"--conf", "spark.plugins=org.apache.spark.pacer.PacerPlugin", "--conf", "spark.buffer.pageSize=1m", "--conf",
		"spark.ui.enabled=false",
		"--conf", "spark.local.dir="+dir, "--conf", "spark.sql.shuffle.partitions=4", "--conf",
		"spark.memory.offHeap.enabled=true",
		"--conf", "spark.memory.offHeap.size="+offHeapFloor.String(), offHeapApp, stop, strconv.Itoa(offHeapRows), "5")
	m := mover{t: t, run: run}
	m.open(page, wishes)
	m.move(offHeapMost)
	run.Await("cached", 2*time.Minute)
	for i := range offHeapShrinks {
		m.shrink(i)
	}
	if err := os.WriteFile(stop, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if code := run.Wait(2 * time.Minute); code != 0 {
		t.Fatalf("exit %d: %s", code, run.LastWords())
	}
	if n := strings.Count(run.Answer(), "RESULT "); n != 1 {
		t.Fatalf("%d different answers: %s", n, run.Answer())
	}
	add("offheap.shrink_s.median", benchline.Median(m.shrunk), "s")
	add("offheap.grow_ms.median", benchline.Median(m.grown), "ms")
	add("offheap.rss_released_pct", benchline.Median(m.released), "%")
	add("offheap.in_use_mib", benchline.Median(m.inUse), "MiB")
}

// mover moves a JVM's off-heap memory and notes what it takes.
type mover struct {
	t      testing.TB
	run    *realenv.Process
	reader *progress.Reader
	wish   *progress.Wish
	page   meter.Page
	pid    int
	// In s, ms, per cent of what was to be released, and MiB that were in use before.
	shrunk, grown, released, inUse []float64
}

// open waits until the JVM shows that its pools move.
func (m *mover) open(page, wishes string) {
	var err error
	if m.reader, err = progress.Open(page); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = m.reader.Close() })
	if m.wish, err = progress.OpenWish(wishes); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = m.wish.Close() })
	m.await("the JVM to say that its pools move", 2*time.Minute, func(s *meter.Memory) bool { return s.Known })
	if !m.page.Memory.Moves {
		m.t.Fatal("its pools are fixed")
	}
	if m.pid, err = jvmOf(page); err != nil {
		m.t.Fatal(err)
	}
}

// jvmOf is the process that writes the page.
func jvmOf(page string) (int, error) {
	data, err := os.ReadFile(page)
	if err != nil {
		return 0, err
	}
	return int(data[24]) | int(data[25])<<8 | int(data[26])<<16 | int(data[27])<<24, nil // Word 3.
}

// within looks at the page until ok holds or that long, and reports which.
func (m *mover) within(limit time.Duration, ok func(*meter.Memory) bool) bool {
	end := time.Now().Add(limit)
	for time.Now().Before(end) {
		if err := m.reader.Read(&m.page); err == nil && ok(&m.page.Memory) {
			return true
		}
		select {
		case <-m.run.Exited():
			m.t.Fatalf("it has ended: %s", m.run.LastWords())
		case <-m.t.Context().Done():
			m.t.Fatal("interrupted")
		case <-time.After(time.Millisecond):
		}
	}
	return false
}

func (m *mover) await(what string, limit time.Duration, ok func(*meter.Memory) bool) {
	m.t.Helper()
	if !m.within(limit, ok) {
		m.t.Fatalf("%s: not within %v: %+v", what, limit, m.page.Memory)
	}
}

// move puts a wish and waits until it is met.
func (m *mover) move(wanted units.Bytes) time.Duration {
	began, sequence := time.Now(), m.wish.Put(wanted)
	m.await(fmt.Sprintf("%v to be in force", wanted), time.Minute, func(s *meter.Memory) bool {
		return s.Acknowledged == sequence && s.InForce == wanted
	})
	return time.Since(began)
}

// shrink is one of them, and the growth after it.
func (m *mover) shrink(i int) {
	// Blocks are back when all has been read, which is not while it sorts: a move comes at one
	// of four moments after that.
	m.within(again, func(s *meter.Memory) bool { return s.Storage+s.Execution >= offHeapBlocks })
	time.Sleep(time.Duration(i%4) * 500 * time.Millisecond)
	m.await("the page to be read", time.Second, func(*meter.Memory) bool { return true })
	before, used := residentOf(m.t, m.pid), m.page.Memory.Storage+m.page.Memory.Execution
	m.shrunk = append(m.shrunk, m.move(offHeapFloor).Seconds())
	least := before
	for end := time.Now().Add(returned); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		least = min(least, residentOf(m.t, m.pid))
	}
	m.inUse = append(m.inUse, float64(used)/float64(units.MiB))
	m.released = append(m.released, 100*float64(before-least)/float64(used-offHeapFloor))
	m.grown = append(m.grown, 1000*m.move(offHeapMost).Seconds())
	m.t.Logf("shrink %d: %v in use, %.2f s, %.0f %% of it back, grown in %.0f ms", i+1, used/units.MiB*units.MiB,
		m.shrunk[i], m.released[i], m.grown[i])
}

// residentOf is the anonymous memory of a process.
func residentOf(t testing.TB, pid int) units.Bytes {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return units.Bytes(n) * units.KiB
		}
	}
	t.Fatal("no RssAnon")
	return 0
}
