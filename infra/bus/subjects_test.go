package bus

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
)

// The table in doc.go and the functions of subjects.go say the same.
func TestTheDocumentedTableIsWhatTheFunctionsMake(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, m := range regexp.MustCompile(`(?m)^//\t(pacer\.v1\.\S+)\s+(?:request|publish)`).FindAllStringSubmatch(string(doc), -1) {
		documented = append(documented, m[1])
	}
	app := strings.NewReplacer("app-X", "APP").Replace
	publish := []string{registerSubject("LOGIN"), app(eventsSubject("app-X")), app(directiveSubject("app-X")), helloSubject("NODE"), statusSubject("NODE"), fetchSubject("NODE"),
		planSubject("NODE"), logsSubject("NODE"), controlSubject("LOGIN", "VERB"), planQuerySubject("LOGIN")}
	if d := cmp.Diff(publish, documented); d != "" {
		t.Error(d)
	}
	for subject, pattern := range map[string]string{registerSubject("LOGIN"): registerSubscribe(), eventsSubject("app-X"): eventsSubscribe(),
		helloSubject("NODE"): helloSubscribe(), statusSubject("NODE"): statusSubscribe(), fetchSubject("NODE"): fetchSubscribe(), controlSubject("LOGIN", "VERB"): controlSubscribe(),
		planQuerySubject("LOGIN"): planQuerySubscribe()} {
		if wild := strings.NewReplacer("app-X", "*", "NODE", "*", "LOGIN", "*", "VERB", "*").Replace(subject); pattern != wild {
			t.Errorf("%s is subscribed to as %s", subject, pattern)
		}
	}
}

func TestTheDocumentedVerbsAreTheKnownOnes(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VERB is one of ([^.]+)\.`).FindStringSubmatch(string(doc))
	if m == nil {
		t.Fatal("doc.go has no list of verbs")
	}
	var known []string
	for _, v := range api.Verbs() {
		known = append(known, string(v))
	}
	documented := strings.FieldsFunc(strings.ReplaceAll(m[1], "//", ""), func(r rune) bool { return strings.ContainsRune(", \n", r) })
	if d := cmp.Diff(known, documented); d != "" {
		t.Error(d)
	}
}

func TestOnlySubjectsFileSpellsSubjects(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.IsDir() || strings.HasSuffix(f.Name(), "_test.go") || f.Name() == "subjects.go" || f.Name() == "doc.go" {
			continue
		}
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `pacer.v1`) {
			t.Errorf("%s spells a subject", f.Name())
		}
	}
}

func TestTokenAndItsValidity(t *testing.T) {
	for subject, want := range map[string]string{eventsSubject("app-1"): "app-1", helloSubject("n1"): "node-n1", controlSubject("user-ann", "apps"): "user-ann",
		registerSubject("app-1"): "app-1", "short": "", prefix: ""} {
		if got := from(subject); got != want {
			t.Errorf("%s is from %q, want %q", subject, got, want)
		}
	}
	for _, s := range []string{"", "a.b", "*", ">", "a b"} {
		if validToken(s) {
			t.Errorf("%q was taken as a token", s)
		}
	}
}

func TestReconnectDelayStaysBetween75msAnd1s(t *testing.T) {
	for attempt := range 100 {
		if d := reconnectDelay(attempt); d < 75e6 || d > 1e9+1 {
			t.Fatalf("attempt %d waits %v", attempt, d)
		}
	}
}
