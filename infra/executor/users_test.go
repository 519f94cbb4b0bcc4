package executor_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/executor"
)

var few = executor.UIDs{First: 2_000_000_000, Last: 2_000_000_002}

// rootOnly skips a test where nobody can become another user.
func rootOnly(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
}

// An application has a user id of its own for as long as it has a directory here, also for
// the next node controller; ids that have been given away are no other's.
func TestEachApplicationHasAUserOfItsOwn(t *testing.T) {
	rootOnly(t)
	layout := workRoot(t)
	of := map[uint32]api.AppID{}
	for _, app := range []api.AppID{"app-1", "app-2", "app-3"} {
		users := &executor.Users{UIDs: few, Layout: layout}
		first, err := users.Of(app, "")
		again, err2 := (&executor.Users{UIDs: few, Layout: layout}).Of(app, "")
		if err != nil || err2 != nil || first != again || !first.Made || first.UID < few.First || first.UID > few.Last || first.GID != first.UID {
			t.Fatalf("%s: %+v, then %+v (%v, %v)", app, first, again, err, err2)
		}
		if other, taken := of[first.UID]; taken {
			t.Errorf("%s has the user id of %s", app, other)
		}
		of[first.UID] = app
	}
	users := &executor.Users{UIDs: few, Layout: layout}
	if user, err := users.Of("app-4", ""); err == nil || !strings.Contains(err.Error(), few.String()) {
		t.Errorf("a fourth of three: %+v, %v", user, err)
	}
	if err := layout.RemoveLogs([]api.AppID{"app-2"}); err != nil {
		t.Fatal(err)
	}
	if user, err := users.Of("app-4", ""); err != nil || of[user.UID] != "app-2" {
		t.Errorf("after app-2's end: %+v, %v", user, err)
	}
}

func TestUsersThatTheMachineKnowsAreThemselves(t *testing.T) {
	rootOnly(t)
	invoker := executor.Credential{Name: "carol", UID: 4321, GID: 4321}
	users := &executor.Users{UIDs: few, Layout: workRoot(t), Invoker: &invoker}
	if user, err := users.Of("app-1", ""); err != nil || user != invoker {
		t.Errorf("of nobody known: %+v, %v", user, err)
	}
	// Root and services are users of the machine, and no application's.
	for _, name := range []string{"root", "daemon", "0", "nobody", "no-such-user"} {
		if user, err := users.Of("app-1", name); err != nil || !user.Made {
			t.Errorf("%s: %+v, %v", name, user, err)
		}
	}
	all := executor.Credential{Name: "spark", UID: 77}
	users.All = &all
	if user, err := users.Of("app-1", "daemon"); err != nil || user != all {
		t.Errorf("with a user for all: %+v, %v", user, err)
	}
}

func TestUserIDsThatAreSomebodysAreRefused(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	all := file("         0          0 4294967295\n")
	for name, c := range map[string]struct{ passwd, subuid, mapping, want string }{
		"nobody's":   {file("root:x:0:0::/:/bin/sh\n"), file("alice:100000:65536\n"), all, ""},
		"no files":   {"/no/such/file", "/no/such/file", "/no/such/file", ""},
		"a user's":   {file("eve:x:2000000001:1::/:/bin/sh\n"), "/none", all, "2000000001 is eve's"},
		"containers": {"/none", file("eve:1999999000:65536\n"), all, "are for containers of eve"},
		"unmapped":   {"/none", "/none", file("0 100000 65536\n"), "no such ones in this container"},
	} {
		err := few.Usable(c.passwd, c.subuid, c.mapping)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for _, text := range []string{"", "1", "2000-1000", "0-5", "5000-4294967295", "a-b", "2000-3000-4000"} {
		if r, err := executor.ParseUIDs(text); err == nil {
			t.Errorf("%q is taken as %v", text, r)
		}
	}
	if r, err := executor.ParseUIDs(few.String()); err != nil || r != few {
		t.Errorf("%v, %v", r, err)
	}
}

// What is done as a user is done with that user's rights to files, and nothing else is.
func TestAsAnotherUser(t *testing.T) {
	rootOnly(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	made := filepath.Join(workRoot(t).Root, "..", "made")
	if err := os.Chmod(filepath.Dir(made), 0o777); err != nil {
		t.Fatal(err)
	}
	user := executor.Credential{Name: "x", UID: few.First, GID: few.First}
	err := user.As(func() error {
		return errors.Join(os.WriteFile(made, nil, 0o600), func() error { _, err := os.ReadFile(secret); return err }())
	})
	if !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), made) {
		t.Errorf("as another user: %v", err)
	}
	var st unix.Stat_t
	if err := unix.Stat(made, &st); err != nil || st.Uid != few.First || st.Gid != few.First {
		t.Errorf("%s belongs to %d:%d, %v", made, st.Uid, st.Gid, err)
	}
	if _, err := os.ReadFile(secret); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// An executor that puts a handle into its own directories names no process to the next node
// controller, keeps no logs for ever and holds no other's files.
func TestAHandleOfAnExecutorsIsNone(t *testing.T) {
	layout := workRoot(t)
	local := filepath.Join(layout.Root, "apps", "app-1", "local")
	if err := os.MkdirAll(local, 0o755); err != nil {
		t.Fatal(err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	forged := fmt.Sprintf(`{"app":"app-1","id":"local","pid":%d,"started":1,"boot":%q}`, os.Getpid(), strings.TrimSpace(string(boot)))
	if err := os.WriteFile(filepath.Join(local, "handle.json"), []byte(forged), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := executor.NewProcess(executor.ProcessConfig{Layout: layout, Groups: fakeGroups(t, "v2")})
	if err != nil {
		t.Fatal(err)
	}
	if handles, err := r.Recover(); err != nil || len(handles) > 0 {
		t.Errorf("recovered %v, %v", handles, err)
	}
	listing, err := layout.Logs()
	if err != nil || len(listing) != 1 || listing[0].Active {
		t.Errorf("logs %+v, %v", listing, err)
	}
	rootOnly(t)
	dir := filepath.Join(layout.Root, "apps", "app-1", "7")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "handle.json")
	if err := os.WriteFile(file, []byte(strings.Replace(forged, "local", "7", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(file, int(few.First), int(few.First)); err != nil {
		t.Fatal(err)
	}
	if handles, err := r.Recover(); err == nil || len(handles) > 0 {
		t.Errorf("another's file: %v, %v", handles, err)
	}
}
