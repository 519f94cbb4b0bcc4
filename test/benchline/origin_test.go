package benchline_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sparkpacer/pacer/test/benchline"
)

func TestSourcesAreWhatTheProductIsMadeOf(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sum := func() string {
		t.Helper()
		hash, err := benchline.Sources(root)
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	write("go.mod", "module m")
	write("planner/engine.go", "package planner")
	write("spark/src/main/scala/A.scala", "object A")
	first := sum()
	for _, name := range []string{"planner/engine_test.go", "docs/x.md", "docs/figures.jsonl", "test/bench/main.go", "spark/src/test/scala/T.scala", "out/a.go", "test/e2e/a.go",
		"spark/target/B.scala", "README.md"} {
		write(name, "package other")
		if sum() != first {
			t.Errorf("%s is no source of the product", name)
		}
	}
	for _, name := range []string{"node/tick.go", "spark/src/main/scala/B.scala", "spark/pom.xml", "go.sum", "planner/engine.go"} {
		before := sum()
		write(name, "package changed")
		if sum() == before {
			t.Errorf("%s is a source of the product", name)
		}
	}
}
