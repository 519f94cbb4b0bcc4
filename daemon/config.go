package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/store"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// Presets with which the engines of a planner and of a node can begin: their own, or [1] as it is printed.
const PresetPacer, PresetPaper = "pacer", "paper"

// PlannerConfig says how a planner daemon runs. The zero value is not valid:
// start from DefaultPlannerConfig.
type PlannerConfig struct {
	// Listen is the NATS address, host:port; port 0 picks a free one, "" listens
	// nowhere, so that only this process can connect.
	Listen string
	// NatsURL is a NATS server to use in place of the embedded one, nats:// or
	// tls://host:port; then Listen counts for nothing. "" embeds one.
	NatsURL string
	// TLS are the files of a secured connection to NatsURL; without that the own
	// certificate of Listen, and of HTTP off loopback. Without files both use what
	// `pacer auth init` made in State/TLSDir, off loopback.
	TLS bus.TLS
	// Plaintext allows addresses that are not loopback without TLS, NatsURL too.
	Plaintext bool
	// HTTP is the address of the page, its API, /metrics, /healthz and /readyz; "" turns them off.
	HTTP string
	// Credentials is the file with the planner's own credential on the server at NatsURL; "" is
	// the one in State that `pacer auth nats` makes, and none where there is none.
	Credentials string
	// State is the directory of planner.db; with NatsURL the state is in that server's JetStream, where
	// planners share it, and State has files only.
	State string
	// UploadBytes is how many bytes the files of drivers have together that nodes are to start.
	UploadBytes units.Bytes
	// Preset is the one that Engine has begun with.
	Preset string
	// Engine is the planning itself.
	Engine planner.Config

	// Owners are given an operator's credential.
	Owners []Owner
	// Sync says when state reaches the disk; only tests change it.
	Sync store.SyncPolicy
	// Logger gets one line per decision; nil discards.
	Logger *slog.Logger
	// Ready is called once, with one line for the user, when the planner
	// answers; nil for nobody.
	Ready func(line string)
}

// DefaultPlannerConfig serves this machine only.
func DefaultPlannerConfig() PlannerConfig {
	return PlannerConfig{Listen: bus.DefaultAddress, HTTP: "127.0.0.1:4281", State: DefaultStateDir(),
		UploadBytes: 2 * units.GiB,
		Preset:      PresetPacer, Engine: planner.Default()}
}

// Validate reports every fault of c at once, but those of one key alone, which package config
// finds.
func (c PlannerConfig) Validate() error {
	faults := []error{c.Engine.Validate(), validateHTTP(c.HTTP, c.ownTLS(c.HTTP), c.Plaintext), validateState(c.State)}
	switch {
	case c.NatsURL != "":
		faults = append(faults, validateServer("nats-url", c.NatsURL), c.TLS.Validate())
	case c.Listen != "":
		faults = append(faults, c.server().Validate())
	}
	return wrapFaults("planner", faults)
}

// NodeConfig says how a node controller runs. The zero value is not valid: start
// from DefaultNodeConfig, which looks at the machine.
type NodeConfig struct {
	// Name is the node's: letters, digits, - and _.
	Name string
	// Planner is the planner's NATS address or that of the server between them, host:port or a URL nats:// or
	// tls://host:port. Credentials is the file with the node's credential, "" has it in State. Where an operator's is
	// found for the planner, one of Owners', the node gets its own by that. TLS are the files of a secured connection.
	Planner     string
	Credentials string
	Owners      []Owner
	TLS         bus.TLS
	// HTTP is the address of /metrics and /healthz; "" turns them off. Off loopback
	// it uses TLS.Cert, unless Plaintext allows it without TLS, and so the way to Planner.
	HTTP      string
	Plaintext bool
	// State is the directory of node.db, Work that of the executors' files and
	// logs; "" is State/work.
	State string
	Work  string
	// Host is the name or address under which executors are reached; "" is
	// 127.0.0.1 with a planner on loopback, else the address that faces it.
	Host string

	// TotalCores is what the node may use of the machine. OfferedCores is what applications get;
	// 0 is TotalCores less Reserve, which is left to drivers and daemons.
	TotalCores   units.Cores
	OfferedCores units.Cores
	Reserve      units.Cores
	// Memory is what the executors of all applications may take.
	Memory units.Bytes

	// Attach has the node find executors that another cluster manager starts, and start none: what says
	// how executors are started counts for nothing then.
	Attach bool
	// Runtime is what executors run in: docker, process, or auto, which is docker
	// where a daemon answers. Image has the Spark of containers; "" is this
	// machine's. Mounts are more of this machine for containers to see
	// (docker.ParseMounts).
	Runtime string
	Image   string
	Mounts  string

	// ExecutorUser is whom all executors run as, by name or number; root has to be named. EachUser is as none.
	// "" depends on the application. It is the user who has submitted it, where the planner has made sure of that
	// and this machine knows the user. Where nobody is known it is whoever has called sudo or, without root, started
	// this process; else a user id of ExecutorUIDs (executor.ParseUIDs), one for each application.
	ExecutorUser string
	ExecutorUIDs string
	// SparkHome and JavaHome win over the driver's when they are set. SparkHomes and
	// JavaHomes are where the driver's may be (executor.ParsePlaces); "" is what this machine
	// shows to have, what belongs to root and what belongs to the executor's user.
	SparkHome  string
	JavaHome   string
	SparkHomes string
	JavaHomes  string
	// OwnSpark is the Spark that this user's `pacer submit` takes, "" for not known.
	OwnSpark string
	// Jar is the pacer-spark jar; "" has InstallJar put it into State/jar.
	Jar string
	// Archives is the directory of class-data archives; "" is State/archive,
	// NoArchives makes and uses none.
	Archives string

	// CgroupRoot is where cgroups are mounted, CgroupParent the group under which
	// Pacer's are made; "" is pacer/node-NAME.
	CgroupRoot   string
	CgroupParent string

	// Preset is the one that Engine has begun with.
	Preset string
	// Engine is the control itself; of the node and its machine it is told by the fields above.
	Engine node.Config

	// Guard is how long after this node controller's death its guard process
	// waits for another one before it lifts the quotas; 0 has no guard.
	Guard time.Duration
	// GuardBinary is the program that calls Guard for GuardCommand; "" has no
	// guard.
	GuardBinary string

	// History is the file into which all that the engine is told and answers is
	// recorded (package replay); "" records nothing.
	History string

	// Keep bounds the logs of ended applications, and by its Bytes the files of all, 0 for no bound.
	Keep executor.Retention
	// Files are the bounds of files.
	Files FileBounds
	// Rates are those of the node's devices that its operator has set.
	Rates api.NodeRates

	// Release is this build's version.
	Release string

	// Logger gets one line per decision; nil discards.
	Logger *slog.Logger
	// Ready is called once, with one line for the user, when the planner has
	// accepted the node's hello; nil for nobody.
	Ready func(line string)
	// InstallJar writes the jar that belongs to this binary into a directory and
	// returns its path (package spark).
	InstallJar func(dir string) (string, error)
	// Deps replace the machine, for tests; the zero value is the machine.
	Deps *Deps
}

// FileBounds are bounds of files, 0 for none: Log is the most that each of an executor's two logs has on the disk, App
// what all files of an application have on this node.
type FileBounds struct{ Log, App units.Bytes }

// Deps are the places where tests put something else than the machine. A nil
// field is the real thing.
type Deps struct {
	// Runtime makes the executor runtime.
	Runtime func(layout executor.Layout, groups *cgroup.Hierarchy) (executor.Runtime, error)
	// Command makes an executor's command line.
	Command func(key node.Key, launch api.Launch, paths executor.Paths) (executor.CommandLine, error)
	// HostUsed is the CPU time used by the whole machine.
	HostUsed func() (units.Work, error)
	// Sync says when state reaches the disk.
	Sync store.SyncPolicy
	// Clock is the clock of the progress pages.
	Clock func() units.Instant
	// Boot identifies the machine's boot.
	Boot func() (string, error)
	// Dial connects to the planner. Known says that it needs no credential for that.
	Dial  func(bus.Options) (*bus.Conn, error)
	Known bool
}

// DefaultNodeConfig offers this machine to a planner on it: all cores but a tenth
// (at least 0.1) and 75 % of the memory, or of what this process may have where that is less.
func DefaultNodeConfig() NodeConfig {
	total := machineCores()
	return NodeConfig{
		Name: machineName(), Planner: bus.DefaultAddress, HTTP: "127.0.0.1:4282", State: DefaultStateDir(),
		TotalCores: total, Reserve: defaultReserve(total), Memory: defaultMemory(), Runtime: RuntimeAuto,
		Preset: PresetPacer, Engine: node.Default(),
		Guard: 10 * time.Second,
		Keep:  executor.DefaultRetention(), Files: FileBounds{Log: 64 * units.MiB}, CgroupRoot: cgroup.DefaultRoot,
		ExecutorUIDs: executor.DefaultUIDs.String(),
	}
}

// Validate reports every fault of c at once, but those of one key alone, which package config
// finds.
func (c NodeConfig) Validate() error {
	faults := []error{validateServer("planner", c.Planner), c.TLS.Validate(), validateHTTP(c.HTTP, c.TLS, c.Plaintext),
		validateState(c.State), c.validateRuntime()}
	if c.Jar == "" && !c.Attach && c.InstallJar == nil && (c.Deps == nil || c.Deps.Command == nil) {
		faults = append(faults, errors.New("jar: no path is given and this binary carries none"))
	}
	_, err := c.Users(executor.Layout{})
	_, _, homesErr := c.allowedHomes()
	return wrapFaults("node", append(faults, err, homesErr, c.engine().Validate()))
}

// offered is what applications get.
func (c NodeConfig) offered() units.Cores {
	if c.OfferedCores != 0 {
		return c.OfferedCores
	}
	return c.TotalCores - c.Reserve
}

// engine is c as package node takes it; a daemon fills in Incarnation and Boot
// when it starts.
func (c NodeConfig) engine() node.Config {
	e := c.Engine
	e.Node, e.Host, e.Incarnation, e.Release = c.Name, c.host(), "none", c.Release
	e.Total, e.Offered, e.Memory = c.TotalCores, c.offered(), c.Memory
	return e
}

// NoArchives as NodeConfig.Archives does without class-data archives.
const NoArchives = "off"

// ArchiveDir is the directory of class-data archives, "" for none.
func (c NodeConfig) ArchiveDir() string {
	switch c.Archives {
	case "":
		return filepath.Join(c.State, "archive")
	case NoArchives:
		return ""
	}
	return c.Archives
}

func (c NodeConfig) host() string {
	if c.Host != "" {
		return c.Host
	}
	return facing(c.Planner)
}

// UpConfig is a planner and a node controller in one process. Node.Planner,
// Node.TLS and Node.Plaintext are ignored: the node connects inside the
// process, or as the planner does with Planner.NatsURL, and has the planner's certificate.
type UpConfig struct {
	Planner PlannerConfig
	Node    NodeConfig
	// Ready is called once, with one line that contains "ready".
	Ready func(line string)
	// Link is told after that, if it is not nil, at which address the planner's owner begins a session on its page.
	Link func(address string)
}

// Validate reports every fault of c at once.
func (c UpConfig) Validate() error {
	var same error
	if c.Planner.HTTP != "" && c.Planner.HTTP == c.Node.HTTP && !strings.HasSuffix(c.Node.HTTP, ":0") {
		same = fmt.Errorf("planner and node: both want the HTTP address %s", c.Node.HTTP)
	}
	c.Node.TLS, c.Node.Plaintext = c.Planner.beside(c.Node.HTTP), c.Planner.Plaintext
	return errors.Join(c.Planner.Validate(), c.Node.Validate(), same)
}

// wrapFaults names the daemon in front of its faults; nil without any.
func wrapFaults(what string, faults []error) error {
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func validateServer(what, server string) error {
	if err := bus.ValidateServer(server); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func validateAddress(what, address string) error {
	if err := bus.ValidateAddress(address); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func validateHTTP(address string, t bus.TLS, plaintext bool) error {
	if address == "" {
		return nil
	}
	if err := validateAddress("http", address); err != nil {
		return err
	}
	return bus.NeedsTLS("http", address, t, plaintext)
}

func validateState(dir string) error {
	if dir == "" {
		return errors.New("state: no directory is given")
	}
	return nil
}
