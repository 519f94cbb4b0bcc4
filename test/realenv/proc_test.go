package realenv

import (
	"os"
	"os/exec"
	"slices"
	"testing"
)

func TestProcessesAreFoundAndTheirTimeIsRead(t *testing.T) {
	child := exec.Command("/bin/sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo; read line; exit 0")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	pid := child.Process.Pid
	if Parent(pid) != os.Getpid() || !slices.Contains(Children(os.Getpid()), pid) {
		t.Errorf("parent of %d: %d; children %v", pid, Parent(pid), Children(os.Getpid()))
	}
	if used := CPU(pid); used <= 0 || used > 60 {
		t.Errorf("it has used %v s", used)
	}
	in.Close()
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if Stat(pid) != nil || Parent(pid) != 0 || CPU(pid) != 0 || slices.Contains(Children(os.Getpid()), pid) {
		t.Error("it is still there after its end")
	}
}
