package cli

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/sparkpacer/pacer/bus"
	"github.com/sparkpacer/pacer/daemon"
	pacerspark "github.com/sparkpacer/pacer/spark"
	"github.com/sparkpacer/pacer/units"
)

// ClientConfig says how commands reach the planner. Section `client` of the
// configuration.
type ClientConfig struct {
	// Planner is its address or that of the NATS server between, host:port or a
	// URL nats:// or tls://host:port; "" is where planner.nats-url or
	// planner.listen of the same configuration say.
	Planner string
	// TLS are the files of a secured connection; none is what the planner's
	// section has.
	TLS bus.TLS `mapstructure:",squash"`
	// Credentials is the path of a credentials file; "" for none.
	Credentials string
	// Timeout is how long a command waits until the planner answers at all.
	Timeout time.Duration
}

// Validate reports every fault of c at once.
func (c ClientConfig) Validate() error {
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

// Config is everything that the configuration file holds.
type Config struct {
	Client  ClientConfig
	Planner daemon.PlannerConfig
	Node    daemon.NodeConfig
	Log     LogConfig
}

// DefaultConfig returns what holds without a file, environment and flags.
func DefaultConfig() Config {
	c := Config{
		Client:  ClientConfig{Timeout: 2 * time.Second},
		Planner: daemon.DefaultPlannerConfig(), Node: daemon.DefaultNodeConfig(),
		Log: LogConfig{Format: "text", Level: "info"},
	}
	c.Planner.Engine.Release, c.Node.Release = Release(), Release()
	c.Node.InstallJar = pacerspark.Install
	c.Node.GuardBinary = "/proc/self/exe" // Main calls Guard.
	return c
}

// Validate reports every fault of c at once, those of the daemons included.
func (c Config) Validate() error {
	return errors.Join(c.Client.Validate(), c.Log.Validate(), c.Planner.Validate(), c.Node.Validate())
}

// loadConfig reads the configuration for this call. It checks what every command
// needs; the sections of the daemons are checked by those that run them, since
// they depend on the machine and the user.
func (sh *shell) loadConfig() (Config, error) {
	cfg := DefaultConfig()
	from := sources{environ: sh.environ, sets: sh.sets}
	var err error
	if from.file, err = sh.configFile(); err != nil {
		return Config{}, err
	}
	if sh.planner != "" {
		from.sets = append(from.sets, "client.planner="+sh.planner)
	}
	err = load(&cfg, from)
	if preset, ok := cfg.presets(); ok {
		cfg = preset
		err = load(&cfg, from)
	}
	if cfg.Client.TLS == (bus.TLS{}) {
		cfg.Client.TLS = cfg.Planner.TLS
	}
	if cfg.Client.Planner == "" {
		// A wrong URL is told by the planner's own check, with its name.
		if cfg.Client.Planner = cfg.Planner.NatsURL; bus.ValidateServer(cfg.Planner.NatsURL) != nil {
			cfg.Client.Planner = reachable(cfg.Planner.Listen)
		}
	}
	if err := errors.Join(err, cfg.Client.Validate(), cfg.Log.Validate()); err != nil {
		return Config{}, coded(ExitConfig, fmt.Errorf("configuration: %s", oneLine(err)))
	}
	return cfg, nil
}

// presets returns the defaults under the presets that c names, false where these are
// the defaults' own or not known: the daemons' checks tell which there are.
func (c Config) presets() (Config, bool) {
	d := DefaultConfig()
	if c.Planner.Preset == d.Planner.Preset && c.Node.Preset == d.Node.Preset {
		return d, false
	}
	var err1, err2 error
	d.Planner, err1 = d.Planner.WithPreset(c.Planner.Preset)
	d.Node, err2 = d.Node.WithPreset(c.Node.Preset)
	return d, err1 == nil && err2 == nil
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

// configFile is the file to read: the flag's or the variable's, which must exist,
// else the user's or the machine's where there is one.
func (sh *shell) configFile() (string, error) {
	if path := firstOf(sh.configPath, sh.getenv("PACER_CONFIG")); path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", coded(ExitConfig, fmt.Errorf("configuration: %w", err))
		}
		return path, nil
	}
	dir := sh.getenv("XDG_CONFIG_HOME")
	if home := sh.getenv("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".config")
	}
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

// oneLine joins the lines of an error that lists faults.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

func (sh *shell) configCommand() *cobra.Command {
	var effective bool
	show := &cobra.Command{Use: "show", Short: "Print the configuration as YAML", Args: cobra.NoArgs}
	show.Long = "Print the configuration as YAML: the defaults, or with --effective what holds for\nthis call, from file, environment and flags."
	show.Flags().BoolVar(&effective, "effective", false, "with file, environment and flags")
	show.RunE = func(*cobra.Command, []string) error {
		cfg := DefaultConfig()
		cfg.Client.Planner = reachable(cfg.Planner.Listen)
		if effective {
			var err error
			if cfg, err = sh.loadConfig(); err != nil {
				return err
			}
		}
		body, err := encodeConfig(cfg)
		if err != nil {
			return err
		}
		_, err = sh.stdout.Write(body)
		return err
	}
	check := &cobra.Command{Use: "validate", Short: "Check the configuration and report every fault", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := sh.loadConfig()
			if err != nil {
				return err
			}
			if err := cfg.Validate(); err != nil {
				return coded(ExitConfig, fmt.Errorf("configuration: %w", err))
			}
			return nil
		}}
	return group("config", "Show and check the configuration", show, check)
}

// encodeConfig prints cfg as a file that loads back to it.
func encodeConfig(cfg Config) ([]byte, error) {
	nested := map[string]any{}
	for key, value := range flatten(&cfg) {
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
