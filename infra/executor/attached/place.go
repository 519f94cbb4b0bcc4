package attached

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/sparkpacer/pacer/infra/cgroup"
)

var (
	// yarnContainer is a group that YARN has made for a container.
	yarnContainer = regexp.MustCompile(`^container_(e[0-9]+_)?[0-9]+_[0-9]+_[0-9]+_[0-9]+$`)
	// pod is a group of a kubelet's that has those of a pod's containers, by either cgroup driver.
	pod = regexp.MustCompile(`^(.*-)?pod[0-9a-f]{8}[-_]?([0-9a-f]{4}[-_]?){3}[0-9a-f]{12}(\.slice)?$`)
	// flat is what containerd makes for a container where the kubelet speaks of slices and it does not.
	flat = regexp.MustCompile(`^.*-pod[0-9a-f_]+\.slice:[a-z-]+:[0-9a-f]+$`)
)

// containerOf is the group of the container that a process in group is in, "" where no group is one
// container's. bestEffort says that the container is promised no CPU.
func containerOf(group string) (container string, bestEffort bool) {
	parts := strings.Split(strings.Trim(group, "/"), "/")
	for i, part := range parts {
		bestEffort = bestEffort || strings.Contains(part, "besteffort")
		switch {
		case yarnContainer.MatchString(part) || flat.MatchString(part):
			return "/" + path.Join(parts[:i+1]...), bestEffort
		case pod.MatchString(part) && i+1 < len(parts):
			return "/" + path.Join(parts[:i+2]...), bestEffort
		}
	}
	return "", false
}

// guaranteed reports whether a container's group is a pod's of the class that may have CPUs of its own.
func guaranteed(container string) bool {
	return !yarnContainer.MatchString(path.Base(container)) &&
		!strings.Contains(container, "burstable") && !strings.Contains(container, "besteffort")
}

// place says which groups are to be held for an executor that is in m, in groups of Pacer's below
// parent where its manager has none for it alone: there it weighs as much as its cores' threads did, in
// units of one. unguarded says that what it is promised is not guaranteed.
func place(o *cgroup.Others, m cgroup.Membership, c command, parent, name string) (t cgroup.Hold, unguarded bool,
	err error) {
	own := path.Join("/", parent, name)
	container, bestEffort := containerOf(m.CPU)
	switch {
	case container != "":
		if t, err = o.Found(container); err != nil {
			return t, false, err
		}
		unguarded = bestEffort
	case !c.yarn:
		return t, false, fmt.Errorf("its group %s is not known to be its container's alone", m.CPU)
	case o.LimitsMemory(m.CPU):
		return t, false, fmt.Errorf("its group %s is the NodeManager's, and limits memory too", m.CPU)
	default:
		t = cgroup.Hold{CPU: own, Acct: own, Quota: -1, Period: cgroup.Period.Microseconds(), FromCPU: m.CPU}
		t.Weight, unguarded = cgroup.Weight(c.cores()), true
	}
	if !o.Apart() {
		return t, unguarded, nil
	}
	if counted, _ := containerOf(m.Acct); container != "" && counted != "" {
		t.Acct = counted
	} else {
		t.Acct, t.FromAcct = own, m.Acct
	}
	return t, unguarded, nil
}
