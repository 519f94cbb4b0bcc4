package replay_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/replay"
)

// FuzzHistory: whatever a history says, it is refused with the line, or the engines give
// what it has recorded.
func FuzzHistory(f *testing.F) {
	lines := strings.SplitAfter(string(recordHistory(f)), "\n")[:40]
	f.Add([]byte(strings.Join(lines, "") + fmt.Sprintf("{\"at\":0,\"end\":%d}\n", len(lines))))
	f.Add([]byte("{\"pacer_history\":2}\n{\"at\":0,\"end\":1}\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := replay.Run(bytes.NewReader(body), ""); err != nil && !strings.Contains(err.Error(), "line ") {
			t.Errorf("the error does not say where: %v", err)
		}
	})
}
