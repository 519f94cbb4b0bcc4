package daemon

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/node"
)

// A node starts no component with a file that is another than the submitted one: it says which and why, and keeps
// nothing of it.
func TestAComponentIsNotStartedWithAnotherFile(t *testing.T) {
	whole := bytes.Repeat([]byte("x"), 100)
	other := bytes.Repeat([]byte("y"), 100)
	for name, c := range map[string]struct {
		// comes are the pieces that the planner sends; then it has no more.
		comes [][]byte
		says  string
	}{
		"other content":      {[][]byte{other}, "the digest of what came is"},
		"a piece of another": {[][]byte{whole[:50], other[50:]}, "the digest of what came is"},
		"more than its size": {[][]byte{whole[:50], whole}, "the digest of what came is"},
		"less than its size": {[][]byte{whole[:50]}, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			d := &drivers{node: "n", executors: &executors{layout: executor.Layout{Root: dir}, held: map[node.Key]*held{},
				users: &executor.Users{All: &executor.Credential{UID: uint32(os.Getuid()), GID: uint32(os.Getgid())}}}}
			d.fetch = func(context.Context, api.FetchRequest) (reply api.FetchReply, err error) {
				if len(c.comes) > 0 {
					reply.File.Data, c.comes = c.comes[0], c.comes[1:]
				}
				return reply, nil
			}
			d.command = func(*api.Component, api.Launch, executor.Paths, executor.Credential, executor.Reach) (executor.CommandLine, error) {
				t.Error("a command line is made")
				return executor.CommandLine{}, os.ErrInvalid
			}
			key := node.Key{App: "app-1", ID: "ps-0"}
			err := d.StartComponent(t.Context(), key, api.Launch{}, api.Component{Name: "ps",
				Files: []api.ComponentFile{{Name: "model.py", SHA256: digestOf(whole), Size: int64(len(whole))}}})
			if err == nil || !strings.HasPrefix(err.Error(), "file model.py: ") || !strings.Contains(err.Error(), c.says) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q", err, c.says)
			}
			paths, _ := d.layout.Paths(key.App, key.ID)
			if _, err := os.Stat(paths.Files); !os.IsNotExist(err) {
				t.Errorf("its files stay: %v", err)
			}
		})
	}
}
