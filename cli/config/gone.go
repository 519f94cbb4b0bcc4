package config

import (
	"fmt"
	"strings"
)

// gone are keys of earlier releases, each with what holds in its place by default.
var gone = map[string]string{
	"the preset chooses it": `planner.alpha=0.97 planner.aim=0.996 planner.margin=300ms planner.split=critical-path
		planner.pace-infeasible=false node.law=pacer node.progress=work node.eq21=on-top`,
	"it is fixed": `planner.beta=0.3 planner.quantum=0.05 planner.node-lost=5s planner.node-clash=2s
		planner.driver-silent=8s planner.driver-lost=60s planner.driver-away=1h planner.exit-silent=5s planner.exit-wait=10m
		planner.final-wait=1.5s planner.replacements=3 planner.replacement-window=10m planner.detail-history=20
		planner.history-bytes=64m planner.profile-bytes=64m planner.samples=2000 planner.all-samples=1000000
		planner.stages=2000 planner.profile-age=9600h planner.revoke-grace=1m
		node.interval=500ms node.quantum=0.05 node.floor=0.1 node.floor-share=0.05 node.stale=2s node.grace=15m node.guard=10s
		node.conflict=insist node.phi=1 node.p=0.3 node.eta=10 node.k=Eq.17 node.ti=Eq.17 node.jar=embedded
		node.cgroup-root=/sys/fs/cgroup`,
	"with planner.nats-url it always holds": `planner.standby=on`,
	"set node.offered-cores":                `node.total-cores=all node.reserve=10%`,
}

// retired says what became of each key of earlier releases.
var retired = func() map[string]string {
	out := map[string]string{}
	for what, keys := range gone {
		for _, pair := range strings.Fields(keys) {
			key, holds, _ := strings.Cut(pair, "=")
			out[key] = fmt.Sprintf("%s can be set no more, %s: %s", key, what, holds)
		}
	}
	return out
}()
