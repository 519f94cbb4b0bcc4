package attached

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/units"
)

var (
	// yarnContainer is a group that YARN has made for a container.
	yarnContainer = regexp.MustCompile(`^container_(e[0-9]+_)?[0-9]+_[0-9]+_[0-9]+_[0-9]+$`)
	// pod is a group of a kubelet's that has those of a pod's containers, by either cgroup driver.
	pod = regexp.MustCompile(`^(.*-)?pod[0-9a-f]{8}[-_]?([0-9a-f]{4}[-_]?){3}[0-9a-f]{12}(\.slice)?$`)
	// pods is the group of all pods of a kubelet, at the start of one of theirs.
	pods = regexp.MustCompile(`^.*?kubepods[^/]*`)
	// flat is what containerd makes for a container where the kubelet speaks of slices and it does not.
	flat = regexp.MustCompile(`^.*-pod[0-9a-f_]+\.slice:[a-z-]+:[0-9a-f]+$`)
)

// containerOf is the group of the container that a process in group is in, "" where no group is one
// container's.
func containerOf(group string) string {
	parts := strings.Split(strings.Trim(group, "/"), "/")
	for i, part := range parts {
		switch {
		case yarnContainer.MatchString(part) || flat.MatchString(part):
			return "/" + path.Join(parts[:i+1]...)
		case pod.MatchString(part) && i+1 < len(parts):
			return "/" + path.Join(parts[:i+2]...)
		}
	}
	return ""
}

// weighedFor is how many cores its manager weighs the group of a container for: YARN's for its vcores, a pod's for what
// is requested.
func weighedFor(o *cgroup.Others, container string, cpus int) units.Cores {
	switch {
	case yarnContainer.MatchString(path.Base(container)):
		return units.Cores(o.Weight(container))
	case pod.MatchString(path.Base(path.Dir(container))):
		return o.Requested(container, pods.FindString(container), cpus)
	}
	return 0 // A group that is beside its pod's weighs against services of the machine.
}

// guaranteed reports whether a container's group is a pod's of the class that may have CPUs of its own.
func guaranteed(container string) bool {
	return !yarnContainer.MatchString(path.Base(container)) &&
		!strings.Contains(container, "burstable") && !strings.Contains(container, "besteffort")
}

// place says which groups are to be held for an executor that is in m, in groups of Pacer's below parent where its
// manager has none for it alone. There it weighs as much as its cores' threads did, in units of one. stray says why it
// may not be moved.
func place(o *cgroup.Others, m cgroup.Membership, c command, parent, name string, stray error) (t cgroup.Hold,
	err error) {
	own := path.Join("/", parent, name)
	container := containerOf(m.CPU)
	switch {
	case container != "":
		if t, err = o.Found(container); err != nil {
			return t, err
		}
	case !c.yarn:
		return t, fmt.Errorf("its group %s is not known to be its container's alone", m.CPU)
	case stray != nil:
		return t, stray
	case o.Limits(m.CPU):
		return t, fmt.Errorf("its group %s is the NodeManager's, and limits memory too, or disks or which CPUs it has", m.CPU)
	default:
		t = cgroup.Hold{CPU: own, Acct: own, Quota: -1, Period: cgroup.Period.Microseconds(), FromCPU: m.CPU}
		t.Weight = cgroup.Weight(c.cores())
	}
	if !o.Apart() {
		return t, nil
	}
	if counted := containerOf(m.Acct); container != "" && counted != "" {
		t.Acct = counted
	} else {
		t.Acct, t.FromAcct = own, m.Acct
	}
	return t, nil
}
