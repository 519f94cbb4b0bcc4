package ledger

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
)

// Whatever names are, the keys of all records have as many bytes as every store takes, no control
// characters, and the name in a part of its own.
func TestEveryKeyFitsEveryStore(t *testing.T) {
	last := api.StageKey{Stage: api.MostCount, Attempt: api.MostCount}
	of := func(key func(api.AppID) string) func(string) string {
		return func(name string) string { return key(api.AppID(name)) }
	}
	keys := map[string]func(name string) string{
		"appKey": of(appKey), "planKey": planKey, "profileKey": func(name string) string { return profileKey(profileID{name, "u" + name}) }, "historyKey": of(historyKey), "queueKey": queueKey,
		"ownProfile": of(ownProfile), "stagePrefix": of(stagePrefix), "marksKey": of(marksKey), "usageKey": of(usageKey), "foldedKey": of(foldedKey),
		"countersPrefix": of(countersPrefix), "samplesPrefix": of(samplesPrefix),
		"stageKey":    of(func(id api.AppID) string { return stageKey(id, last) }),
		"countersKey": of(func(id api.AppID) string { return countersKey(id, last) }),
		"pieceKey":    of(func(id api.AppID) string { return pieceKey(id, last, api.MostCount) }),
	}
	file, err := parser.ParseFile(token.NewFileSet(), "layout.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"Prefixes", "part", "keyText", "ofLayout", "otherLayout"}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && !slices.Contains(known, f.Name.Name) {
			known = append(known, f.Name.Name)
		}
	}
	slices.Sort(known)
	names := append(slices.Collect(maps.Keys(keys)), "Prefixes", "part", "keyText", "ofLayout", "otherLayout")
	if slices.Sort(names); !cmp.Equal(known, names) {
		t.Fatalf("keys %v, of which %v are tried", known, names)
	}
	for _, name := range []string{"", "*", ">", ".", "..", "/", "../x", "a/marks", "user-x", "node-x", "a\x00b", "a\nb", "\x7f", "\xff", "%2F",
		strings.Repeat("n", api.MostName), strings.Repeat("ä", api.MostName/2), strings.Repeat("/", api.MostName), strings.Repeat("\x00", api.MostName)} {
		for kind, key := range keys {
			got := key(name)
			const aside = asidePrefix
			if most := api.MostKey - len(aside); len(got) > most {
				t.Errorf("%s of %d bytes has %d, at most %d are taken", kind, len(name), len(got), most)
			}
			if strings.ContainsFunc(got, func(r rune) bool { return r <= ' ' || r >= 0x7f }) || strings.Count(got, "/") != strings.Count(key("x"), "/") {
				t.Errorf("%s of %q is %q", kind, name, got)
			}
			if back, err := url.PathUnescape(strings.Split(got, "/")[1]); err != nil || back != name {
				t.Errorf("%s of %q is that of %q", kind, name, back)
			}
		}
	}
}
