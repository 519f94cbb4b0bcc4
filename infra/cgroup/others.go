package cgroup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sparkpacer/pacer/units"
)

// Others reaches the groups that other managers of the machine have made. It makes none but those
// into which Enclose moves processes. It is safe for concurrent use.
type Others struct {
	h     *Hierarchy // Its trees: it has no parent.
	watch *watch     // Nil where the kernel does not tell of writers.
	claim *os.File
	// first is process 1's name space of groups, nil where this process is in it, or cannot enter it for blind.
	first *os.File
	blind error

	dividing sync.Mutex // Taken before that of an Adopted.
	// moved are the groups of Pacer's by the one that their processes were in.
	moved map[string][]*Adopted
}

// OpenOthers claims the groups below root ("" is DefaultRoot) until Close: two writers of them
// would take each other's quotas for their manager's. A machine that somebody else has claimed, and
// does not let go within 2 s as one that ends does, is api.KindConflict.
func OpenOthers(root string) (*Others, error) {
	h, err := trees(root)
	if err != nil {
		return nil, err
	}
	claim, err := claimMachine(h.roots[0])
	if err != nil {
		return nil, err
	}
	o := &Others{h: h, claim: claim, moved: map[string][]*Adopted{}}
	if h.kernel {
		o.watch, _ = newWatch() // Without it each quota is read before it is written.
		o.first, o.blind = openFirst()
	}
	return o, nil
}

// trees are those of a root, without a parent in them.
func trees(root string) (*Hierarchy, error) {
	root = cmp.Or(root, DefaultRoot)
	version, roots, err := detect(root)
	if err != nil {
		return nil, err
	}
	return &Hierarchy{version: version, kernel: isKernel(roots[0]), root: root, roots: roots}, nil
}

// Close ends the claim and the watch; groups stay as they are.
func (o *Others) Close() error {
	var err error
	if o.first != nil {
		err = o.first.Close()
	}
	if o.watch != nil {
		err = errors.Join(err, o.watch.close())
	}
	return errors.Join(err, leave(o.claim.Name(), o.h.kernel), o.claim.Close())
}

// Membership is where a process is, as paths from the tops of the trees.
type Membership struct {
	CPU string
	// Acct is where its CPU time is counted: CPU itself where one tree does both.
	Acct string
}

// ErrOutside says that a process is in groups that this process does not see.
var ErrOutside = errors.New("cgroup: its groups lie outside the cgroup name space of this process")

// Membership reads a /proc/PID/cgroup.
func (o *Others) Membership(text []byte) (Membership, error) {
	m := Membership{CPU: path.Clean("/" + o.h.pathIn(text, "cpu"))}
	m.Acct = m.CPU
	if len(o.h.roots) > 1 {
		m.Acct = path.Clean("/" + o.h.pathIn(text, "cpuacct"))
	}
	for line := range strings.Lines(string(text)) {
		if _, where, _ := strings.Cut(strings.TrimSpace(line), ":/"); strings.HasPrefix(where, "..") {
			return Membership{}, cmp.Or(o.Blind(), ErrOutside)
		}
	}
	return m, nil
}

// Apart reports whether CPU time is counted in a tree of its own.
func (o *Others) Apart() bool { return len(o.h.roots) > 1 }

// leftBehind are files in which v2 has bounds that a process leaves with its group.
var leftBehind = []string{"memory.max", "memory.high", "memory.swap.max", "cpuset.cpus", "io.max"}

// Limits reports whether group, or one above it, bounds more than CPU time, and a process that left it would leave
// the bound behind: in v2, where one tree does all. The number of processes, which systemd bounds for each service,
// does not count.
func (o *Others) Limits(group string) bool {
	return o.h.version == V2 && slices.ContainsFunc(upwards(o.h.roots[0], group), func(dir string) bool {
		return dir != o.h.roots[0] && slices.ContainsFunc(leftBehind, func(name string) bool {
			text, _ := os.ReadFile(filepath.Join(dir, name)) // A controller that is not there bounds nothing.
			bound := strings.TrimSpace(string(text))
			return bound != "" && bound != "max"
		})
	})
}

// Members are the processes in a group of the cpu tree and in the groups inside it.
func (o *Others) Members(group string) ([]int, error) {
	var pids []int
	top := filepath.Join(o.h.roots[0], group)
	for _, dir := range append([]string{top}, inside(top)...) {
		in, err := procsIn(dir)
		if err != nil {
			return nil, err
		}
		pids = append(pids, in...)
	}
	return pids, nil
}

// procsIn are the processes in a group's directory, none where it is gone.
func procsIn(dir string) ([]int, error) {
	data, err := os.ReadFile(filepath.Join(dir, procsFile))
	if errors.Is(err, os.ErrNotExist) || isGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	var pids []int
	for _, field := range strings.Fields(string(data)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// encloseRounds is how often Enclose lists the processes and moves them: one may fork meanwhile.
const encloseRounds = 3

// Enclose makes the groups of t that are Pacer's and moves the processes of list there, in the
// trees of the CPU alone, until none is outside.
func (o *Others) Enclose(t Hold, list func() ([]int, error)) error {
	made := t.made(o.h)
	for _, m := range made {
		err := os.Mkdir(m.dir, 0o755)
		if err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("cgroup: %w", err)
		}
		if err == nil && !o.h.kernel {
			if err := makeProcs([]string{filepath.Join(m.dir, procsFile)}); err != nil {
				return err
			}
		}
	}
	if t.FromCPU != "" && t.Weight > 0 {
		if err := o.h.setWeight(filepath.Join(o.h.roots[0], t.CPU), t.Weight); err != nil {
			return err
		}
	}
	if t.FromCPU != "" {
		if err := o.bound(t); err != nil {
			return err
		}
	}
	for round := 0; len(made) > 0; round++ {
		pids, err := list()
		if err != nil {
			return err
		}
		outside := 0
		for _, m := range made {
			there, err := procsIn(m.dir)
			if err != nil {
				return err
			}
			missing := slices.DeleteFunc(slices.Clone(pids), func(pid int) bool { return slices.Contains(there, pid) })
			if outside += len(missing); len(missing) > 0 && round < encloseRounds {
				if err := newMover(m.tree, m.controller, o.h).move(m.dir, missing, list); err != nil {
					return err
				}
			}
		}
		switch {
		case outside == 0:
			return nil
		case round == encloseRounds:
			return fmt.Errorf("cgroup: %d processes are still outside %s after %d rounds", outside, t.CPU, round)
		}
	}
	return nil
}

// Found is what a group of a manager's has: its quota, to be put back.
func (o *Others) Found(group string) (t Hold, err error) {
	files, err := o.h.openQuota(filepath.Join(o.h.roots[0], group))
	if err != nil {
		return Hold{}, err
	}
	var buf [64]byte
	t = Hold{CPU: group, Acct: group}
	t.Quota, t.Period, err = files.readQuota(buf[:])
	if t.Period == ownPeriod { // The quota that it was found with is lost.
		t.Period = Period.Microseconds()
		if t.Quota%100 == ownDigits {
			t.Quota = noQuota
		}
	}
	return t, errors.Join(err, files.close())
}

// above is the most that the groups above t's allow.
func (o *Others) above(t Hold) units.Cores {
	from := path.Dir(t.CPU)
	if t.FromCPU != "" {
		from = t.FromCPU
	}
	return o.allows(from)
}

// allows is the most that a group and those above it allow.
func (o *Others) allows(group string) units.Cores {
	most := units.Unlimited
	for _, dir := range upwards(o.h.roots[0], group) {
		most = min(most, o.h.quotaIn(dir))
	}
	return most
}

// leave bounds how long the kernel may take to empty a group that processes were moved from.
func leave(dir string, kernel bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), claimLeaves)
	defer cancel()
	return removeDir(ctx, dir, kernel)
}
