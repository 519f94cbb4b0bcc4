package daemon

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// distant is a connection from an address.
type distant struct {
	net.Conn
	from string
	gone *int
}

func (d distant) RemoteAddr() net.Addr { a, _ := net.ResolveTCPAddr("tcp", d.from+":1"); return a }
func (d distant) Close() error         { *d.gone++; return nil }

// Whoever shows no credential keeps nobody else's connection out, nor those that have shown one.
func TestAttackConnectionsWithoutEnd(t *testing.T) {
	gone := 0
	c := newCallers(nil)
	comes := func(from string) *caller { return c.enter(distant{from: from, gone: &gone}) }
	known := comes("10.0.0.1")
	known.known()
	for range 10_000 {
		if comes("10.0.0.1") == nil {
			t.Fatal("a stranger's newest connection is refused")
		}
	}
	if n := len(c.strangers["10.0.0.1"]); n != mostStrangers || gone != 10_000-mostStrangers || c.open != mostStrangers+1 {
		t.Errorf("%d of a stranger's are open, %d have gone, %d in all", n, gone, c.open)
	}
	if comes("10.0.0.2") == nil {
		t.Error("another address is kept out")
	}
	for i := range 10_000 {
		comes(fmt.Sprintf("10.1.%d.%d", i/250, 1+i%250))
	}
	if c.open != mostCallers {
		t.Errorf("%d are open in all", c.open)
	}
	_ = known.Close()
	_ = known.Close()
	if comes("10.0.0.3") == nil || comes("10.0.0.4") != nil {
		t.Error("one that ends makes room for more or less than one")
	}
}

// Requests that are refused leave a bounded number of lines of each login, which say how many there are not; what others
// change is all there.
func TestAttackRefusalsWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		a, err := openAudit(dir, func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		viv, ann := api.Principal{Kind: api.PrincipalUser, Name: "viv"}, api.Principal{Kind: api.PrincipalUser, Name: "ann"}
		for i := range 5000 {
			a.asked(viv, auditLine{Verb: "kill", What: fmt.Sprint("app-", i)}, api.Errorf(api.KindDenied, "no"))
			if i%100 == 0 {
				a.asked(ann, auditLine{Verb: "kill", What: "hers"}, nil)
			}
		}
		a.asked(ann, auditLine{Verb: "kill", What: "his"}, api.Errorf(api.KindDenied, "no"))
		if err := a.close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "audit.log"))
		if err != nil {
			t.Fatal(err)
		}
		for what, want := range map[string]int{`"who":"user-viv"`: 20, `"what":"hers"`: 50, `"what":"his"`: 1} {
			if n := strings.Count(string(text), what); n != want {
				t.Errorf("%d lines with %s, want %d", n, what, want)
			}
		}
	})
}

// Registrations by tickets that are refused leave a bounded number of lines, however many tickets there are; those that
// change nothing leave none.
func TestAttackRegistrationsByTickets(t *testing.T) {
	for name, tickets := range map[string]int{"by one": 1, "by 500": 500} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				a, err := openAudit(dir, func(err error) { t.Error(err) })
				if err != nil {
					t.Fatal(err)
				}
				o := newOffice(t, time.Now())
				x := &term{access: &plannerAccess{principals: o.principals, audit: a}}
				for i := range 5000 {
					by := api.Principal{Kind: api.PrincipalTicket, Name: fmt.Sprint("s-", i%tickets)}
					x.register(by, api.RegisterRequest{Submission: "other", Name: "wc"}, func(r api.RegisterReply) {
						if r.Error == nil || r.Error.Kind != api.KindDenied {
							t.Errorf("it registers: %v", r.Error)
						}
					})
					a.asked(api.Principal{Kind: api.PrincipalUser, Name: "ann", Ticket: true},
						auditLine{Who: by.Login(), Verb: "register"}, api.Errorf(api.KindConflict, "no"))
				}
				if err := a.close(); err != nil {
					t.Fatal(err)
				}
				text, err := os.ReadFile(filepath.Join(dir, "audit.log"))
				if n := strings.Count(string(text), "\n"); err != nil || n != 20 || len(a.refusals.kinds) != 1 {
					t.Errorf("%d lines of %d kinds, %v", n, len(a.refusals.kinds), err)
				}
			})
		})
	}
}
