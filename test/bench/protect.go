package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

const (
	// protectPhase is how long the query runs alone, and beside the hogs, by turns; protectTurns is how often.
	protectPhase, protectTurns = 20 * time.Second, 3
	// protectInput is what the query reads, protectFile what a hog of the page cache does.
	protectInput, protectFile = 4 * units.MiB, 2 * units.GiB
	// protectMemory is that of the node: the query's executor and both hogs' have room.
	protectMemory = "4500m"
)

// protected asks a short question each half a second, alone and beside lent hogs of the CPU and the page cache.
func protected(t testing.TB, add adder) {
	p := newProtection(t)
	defer p.s.Up.Stop()
	for turn := range protectTurns {
		p.phase(turn, false)
		p.phase(turn, true)
	}
	if err := os.WriteFile(p.stop, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if code := p.query.Wait(runLimit); code != 0 {
		t.Fatalf("the query: exit %d: %s", code, p.query.LastWords())
	}
	p.read()
	t.Logf("p95 alone %.3f s, beside %.3f s", benchline.Quantile(p.alone, 0.95).Value,
		benchline.Quantile(p.beside, 0.95).Value)
	ratio := benchline.Quantile(p.beside, 0.95).Value / benchline.Quantile(p.alone, 0.95).Value
	add("protect.p95_ratio", benchline.One(ratio), "ratio")
	add("protect.idle_pct", benchline.Mean(p.idle), "%")
	add("protect.cached_pct", benchline.Mean(p.cached), "%")
}

// protection is a query and what it was like.
type protection struct {
	t                 testing.TB
	s                 *realenv.System
	query             *realenv.Process
	id                api.AppID
	input, file, stop string
	phases            []phase
	alone, beside     []float64
	idle, cached      []float64
	queryCores        float64
}

// phase is a time in which the query runs alone or beside hogs.
type phase struct {
	from, to time.Time
	hogs     bool
}

func newProtection(t testing.TB) *protection {
	dir := t.TempDir()
	p := &protection{t: t, input: filepath.Join(dir, "input"), file: filepath.Join(dir, "large"),
		stop: filepath.Join(dir, "stop")}
	if err := os.WriteFile(p.input, []byte(strings.Repeat(strings.Repeat("x", 127)+"\n", int(protectInput/128))),
		0o644); err != nil {
		t.Fatal(err)
	}
	piece, f := make([]byte, units.MiB), mustCreate(t, p.file)
	for range int(protectFile / units.MiB) {
		if _, err := f.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	p.s = realenv.StartUp(t, "--memory", protectMemory)
	p.query = p.s.Submit("--pacer-class", string(api.ClassInteractive), "--conf", "spark.executor.memory=512m",
		"test/bench/testdata/query.py", p.input, p.stop)
	p.query.Await("LATENCY", runLimit)
	p.id = p.s.Newest().ID
	time.Sleep(protectPhase / 2) // Compilers have their turn.
	return p
}

func mustCreate(t testing.TB, path string) *os.File {
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// phase has the query run for a while. Hogs have started when it begins, and go on until it is over.
func (p *protection) phase(turn int, hogs bool) {
	const start = 25 * time.Second
	var all []*realenv.Process
	if hogs {
		seconds := strconv.Itoa(int((protectPhase + start).Seconds()))
		for _, kind := range []string{"cpu", "cache"} {
			all = append(all, p.s.Submit("--pacer-class", string(api.ClassBatch), "--pacer-profile",
				fmt.Sprintf("hog-%s-%d", kind, turn), "--conf", "spark.executor.memory=512m", "test/bench/testdata/hog.py", kind,
				seconds, p.file))
		}
		p.s.Await("the hogs", start, func() bool { return p.running() == len(all) })
	}
	from, used, mine := time.Now(), p.work(), p.own()
	time.Sleep(protectPhase)
	took := time.Since(from).Seconds()
	p.phases = append(p.phases, phase{from, time.Now(), hogs})
	if !hogs {
		p.queryCores = (p.own() - mine) / took
		return
	}
	idle := float64(runtime.NumCPU()) - p.queryCores
	p.idle = append(p.idle, 100*min(1, (p.work()-used)/took/idle))
	p.cached = append(p.cached, p.resident())
	for _, hog := range all {
		if code := hog.Wait(runLimit); code != 0 {
			p.t.Fatalf("a hog: exit %d: %s", code, hog.LastWords())
		}
	}
}

// own is the work of the query, work that of the hogs so far; running is how many hogs have used a core-second.
func (p *protection) own() float64 { return float64(p.s.App(p.id).CoreSeconds) }

func (p *protection) work() (sum float64) {
	for _, a := range p.s.Apps() {
		if a.ID != p.id {
			sum += float64(a.CoreSeconds)
		}
	}
	return sum
}

func (p *protection) running() (n int) {
	for _, a := range p.s.Apps() {
		if a.ID != p.id && a.State == api.AppRunning && len(p.s.App(a.ID).Stages) > 0 {
			n++
		}
	}
	return n
}

// resident is which part of the query's input is in the page cache, in per cent.
func (p *protection) resident() float64 {
	f, err := os.Open(p.input)
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	data, err := unix.Mmap(int(f.Fd()), 0, int(protectInput), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(data) }()
	pages := make([]byte, (len(data)+os.Getpagesize()-1)/os.Getpagesize())
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)),
		uintptr(unsafe.Pointer(&pages[0]))); errno != 0 {
		p.t.Fatalf("mincore: %v", errno)
	}
	in := 0
	for _, page := range pages {
		in += int(page & 1)
	}
	return 100 * float64(in) / float64(len(pages))
}

// read takes in how long questions took, by the phase in which they were asked.
func (p *protection) read() {
	for line := range strings.Lines(p.query.Answer()) {
		fields := strings.Fields(line)
		if len(fields) != 4 || fields[0] != "LATENCY" {
			continue
		}
		at, err := strconv.ParseFloat(fields[1], 64)
		took, err2 := strconv.ParseFloat(fields[2], 64)
		if err != nil || err2 != nil {
			p.t.Fatalf("the query says %q", line)
		}
		asked := time.UnixMicro(int64(at * 1e6))
		for _, ph := range p.phases {
			if asked.Before(ph.from) || asked.After(ph.to) {
				continue
			}
			if ph.hogs {
				p.beside = append(p.beside, took)
			} else {
				p.alone = append(p.alone, took)
			}
		}
	}
}
