package pacer_test

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// draws is the package that fixes the seed of properties.
const draws = module + "/test/draws"

// seeded are what of math/rand and math/rand/v2 draws nothing, or from a seed that it is given.
var seeded = []string{"New", "NewSource", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "Source64", "PCG", "ChaCha8", "Zipf"}

// random are files of tests and worlds that make test never draws by, with the reason for each.
var random = map[string]string{
	"test/torture/torture_test.go": "make torture draws its faults and prints the seed",
	"test/bench/options.go":        "a bench draws its seed and prints it",
	"test/bench/failover.go":       "names a node's run",
	"test/testenv/driver.go":       "makes a secret",
}

// Every draw of make check and make test has a fixed seed: a package with properties imports
// test/draws, and what else tests and worlds draw comes from a source whose seed stands there.
func TestEveryDrawHasAFixedSeed(t *testing.T) {
	properties, fixed := map[string]bool{}, map[string]bool{}
	unfixed := 0
	for _, s := range sources(t) {
		if !s.test && !under(s.pkg, "worlds", "tests") {
			continue
		}
		properties[s.pkg] = properties[s.pkg] || slices.Contains(s.imports(), "pgregory.net/rapid")
		fixed[s.pkg] = fixed[s.pkg] || s.pkg == "test/draws" || slices.Contains(s.imports(), draws)
		for _, found := range s.unfixed() {
			if random[s.path] == "" {
				t.Errorf("%s: its seed is another one in each run", found)
				unfixed++
			}
		}
	}
	for pkg := range properties {
		if properties[pkg] && !fixed[pkg] {
			t.Errorf("%s has properties: a test of it imports _ %q, so that each run draws the same", pkg, draws)
			unfixed++
		}
	}
	fmt.Printf("draws.unfixed %d\n", unfixed)
}

// unfixed are the places where a file draws from what differs in each run: the functions of math/rand
// without a source, seeds of the clock, and the packages that draw from the system.
func (s source) unfixed() (out []string) {
	names := map[string]bool{} // Of math/rand in this file.
	for _, i := range s.file.Imports {
		switch name := strings.Trim(i.Path.Value, `"`); name {
		case "math/rand", "math/rand/v2":
			names["rand"] = i.Name == nil
			if i.Name != nil {
				names[i.Name.Name] = true
			}
		case "crypto/rand", "hash/maphash", "testing/quick":
			out = append(out, s.set.Position(i.Pos()).String()+": "+path.Base(name))
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		at := s.set.Position(sel.Pos()).String() + ": "
		if x, ok := sel.X.(*ast.Ident); ok && names[x.Name] && !slices.Contains(seeded, sel.Sel.Name) {
			out = append(out, at+"rand."+sel.Sel.Name)
		}
		if call, ok := sel.X.(*ast.CallExpr); ok && strings.HasPrefix(sel.Sel.Name, "Unix") {
			if now, ok := call.Fun.(*ast.SelectorExpr); ok && now.Sel.Name == "Now" {
				if x, ok := now.X.(*ast.Ident); ok && x.Name == "time" {
					out = append(out, at+"time.Now")
				}
			}
		}
		return true
	})
	return out
}
