package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzYAML: whatever a configuration file holds, it is refused, or what holds then is
// printed as a file that loads to the same.
func FuzzYAML(f *testing.F) {
	f.Add([]byte("planner:\n  listen: 127.0.0.1:4222\n  preset: paper\nnode:\n  strategy: auto\n  interval: 500ms\n"))
	f.Add([]byte("client: {timeout: 2, tls-ca: a}\nlog:\n  level: [debug]\n"))
	whole, err := Default().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, body []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, "config.yaml")
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := Load(Sources{File: path})
		if err != nil {
			return
		}
		_ = cfg.Validate() // It depends on the machine.
		text, err := cfg.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		again, err := Load(Sources{File: path})
		if err != nil {
			t.Fatalf("what was printed does not load: %v\n%s", err, text)
		}
		if second, err := again.Encode(); err != nil || string(second) != string(text) {
			t.Errorf("%v: printed again it is another:\n%s\n%s", err, text, second)
		}
	})
}

// FuzzSet: whatever --set and the environment say, it holds or is refused by its name.
func FuzzSet(f *testing.F) {
	f.Add("node.strategy=auto", "PACER_LOG_LEVEL=debug")
	f.Add("planner.max-pool=1e3", "PACER_CLIENT_TIMEOUT=-1h")
	f.Add("client.planner=tls://[::1]:1", "PACER_NODE_MEMORY=12gb")
	f.Add("no.such=key", "PACER_=")
	f.Fuzz(func(t *testing.T, set, variable string) {
		cfg, err := Load(Sources{Sets: []string{set}, Environ: []string{variable}})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "configuration: ") {
				t.Errorf("%v", err)
			}
			return
		}
		_ = cfg.Validate()
		if _, err := cfg.Encode(); err != nil {
			t.Error(err)
		}
	})
}
