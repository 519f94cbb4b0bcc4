package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/bus"
	"github.com/sparkpacer/pacer/daemon"
	pacerspark "github.com/sparkpacer/pacer/spark"
	"github.com/sparkpacer/pacer/units"
)

// Client says how commands reach the planner. Section `client` of the
// configuration.
type Client struct {
	// Planner is its address or that of the NATS server between, host:port or a
	// URL nats:// or tls://host:port; "" is where planner.nats-url or
	// planner.listen of the same configuration say.
	Planner string
	// TLS are the files of a secured connection; none is how this machine reaches the
	// planner that section `planner` is for.
	TLS bus.TLS `mapstructure:",squash"`
	// Credentials is the path of a credentials file; "" is the user's own for the planner, in
	// Dir.
	Credentials string
	// Dir is the user's directory of credentials, by planner (bus.CredentialPath).
	Dir string `mapstructure:"-"`
	// State is the planner's state directory on this machine, which has the credential of an
	// operator without a directory.
	State string `mapstructure:"-"`
	// Timeout is how long a command waits until the planner answers at all.
	Timeout time.Duration
}

// Validate reports every fault of c at once.
func (c Client) Validate() error {
	var faults []error
	host, port, _ := net.SplitHostPort(bus.HostPort(c.Planner))
	if err := bus.ValidateServer(c.Planner); err != nil || host == "" || port == "0" {
		faults = append(faults, fmt.Errorf("client.planner: %q, want host:port or a URL nats:// or tls://host:port", c.Planner))
	}
	if err := c.TLS.Validate(); err != nil {
		faults = append(faults, fmt.Errorf("client: %w", err))
	}
	if c.Timeout <= 0 {
		faults = append(faults, fmt.Errorf("client.timeout: %v, want more than 0", c.Timeout))
	}
	return errors.Join(faults...)
}

// Credential returns the credential that commands connect with: none, without a file that is
// there, for a server that lets everybody in.
func (c Client) Credential() (bus.Credential, error) {
	if c.Credentials != "" {
		return bus.LoadCredential(c.Credentials, api.PrincipalUser)
	}
	for _, path := range []string{bus.CredentialPath(c.Dir, c.Planner), daemon.OperatorPath(c.State)} {
		own, err := bus.LoadCredential(path, api.PrincipalUser)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			continue
		}
		return own, err
	}
	return bus.Credential{}, nil
}

// CredentialDirEnv is the variable that names the directory of credentials; the jar knows it
// too (Transport.scala).
const CredentialDirEnv = "PACER_CREDENTIALS_DIR"

// CredentialDir is the directory of the credentials of whoever has that environment: what
// CredentialDirEnv says, else below where the user's configuration is; "" where nobody says.
func CredentialDir(environ []string) string {
	if dir := Variable(environ, CredentialDirEnv); dir != "" {
		return dir
	}
	if dir := configDir(environ); dir != "" {
		return filepath.Join(dir, "pacer", "credentials")
	}
	return ""
}

// configDir is where a user's programs have their configuration, "" where nobody says.
func configDir(environ []string) string {
	dir := Variable(environ, "XDG_CONFIG_HOME")
	if home := Variable(environ, "HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".config")
	}
	return dir
}

// Config is everything that the configuration file holds.
type Config struct {
	Client  Client
	Planner daemon.PlannerConfig
	Node    daemon.NodeConfig
	Log     Log
}

// Default returns what holds without a file, environment and flags.
func Default() Config {
	c := Config{
		Client:  Client{Timeout: 2 * time.Second},
		Planner: daemon.DefaultPlannerConfig(), Node: daemon.DefaultNodeConfig(),
		Log: Log{Format: "text", Level: "info"},
	}
	c.Planner.Engine.Release, c.Node.Release = Release(), Release()
	c.Node.InstallJar = pacerspark.Install
	c.Node.GuardBinary = "/proc/self/exe" // command.Main calls Guard.
	return c
}

// Validate reports every fault of c at once, those of the daemons included.
func (c Config) Validate() error {
	return errors.Join(c.Client.Validate(), c.Log.Validate(), c.Planner.Validate(), c.Node.Validate())
}

// With returns c with what next says of all that may change while a daemon runs.
func (c Config) With(next Config) Config {
	c.Planner, c.Node = c.Planner.With(next.Planner), c.Node.With(next.Node)
	c.Log.Level = next.Log.Level
	return c
}

// Changed are the keys whose values are not the same in c and next, in order, of those that
// begin with one of prefixes.
func (c Config) Changed(next Config, prefixes ...string) []string {
	is, will := flatten(&c), flatten(&next)
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(is)) {
		of := func(prefix string) bool { return strings.HasPrefix(key, prefix) }
		if is[key] != will[key] && slices.ContainsFunc(prefixes, of) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Load reads the configuration. It checks what every command needs; the sections of
// the daemons are checked by those that run them, since they depend on the machine and
// the user. Its error lists every fault, one a line.
func Load(from Sources) (Config, error) {
	cfg := Default()
	var err error
	if from.File, err = find(from); err != nil {
		return Config{}, fmt.Errorf("configuration: %w", err)
	}
	err = load(&cfg, from)
	if preset, ok := cfg.presets(); ok {
		cfg = preset
		err = load(&cfg, from)
	}
	if cfg.Client.TLS == (bus.TLS{}) {
		cfg.Client.TLS = cfg.Planner.Trust()
	}
	if cfg.Client.Planner == "" {
		cfg.Client.Planner = cfg.PlannerAddress()
	}
	cfg.Client.Dir, cfg.Client.State = CredentialDir(from.Environ), cfg.Planner.State
	if err := errors.Join(err, cfg.Client.Validate(), cfg.Log.Validate()); err != nil {
		return Config{}, fmt.Errorf("configuration: %w", err)
	}
	return cfg, nil
}

// presets returns the defaults under the presets that c names, false where these are
// the defaults' own or not known: the daemons' checks tell which there are.
func (c Config) presets() (Config, bool) {
	d := Default()
	if c.Planner.Preset == d.Planner.Preset && c.Node.Preset == d.Node.Preset {
		return d, false
	}
	var err1, err2 error
	d.Planner, err1 = d.Planner.WithPreset(c.Planner.Preset)
	d.Node, err2 = d.Node.WithPreset(c.Node.Preset)
	return d, err1 == nil && err2 == nil
}

// PlannerAddress is where this machine reaches the planner that section `planner` is
// for.
func (c Config) PlannerAddress() string {
	// A wrong URL is told by the planner's own check, with its name.
	if bus.ValidateServer(c.Planner.NatsURL) == nil {
		return c.Planner.NatsURL
	}
	return reachable(c.Planner.Listen)
}

// reachable is the address under which this machine reaches a planner that
// listens at listen: loopback where it listens on every interface.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	switch ip := net.ParseIP(host); {
	case err != nil || port == "0":
		return bus.DefaultAddress
	case host == "" || ip != nil && ip.IsUnspecified():
		return net.JoinHostPort("127.0.0.1", port)
	}
	return listen
}

// find returns the file to read: the one that is named, which must exist, else the user's or
// the machine's where there is one.
func find(from Sources) (string, error) {
	if path := cmp.Or(from.File, Variable(from.Environ, "PACER_CONFIG")); path != "" {
		_, err := os.Stat(path)
		return path, err
	}
	dir := configDir(from.Environ)
	candidates := []string{"/etc/pacer/config.yaml"}
	if dir != "" {
		candidates = append([]string{filepath.Join(dir, "pacer", "config.yaml")}, candidates...)
	}
	for _, path := range candidates {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", nil
}

// Variable is the value of an environment variable, "" when it is not set.
func Variable(environ []string, name string) string {
	for _, e := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}

// Encode prints c as a file that loads back to it.
func (c Config) Encode() ([]byte, error) {
	nested := map[string]any{}
	for key, value := range flatten(&c) {
		at := nested
		parts := strings.Split(key, ".")
		for _, p := range parts[:len(parts)-1] {
			if _, ok := at[p]; !ok {
				at[p] = map[string]any{}
			}
			at = at[p].(map[string]any)
		}
		at[parts[len(parts)-1]] = plain(value)
	}
	body, err := yaml.Marshal(nested)
	if err != nil {
		return nil, fmt.Errorf("encode the configuration: %w", err)
	}
	return body, nil
}

// plain turns a value into what a user would write.
func plain(v any) any {
	switch v := v.(type) {
	case time.Duration:
		return v.String()
	case units.Bytes:
		return v.String()
	default:
		return v
	}
}
