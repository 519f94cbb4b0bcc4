package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"

	"github.com/sparkpacer/pacer/profiles"
)

// Sources is where a configuration comes from, weakest first.
type Sources struct {
	// File is the path of a YAML file; "" is the one that PACER_CONFIG names, else the
	// user's or the machine's where there is one.
	File string
	// Environ is the environment as os.Environ gives it.
	Environ []string
	// Sets are KEY=VALUE from flags.
	Sets []string
}

// envPrefix starts the names of environment variables that set a key; ownEnv are
// those that have a meaning of their own.
const envPrefix = "PACER_"

var ownEnv = map[string]bool{"PACER_CONFIG": true, CredentialDirEnv: true}

// ownEnvPrefixes are left to tests, benchmarks and executors.
var ownEnvPrefixes = []string{"PACER_TEST_", "PACER_BENCH_", "PACER_PROGRESS_", "PACER_DEMO_"}

// unparsed is what is wrong with a file, without the words of the packages that read it.
func unparsed(err error) error {
	var faults *yaml.TypeError
	if errors.As(err, &faults) {
		return errors.New(strings.Join(faults.Errors, "; "))
	}
	return cmp.Or(errors.Unwrap(err), err)
}

// load puts into cfg, which holds the defaults, what the sources say: file < environment <
// sets. A preset is where the other keys begin, whichever source names it. Its error lists every
// fault: unknown keys, values of the wrong type.
func load(cfg *Config, from Sources) error {
	v := viper.New()
	var faults []error
	known := func(key, where string) bool {
		if what, was := retired[key]; was {
			faults = append(faults, fmt.Errorf("%s: %s", where, what))
		} else if !isKey(key) {
			faults = append(faults, fmt.Errorf("%s: unknown key %s%s", where, key, meant(key)))
		}
		return isKey(key)
	}
	if from.File != "" {
		v.SetConfigFile(from.File)
		v.SetConfigType("yaml")
		if err := v.ReadInConfig(); err != nil {
			return fmt.Errorf("%s: %w", from.File, unparsed(err))
		}
		for _, key := range v.AllKeys() {
			known(key, from.File)
		}
	}
	set := func(key, value, where string) {
		if known(key, where) {
			v.Set(key, value)
		}
	}
	for name, value := range pacerEnv(from.Environ) {
		key := keyOfEnv(name)
		if !isKey(key) && retired[key] == "" {
			cfg.Ignored = append(cfg.Ignored,
				fmt.Sprintf("environment %s sets nothing: unknown key %s%s", name, key, meant(key)))
			continue
		}
		set(key, value, "environment "+name)
	}
	sort.Strings(cfg.Ignored)
	for _, s := range from.Sets {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			faults = append(faults, fmt.Errorf("--set %q: want KEY=VALUE", s))
			continue
		}
		set(strings.TrimSpace(key), value, "--set")
	}
	take := func(presets bool) {
		for _, s := range settings {
			if value := v.Get(s.key); value != nil && presets == strings.HasSuffix(s.key, ".preset") {
				if err := s.set(cfg, value); err != nil {
					faults = append(faults, err)
				}
			}
		}
	}
	take(true)
	cfg.begin()
	take(false)
	sort.SliceStable(faults, func(i, j int) bool { return faults[i].Error() < faults[j].Error() })
	return errors.Join(faults...)
}

func isKey(key string) bool {
	return slices.ContainsFunc(settings, func(s setting) bool { return s.key == key })
}

// pacerEnv returns the variables that are meant to set keys.
func pacerEnv(environ []string) map[string]string {
	out := map[string]string{}
next:
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(name, envPrefix) || ownEnv[name] {
			continue
		}
		for _, p := range ownEnvPrefixes {
			if strings.HasPrefix(name, p) {
				continue next
			}
		}
		out[name] = value
	}
	return out
}

// envName is the variable that sets a key: PACER_PLANNER_MAX_POOL for
// planner.max-pool.
func envName(key string) string {
	return envPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}

func keyOfEnv(name string) string {
	for _, s := range settings {
		if envName(s.key) == name {
			return s.key
		}
	}
	for key := range retired {
		if envName(key) == name {
			return key
		}
	}
	section, rest, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(name, envPrefix)), "_")
	return strings.TrimSuffix(section+"."+strings.ReplaceAll(rest, "_", "-"), ".")
}

// meant names a known key that ends like an unknown one, for the message.
func meant(key string) string {
	last := key[strings.LastIndexByte(key, '.')+1:]
	for _, s := range settings {
		if squeeze(s.key) == squeeze(key) || squeeze(s.key[strings.LastIndexByte(s.key, '.')+1:]) == squeeze(last) {
			return " (is it " + s.key + "?)"
		}
	}
	keys := func(yield func(string) bool) {
		for _, s := range settings {
			if s.key[:1+strings.IndexByte(s.key, '.')] == key[:1+strings.IndexByte(key, '.')] && !yield(s.key) {
				return
			}
		}
	}
	if near := profiles.Nearest(keys, key); near != "" {
		return " (is it " + near + "?)"
	}
	return ""
}

func squeeze(s string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(s))
}
