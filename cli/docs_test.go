package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

func TestTheDocumentedProfileIsOne(t *testing.T) {
	doc, err := os.ReadFile("../docs/profile.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(doc)
	if example == nil {
		t.Fatal("docs/profile.md shows no profile")
	}
	if _, err := api.DecodeProfile(strings.NewReader(string(example[1]))); err != nil {
		t.Error(err)
	}
	for _, of := range []reflect.Type{reflect.TypeFor[api.Profile](), reflect.TypeFor[api.ProfileStage]()} {
		for i := range of.NumField() {
			if name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); !strings.Contains(string(doc), name+"`") {
				t.Errorf("docs/profile.md does not explain %s", name)
			}
		}
	}
}

func TestTheDocumentationNamesEveryExitCode(t *testing.T) {
	doc, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	codes := exitCodes(t)
	if len(codes) < 5 {
		t.Fatalf("exit.go has the exit codes %v only", codes)
	}
	for name, code := range codes {
		row := "\n| " + code + " |"
		if name == "ExitSignal" {
			row = code + " + N when signal N ended it"
		}
		if !strings.Contains(string(doc), row) {
			t.Errorf("docs/configuration.md does not explain %s, exit code %s", name, code)
		}
	}
}

// exitCodes reads the constants Exit... of exit.go, so that a new one is asked for, too.
func exitCodes(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "exit.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, expr := range spec.Values {
			if value, ok := expr.(*ast.BasicLit); ok && strings.HasPrefix(spec.Names[i].Name, "Exit") {
				codes[spec.Names[i].Name] = value.Value
			}
		}
		return true
	})
	return codes
}
