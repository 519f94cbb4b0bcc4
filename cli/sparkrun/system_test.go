package sparkrun

import (
	"slices"
	"strings"
	"testing"
)

func TestCommandsOfASystem(t *testing.T) {
	s := System{Pacer: "/bin/pacer", Dir: "/d", Address: "h:1", Node: "n", Inside: []string{"enter", "net"}, Behind: []string{"count"}, Env: []string{"A=b"}}
	up, err1 := s.Up("--cores", "2")
	daemon, err2 := s.Daemon("planner", "p", "--listen", "h:1")
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for _, c := range []struct {
		command Command
		want    string
	}{
		{up, "count enter net /bin/pacer up --listen h:1 --node-name n --planner-http PORT --node-http PORT --state-dir /d/state --cores 2"},
		{daemon, "count enter net /bin/planner --http PORT --state-dir /d/p --listen h:1"},
		{s.Submit("app.py"), "count enter net /bin/pacer submit --pacer-planner h:1 app.py"},
		{s.Ask("apps"), "enter net /bin/pacer --planner h:1 apps"},
		{System{Pacer: "pacer", Address: "h:1"}.Ask(), "pacer --planner h:1"},
	} {
		line := append([]string{c.command.Path}, c.command.Args...)
		for i, word := range line {
			if strings.HasPrefix(word, "127.0.0.1:") {
				line[i] = "PORT"
			}
		}
		if got := strings.Join(line, " "); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if want := []string{"A=b", "PACER_CREDENTIALS_DIR=/d/credentials"}; !slices.Equal(up.Env, want) || !slices.Equal(s.Ask().Env, want) {
		t.Errorf("environment %q", up.Env)
	}
}

func TestFreePortsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 50 {
		address, err := FreePort()
		if err != nil || seen[address] {
			t.Fatalf("%s, %v: given before: %t", address, err, seen[address])
		}
		seen[address] = true
	}
}
