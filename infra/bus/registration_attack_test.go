package bus_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
)

// A registration or a batch that is beyond its bounds never waits for the planner.
func TestAttackAMessageThatWaitsUnread(t *testing.T) {
	var many bytes.Buffer
	for i := range 90_000 {
		_, _ = fmt.Fprintf(&many, `,"%x":""`, i)
	}
	env := func(members string) string {
		return `{"v":1,"submission":"s","name":"n","launch":{"driver_url":"spark://x","heap_bytes":1073741824,"env":{` + members + `}}}`
	}
	batch := func(signature string) string {
		return `{"v":1,"app_id":"app-1","submission":"s","events":[{"seq":1,"at_s":1,"type":"stage_ready","stage":{"stage":1,"name":"x","signature":"` +
			signature + `","tasks":1,"bindings":[]}}]}`
	}
	w := planner(t, func(t *testing.T, cfg bus.ServerConfig) server { return start(t, cfg) }, bus.ServerConfig{})
	mallory, evil := w.keyring.Lend(asUser("mallory", api.RoleSubmit)), w.keyring.Lend(asApp("app-1"))
	for name, c := range map[string]struct {
		by         bus.Credential
		subject    string
		body, want string
	}{
		"90,000 variables":    {mallory, "pacer.v1.register.user-mallory", env(many.String()[1:]), "objects of more than"},
		"a large environment": {mallory, "pacer.v1.register.user-mallory", env(`"A":"` + strings.Repeat("x", api.MostLaunch+1) + `"`), "the launch's Java options"},
		"a large signature":   {evil, "pacer.v1.app.app-1.events", batch(strings.Repeat("x", 1<<20)), "signature"},
		"nothing wrong":       {mallory, "pacer.v1.register.user-mallory", env(`"A":"b"`), `"app_id":"app-n"`},
		"nothing wrong there": {evil, "pacer.v1.app.app-1.events", batch("x"), `"acked_seq":1`},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := raw(t, w.server, c.by).Request(c.subject, []byte(c.body), time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(m.Data), c.want) {
				t.Errorf("%.300s, want %q", m.Data, c.want)
			}
		})
	}
}
