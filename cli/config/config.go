package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	pacerspark "github.com/sparkpacer/pacer/spark"
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
	TLS bus.TLS
	// Plaintext allows an address that is not loopback without TLS, as section `planner` says.
	Plaintext bool
	// Credentials is the path of a credentials file; "" is the user's own for the planner, in
	// Dir.
	Credentials string
	// Dir is the user's directory of credentials, by planner (bus.CredentialPath).
	Dir string
	// State is the planner's state directory on this machine, which has the credential of an
	// operator without a directory.
	State string
	// Timeout is how long a command waits until the planner answers at all.
	Timeout time.Duration
}

// Validate reports every fault of c at once that is not one key's alone (Config.Check).
func (c Client) Validate() error {
	var faults []error
	if err := ValidateServer(c.Planner); err != nil {
		faults = append(faults, fmt.Errorf("client.planner: %w", err))
	}
	if err := c.TLS.Validate(); err != nil {
		faults = append(faults, fmt.Errorf("client: %w", err))
	}
	return errors.Join(faults...)
}

// ValidateServer says what is wrong with the address of a planner or a NATS server that others have.
func ValidateServer(address string) error {
	host, port, _ := net.SplitHostPort(bus.HostPort(address))
	if err := bus.ValidateServer(address); err != nil || host == "" || port == "0" {
		return fmt.Errorf("%q: want host:port or a URL nats:// or tls://host:port", address)
	}
	return nil
}

// Credential returns the credential that commands connect with: none, without a file that is
// there, for a server that lets everybody in.
func (c Client) Credential() (bus.Credential, error) {
	if c.Credentials != "" {
		return bus.LoadCredential(c.Credentials, api.PrincipalUser)
	}
	operator := daemon.OperatorPath(c.State)
	for _, path := range []string{bus.CredentialPath(c.Dir, c.Planner), operator,
		bus.CredentialPath(filepath.Dir(operator), c.Planner)} { // A unit has its planner keep its own there.
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
	// Ignored are lines about variables of the environment that look like Pacer's and set nothing: another program's, or
	// misspelt.
	Ignored []string
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

// Check reports every key whose value it may not have, of those that begin with one of sections,
// of all without any.
func (c Config) Check(sections ...string) error {
	var faults []error
	for _, s := range settings {
		if s.of(sections) {
			faults = append(faults, s.check(&c))
		}
	}
	return errors.Join(faults...)
}

// Validate reports every fault of c at once, those of the daemons included.
func (c Config) Validate() error {
	return errors.Join(c.Check(), c.Client.Validate(), c.Planner.Validate(), c.Node.Validate())
}

// With returns c with what next says of all that may change while a daemon runs.
func (c Config) With(next Config) Config {
	for _, s := range settings {
		if s.effect == live {
			reflect.ValueOf(s.at(&c)).Elem().Set(reflect.ValueOf(s.at(&next)).Elem())
		}
	}
	return c
}

// Changed are the keys whose values are not the same in c and next, of those that begin with
// one of sections, of all without any.
func (c Config) Changed(next Config, sections ...string) []string {
	var keys []string
	for _, s := range settings {
		if s.of(sections) && s.value(&c) != s.value(&next) {
			keys = append(keys, s.key)
		}
	}
	return keys
}

// Load reads the configuration. It checks what every command needs; the sections of
// the daemons are checked by those that run them, since they depend on the machine and
// the user. Its error lists every fault, one a line; what it returns beside one is for Faults alone.
func Load(from Sources) (Config, error) {
	cfg := Default()
	var err error
	if from.File, err = find(from); err != nil {
		return Config{}, fmt.Errorf("configuration: %w", err)
	}
	err = load(&cfg, from)
	cfg.Node.Name = strings.ReplaceAll(cfg.Node.Name, ".", "-") // Kubernetes names nodes by whole host names.
	if cfg.Client.TLS == (bus.TLS{}) {
		cfg.Client.TLS = cfg.Planner.Trust()
	}
	cfg.Client.Planner = cmp.Or(cfg.Client.Planner, cfg.PlannerAddress())
	cfg.Client.Plaintext = cfg.Planner.Plaintext
	cfg.Client.Dir, cfg.Client.State = CredentialDir(from.Environ), cfg.Planner.State
	if err := errors.Join(err, cfg.Check("client.", "log."), cfg.Client.Validate()); err != nil {
		return cfg, fmt.Errorf("configuration: %w", err)
	}
	return cfg, nil
}

// Faults are all of what Load returned at once: what could not be read hides no value that may not be, and
// a key that could not be read has its default meanwhile.
func Faults(cfg Config, err error) error {
	if cfg.Client.Planner == "" {
		return err // The file itself cannot be read.
	}
	all := cfg.Validate()
	if err == nil && all != nil {
		return fmt.Errorf("configuration: %w", all)
	}
	if all == nil {
		return err
	}
	for line := range strings.Lines(all.Error()) {
		if line = strings.TrimSuffix(line, "\n"); !strings.Contains(err.Error(), line) {
			err = errors.Join(err, errors.New(line))
		}
	}
	return err
}

// begin has the engines begin with the presets that c names; Check tells of one that there is not.
func (c *Config) begin() {
	if c.Planner.Preset == daemon.PresetPaper {
		c.Planner.Engine = c.Planner.Engine.Paper()
	}
	if c.Node.Preset == daemon.PresetPaper {
		c.Node.Engine = c.Node.Engine.Paper()
	}
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
	sections := map[string]map[string]any{}
	for _, s := range settings {
		section, key, _ := strings.Cut(s.key, ".")
		if sections[section] == nil {
			sections[section] = map[string]any{}
		}
		sections[section][key] = plain(s.value(&c))
	}
	body, err := yaml.Marshal(sections)
	if err != nil {
		return nil, fmt.Errorf("encode the configuration: %w", err)
	}
	return body, nil
}
