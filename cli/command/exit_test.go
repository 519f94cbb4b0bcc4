package command

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

func TestTheDocumentationNamesEveryExitCode(t *testing.T) {
	doc, err := os.ReadFile("../../docs/configuration.md")
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
