package config

import (
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/lending"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
)

// settings are the keys that a user can set, in the order of docs/configuration.md, which has
// what each of them means. Their defaults are what Default has at their place.
var settings = slices.Concat([]setting{
	{"client.planner", func(c *Config) any { return &c.Client.Planner }, perCall, text("HOST:PORT or a URL")},
	{"client.tls-ca", func(c *Config) any { return &c.Client.TLS.CA }, perCall, text("file")},
	{"client.tls-cert", func(c *Config) any { return &c.Client.TLS.Cert }, perCall, text("file")},
	{"client.tls-key", func(c *Config) any { return &c.Client.TLS.Key }, perCall, text("file")},
	{"client.credentials", func(c *Config) any { return &c.Client.Credentials }, perCall, text("file")},
	{"client.timeout", func(c *Config) any { return &c.Client.Timeout }, perCall, above(0)},
	{"log.level", func(c *Config) any { return &c.Log.Level }, live, logLevel},
	{"log.format", func(c *Config) any { return &c.Log.Format }, restart, oneOf("text", "json")},
}, plannerSettings, nodeSettings)

var presets = oneOf(daemon.PresetPacer, daemon.PresetPaper)

var plannerSettings = []setting{
	{"planner.listen", func(c *Config) any { return &c.Planner.Listen }, restart, text("HOST:PORT")},
	{"planner.nats-url", func(c *Config) any { return &c.Planner.NatsURL }, restart, text("URL")},
	{"planner.tls-ca", func(c *Config) any { return &c.Planner.TLS.CA }, restart, text("file")},
	{"planner.tls-cert", func(c *Config) any { return &c.Planner.TLS.Cert }, restart, text("file")},
	{"planner.tls-key", func(c *Config) any { return &c.Planner.TLS.Key }, restart, text("file")},
	{"planner.plaintext", func(c *Config) any { return &c.Planner.Plaintext }, restart, yesNo},
	{"planner.http", func(c *Config) any { return &c.Planner.HTTP }, restart, text("HOST:PORT")},
	{"planner.credentials", func(c *Config) any { return &c.Planner.Credentials }, restart, text("file")},
	{"planner.state", func(c *Config) any { return &c.Planner.State }, restart, text("directory")},
	{"planner.preset", func(c *Config) any { return &c.Planner.Preset }, restart, presets},
	{"planner.branches", func(c *Config) any {
		return &c.Planner.Engine.Branches
	}, restart, oneOf(estimate.Branches()...)},
	{"planner.max-pool", func(c *Config) any { return &c.Planner.Engine.MaxPool }, live, atLeast(1, "executors")},
	{"planner.max-nodes", func(c *Config) any { return &c.Planner.Engine.MaxNodes }, restart, atLeast(0, "nodes")},
	{"planner.placement", func(c *Config) any { return &c.Planner.Engine.Placement }, live, oneOf(placement.Orders()...)},
	{"planner.queue-rule", func(c *Config) any { return &c.Planner.Engine.Queue.Rule }, live, oneOf(assign.Rules()...)},
	{"planner.queue", func(c *Config) any { return &c.Planner.Engine.Queue.Order }, live, oneOf(assign.Orders()...)},
	{"planner.queue-size", func(c *Config) any { return &c.Planner.Engine.Queue.Size }, live, oneOf(assign.Sizes()...)},
	{"planner.admission", func(c *Config) any {
		return &c.Planner.Engine.Queue.Admission
	}, live, oneOf(assign.Admissions()...)},
	{"planner.late", func(c *Config) any { return &c.Planner.Engine.Queue.Late }, live, oneOf(assign.Lates()...)},
	{"planner.consolidate", func(c *Config) any {
		return &c.Planner.Engine.Consolidate
	}, live, oneOf(placement.Consolidates()...)},
	{"planner.lend", func(c *Config) any { return &c.Planner.Engine.Lend.By }, restart, oneOf(lending.Modes()...)},
	{"planner.history", func(c *Config) any { return &c.Planner.Engine.History }, restart, atLeast(0, "applications")},
	{"planner.profiles", func(c *Config) any { return &c.Planner.Engine.Profiles }, restart, atLeast(1, "profiles")},
}

var nodeSettings = []setting{
	{"planner.upload-bytes", func(c *Config) any { return &c.Planner.UploadBytes }, restart, noneOr(1)},
	{"node.name", func(c *Config) any { return &c.Node.Name }, restart, text("letters, digits, - and _, dots become -")},
	{"node.planner", func(c *Config) any { return &c.Node.Planner }, restart, text("HOST:PORT or a URL")},
	{"node.tls-ca", func(c *Config) any { return &c.Node.TLS.CA }, restart, text("file")},
	{"node.tls-cert", func(c *Config) any { return &c.Node.TLS.Cert }, restart, text("file")},
	{"node.tls-key", func(c *Config) any { return &c.Node.TLS.Key }, restart, text("file")},
	{"node.plaintext", func(c *Config) any { return &c.Node.Plaintext }, restart, yesNo},
	{"node.credentials", func(c *Config) any { return &c.Node.Credentials }, restart, text("file")},
	{"node.http", func(c *Config) any { return &c.Node.HTTP }, restart, text("HOST:PORT")},
	{"node.state", func(c *Config) any { return &c.Node.State }, restart, text("directory")},
	{"node.work", func(c *Config) any { return &c.Node.Work }, restart, text("directory")},
	{"node.host", func(c *Config) any { return &c.Node.Host }, restart, text("name or address")},
	{"node.offered-cores", func(c *Config) any { return &c.Node.OfferedCores }, restart, atLeast(0, "cores")},
	{"node.memory", func(c *Config) any { return &c.Node.Memory }, restart, above(0)},
	{"node.disk-rate", func(c *Config) any { return &c.Node.Rates.Disk }, live, atLeast(0, "size a second")},
	{"node.net-rate", func(c *Config) any { return &c.Node.Rates.Network }, live, atLeast(0, "size a second")},
	{"node.attach", func(c *Config) any { return &c.Node.Attach }, restart, yesNo},
	{"node.runtime", func(c *Config) any { return &c.Node.Runtime }, restart,
		oneOf(daemon.RuntimeAuto, daemon.RuntimeDocker, daemon.RuntimeProcess)},
	{"node.image", func(c *Config) any { return &c.Node.Image }, restart, text("image")},
	{"node.mounts", func(c *Config) any { return &c.Node.Mounts }, restart, text("directories, each with :rw or without")},
	{"node.executor-user", func(c *Config) any { return &c.Node.ExecutorUser }, restart, text("user")},
	{"node.executor-uids", func(c *Config) any { return &c.Node.ExecutorUIDs }, restart, text("FIRST-LAST")},
	{"node.spark-home", func(c *Config) any { return &c.Node.SparkHome }, restart, text("directory")},
	{"node.java-home", func(c *Config) any { return &c.Node.JavaHome }, restart, text("directory")},
	{"node.spark-homes", func(c *Config) any { return &c.Node.SparkHomes }, restart, text("directories")},
	{"node.java-homes", func(c *Config) any { return &c.Node.JavaHomes }, restart, text("directories")},
	{"node.archives", func(c *Config) any { return &c.Node.Archives }, restart, text("directory, or off")},
	{"node.cgroup-parent", func(c *Config) any { return &c.Node.CgroupParent }, restart, text("group")},
	{"node.preset", func(c *Config) any { return &c.Node.Preset }, restart, presets},
	{"node.strategy", func(c *Config) any { return &c.Node.Engine.Supervisor.Strategy }, live,
		text(strings.Join(supervisor.Strategies(), ", "))},
	{"node.gamma", func(c *Config) any { return &c.Node.Engine.Supervisor.Gamma }, live, text("0 to 1")},
	{"node.history", func(c *Config) any { return &c.Node.History }, restart, text("file")},
	{"node.keep-logs", func(c *Config) any { return &c.Node.Keep.Age }, live, atLeast(0, "")},
	{"node.keep-logs-apps", func(c *Config) any { return &c.Node.Keep.Apps }, live, atLeast(0, "applications")},
	{"node.log-bytes", func(c *Config) any { return &c.Node.Files.Log }, live, noneOr(units.MiB)},
	{"node.work-app-bytes", func(c *Config) any { return &c.Node.Files.App }, live, noneOr(1)},
	{"node.work-bytes", func(c *Config) any { return &c.Node.Keep.Bytes }, live, noneOr(1)},
}
