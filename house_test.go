package pacer_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// The laws of the house (.golangci.yml says the same where it can): what a machine can check
// about how the packages are written and what they import.

const module = "github.com/sparkpacer/pacer"

// levels is the table of the packages: a package imports lower levels only.
var levels = map[string]int{
	"units": 0, "spark": 0, "async": 0, "physics": 0,
	"api": 1, "sharing": 1,
	"dag": 2, "profiles": 2, "controller": 2, "supervisor": 2, "memory": 2, "driver": 2, "access": 2,
	"meter": 3, "ledger": 3,
	"estimate": 4, "handover": 4,
	"placement": 5, "schedule": 5,
	"verdict":   6,
	"recording": 7, "admission": 7, "queue": 7,
	"report":  8,
	"planner": 9, "node": 9,
	"bus": 10, "store": 10, "cgroup": 10, "executor": 10, "progress": 10, "metrics": 10, "replay": 10, "chart": 10, "sim/des": 10, "sim/plant": 10,
	"sim": 11, "sim/paper": 12,
	"cgroup/cgrouptest": 11, "executor/conformance": 11, "executor/docker": 11, "bus/bustest": 11, "ledger/ledgertest": 11,
	"daemon": 12, "demo": 12,
	"config":      13,
	"command":     14,
	"cli":         15,
	"cmd/planner": 16, "cmd/nodecontroller": 16, "cmd/pacer": 16,
	"internal/benchline": 0, "internal/tally": 0, "internal/notice": 0, "internal/sparkrun": 11, "internal/simtables": 13,
	"internal/testenv": 17, "internal/realenv": 17, "torture": 17, "e2e": 17, "e2e/field": 17, "e2e/vm": 17, "e2e/vm/guest": 17, "bench": 18,
}

// engines is the level of the engines: what is below decides nothing by a clock.
const engines = 9

// outside is the level from which packages run Pacer: no program imports them.
const outside = 17

// testOnly are packages that only tests import.
var testOnly = map[string]bool{"cgroup/cgrouptest": true, "executor/conformance": true, "bus/bustest": true, "ledger/ledgertest": true, "internal/testenv": true, "internal/realenv": true}

// allowed are the imports inside a level, with the reason for each.
var allowed = map[string]string{
	"executor -> cgroup":   "an executor is started inside its group: the process runtime and the group's files are one step",
	"sim/plant -> sim/des": "a plant lives on that clock",
	"executor -> progress": "the empty page is made before the JVM starts and belongs to its user",
}

// banned are imports that levels alone would allow, with the reason for each.
var banned = map[string]string{
	"controller -> supervisor": "control and arbitration meet in the node engine only, so that each law is tested with every strategy",
	"supervisor -> controller": "as above, the other way round",
	"cli -> planner":           "commands ask over the bus; the engine is wired by daemon",
	"cli -> node":              "as for planner",
	"cli -> store":             "only a daemon has a store",
	"cli -> cgroup":            "only a node controller writes cgroups",
	"command -> planner":       "as for cli",
	"command -> node":          "as for cli",
	"command -> store":         "as for cli",
	"command -> cgroup":        "as for cli",
	"config -> planner":        "as for cli",
	"config -> node":           "as for cli",
	"config -> store":          "as for cli",
	"config -> cgroup":         "as for cli",
	"demo -> planner":          "the demonstration uses what a user has",
	"demo -> node":             "as for planner",
	"sim -> bus":               "the simulated network carries api values",
	"sim -> store":             "what engines save stays in memory",
	"sim -> cgroup":            "quotas are numbers there",
	"sim -> executor":          "executors are simulated",
	"sim/paper -> bus":         "as for sim",
	"sim/paper -> store":       "as for sim",
	"sim/paper -> cgroup":      "as for sim",
	"sim/paper -> executor":    "as for sim",
}

// keepers are the only packages that may import a library, so that replacing it
// touches one directory.
var keepers = map[string][]string{
	"github.com/nats-io":            {"bus"},
	"github.com/synadia-io":         {"bus"},
	"github.com/tidwall":            {"store"},
	"github.com/containerd/cgroups": {"cgroup"},
	"github.com/docker":             {"executor/docker"},
	"github.com/containerd/errdefs": {"executor/docker"},
	"github.com/spf13/cobra":        {"command", "cli"},
	"github.com/spf13/viper":        {"config"},
	"github.com/magiconair":         {"cli"},
	"github.com/google/uuid":        {"cli", "demo"},
	"github.com/go-viper":           {"config"},
	"go.yaml.in/yaml":               {"config"},
	"gonum.org/v1/plot":             {"chart"},
	"github.com/oklog/run":          {"daemon"},
	"github.com/prometheus":         {"daemon", "metrics"},
	"pgregory.net/rapid":            {},
	"github.com/google/go-cmp":      {},
	"github.com/stretchr/testify":   {},
	"github.com/sirupsen/logrus":    {},
	"go.uber.org/zap":               {},
}

// impure are what no policy and no engine may import: a decision is a function of
// its arguments, so that a replay gives the same bytes.
var impure = []string{"context", "log", "log/slog", "os", "os/exec", "os/signal", "net", "net/http", "syscall", "io/ioutil", "sync", "sync/atomic",
	module + "/async",
	"math/rand", "math/rand/v2", "crypto/rand", "golang.org/x/sys"}

// clocks are what of package time needs a clock.
var clocks = map[string]bool{"Now": true, "Sleep": true, "After": true, "AfterFunc": true, "Tick": true, "NewTimer": true,
	"NewTicker": true, "Since": true, "Until": true}

// source is one Go file of the module.
type source struct {
	path, pkg string // relative to the module; pkg is its directory
	test      bool
	file      *ast.File
	set       *token.FileSet
	lines     int
}

// sources parses every Go file of the module.
func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	walk(t, func(name string, body []byte) {
		if path.Ext(name) != ".go" {
			return
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, body, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, source{path: name, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), file: file, set: set,
			lines: bytes.Count(body, []byte("\n"))})
	})
	if len(out) < 20 {
		t.Fatalf("found %d Go files only: is this the module's root?", len(out))
	}
	return out
}

// walk visits the files of the repository, build outputs left out.
func walk(t *testing.T, visit func(name string, body []byte)) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case ".git", "out", "bin", "target", "testdata":
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || path.Ext(name) == ".jar" {
			return nil
		}
		body, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(name), body)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// imports are what a file imports.
func (s source) imports() []string {
	var out []string
	for _, i := range s.file.Imports {
		name, _ := strconv.Unquote(i.Path.Value)
		out = append(out, name)
	}
	return out
}

// pure reports whether the file belongs to a policy or to an engine, whose loop.go
// and ports.go (the interfaces that the loop calls) are its shell.
func (s source) pure() bool {
	level, ok := levels[s.pkg]
	shell := level == engines && (path.Base(s.path) == "loop.go" || path.Base(s.path) == "ports.go")
	return ok && !s.test && !strings.HasPrefix(s.pkg, "internal/") && s.pkg != "spark" && s.pkg != "async" && level <= engines && !shell
}

func TestPackagesImportLowerLevelsOnly(t *testing.T) {
	for _, s := range sources(t) {
		if s.pkg == "." {
			continue
		}
		from, known := levels[s.pkg]
		if !known {
			t.Errorf("%s: package %s has no level: give it one in house_test.go, and a rule in .golangci.yml", s.path, s.pkg)
			continue
		}
		for _, name := range s.imports() {
			to, ours := strings.CutPrefix(name, module+"/")
			if !ours || s.test || to == s.pkg {
				continue
			}
			edge := s.pkg + " -> " + to
			level, known := levels[to]
			switch {
			case banned[edge] != "":
				t.Errorf("%s: %s is banned: %s", s.path, edge, banned[edge])
			case allowed[edge] != "":
			case !known:
				t.Errorf("%s: %s has no level", s.path, to)
			case level >= from:
				t.Errorf("%s: %s: level %d imports level %d", s.path, edge, from, level)
			}
		}
	}
}

func TestALibraryHasOneKeeper(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.pkg == "." || levels[s.pkg] >= outside || testOnly[s.pkg] {
			continue
		}
		for _, name := range s.imports() {
			for library, keepers := range keepers {
				if (name == library || strings.HasPrefix(name, library+"/")) && !contains(keepers, s.pkg) {
					t.Errorf("%s imports %s, which belongs to %v", s.path, name, keepers)
				}
			}
		}
	}
}

// unlinked are parts of pacer that no daemon contains, with the reason for each.
var unlinked = map[string]string{
	module + "/cli":   "commands are people's",
	module + "/demo":  "as for cli",
	module + "/sim":   "a simulation is a command",
	module + "/chart": "a daemon draws nothing",
	"gonum.org/":      "as for chart",
	"codeberg.org/":   "as for chart: fonts and pages",
}

func TestDaemonsLinkNeitherCommandsNorCharts(t *testing.T) {
	for _, program := range []string{"pacer", "planner", "nodecontroller"} {
		out, err := exec.Command("go", "list", "-deps", "./cmd/"+program).Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		linked := strings.Fields(string(out))
		for part, reason := range unlinked {
			at := slices.IndexFunc(linked, func(p string) bool { return p == part || strings.HasSuffix(part, "/") && strings.HasPrefix(p, part) })
			switch {
			case program == "pacer" && at < 0:
				t.Errorf("pacer does not contain %s: the test looks for the wrong thing", part)
			case program != "pacer" && at >= 0:
				t.Errorf("%s contains %s: %s", program, linked[at], reason)
			}
		}
	}
}

func TestPoliciesAndEnginesAreFunctionsOfTheirArguments(t *testing.T) {
	for _, s := range sources(t) {
		if !s.pure() {
			continue
		}
		for _, name := range s.imports() {
			if contains(impure, name) || strings.HasPrefix(name, "golang.org/x/sys") {
				t.Errorf("%s imports %s: only loop.go of an engine may", s.path, name)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: a go statement outside loop.go", s.set.Position(n.Pos()))
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && clocks[n.Sel.Name] {
					t.Errorf("%s: time.%s outside loop.go: time is an argument", s.set.Position(n.Pos()), n.Sel.Name)
				}
			}
			return true
		})
	}
}

func TestNobodyUsesInitOrTheGlobalLogger(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: init registers behind the reader's back: use a table", s.set.Position(f.Pos()))
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				x, isName := sel.X.(*ast.Ident)
				if isName && x.Name == "slog" && contains([]string{"Default", "SetDefault", "Debug", "Info", "Warn", "Error"}, sel.Sel.Name) {
					t.Errorf("%s: slog.%s is the global logger: take one as an argument", s.set.Position(n.Pos()), sel.Sel.Name)
				}
			}
			return true
		})
	}
}

func TestOnlyCgroupKnowsQuotaFilesAndOnlyBusKnowsSubjects(t *testing.T) {
	for text, keeper := range map[string]string{"cpu.cfs_quota_us": "cgroup", "cpu.max": "cgroup", "pacer.v1.": "bus"} {
		for _, s := range sources(t) {
			if s.test || testOnly[s.pkg] || s.pkg == keeper || strings.HasPrefix(s.pkg, keeper+"/") {
				continue
			}
			ast.Inspect(s.file, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && strings.Contains(l.Value, text) {
					t.Errorf("%s spells %q, which only %s may", s.set.Position(l.Pos()), text, keeper)
				}
				return true
			})
		}
	}
}

func TestEveryPackageSaysWhatItIsForInDocGo(t *testing.T) {
	documented, files := map[string]bool{}, map[string]int{}
	all := sources(t)
	for _, s := range all {
		if !s.test {
			files[s.pkg]++
		}
	}
	for _, s := range all {
		if s.test || s.pkg == "." {
			continue
		}
		if _, seen := documented[s.pkg]; !seen {
			documented[s.pkg] = false
		}
		// A package of one file may say it there.
		inDoc := path.Base(s.path) == "doc.go" || files[s.pkg] == 1
		if inDoc && s.file.Doc != nil && len(s.file.Doc.Text()) > 80 {
			documented[s.pkg] = true
		}
	}
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("%s has no doc.go with a package comment", pkg)
		}
	}
}

func TestExportedNamesHaveComments(t *testing.T) {
	all := sources(t)
	promised := map[string]bool{}
	for _, s := range all {
		for _, d := range s.file.Decls {
			for _, method := range interfaceMethods(d) {
				promised[s.pkg+"."+method] = true
			}
		}
	}
	for _, s := range all {
		if s.test || s.file.Name.Name == "main" {
			continue
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && (wellKnown[f.Name.Name] || promised[s.pkg+"."+f.Name.Name]) {
				continue
			}
			for _, name := range uncommented(d) {
				t.Errorf("%s: %s is exported and has no comment", s.set.Position(d.Pos()), name)
			}
		}
	}
}

// wellKnown are methods whose meaning the standard library fixes.
var wellKnown = map[string]bool{"String": true, "Error": true, "Unwrap": true, "Len": true, "Less": true, "Swap": true,
	"MarshalJSON": true, "UnmarshalJSON": true, "Close": true}

// interfaceMethods are the methods that a declaration's interfaces document.
func interfaceMethods(d ast.Decl) []string {
	var out []string
	g, ok := d.(*ast.GenDecl)
	if !ok {
		return nil
	}
	for _, spec := range g.Specs {
		t, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		i, ok := t.Type.(*ast.InterfaceType)
		if !ok {
			continue
		}
		for _, m := range i.Methods.List {
			for _, n := range m.Names {
				out = append(out, n.Name)
			}
		}
	}
	return out
}

// uncommented returns the exported names of a declaration that have no comment.
// A group's comment counts for its constants and variables, not for types.
func uncommented(d ast.Decl) []string {
	var out []string
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || ast.IsExported(receiver(d))) {
			out = append(out, d.Name.Name)
		}
	case *ast.GenDecl:
		shared := "" // A comment may speak of the constants that follow it too.
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() && spec.Doc == nil && (d.Doc == nil || len(d.Specs) > 1) {
					out = append(out, spec.Name.Name)
				}
			case *ast.ValueSpec:
				shared += spec.Doc.Text()
				for _, n := range spec.Names {
					if n.IsExported() && spec.Doc == nil && spec.Comment == nil && d.Doc == nil && !strings.Contains(shared, n.Name) {
						out = append(out, n.Name)
					}
				}
			}
		}
	}
	return out
}

func receiver(f *ast.FuncDecl) string {
	e := f.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

func TestNoFileIsLongerThan600Lines(t *testing.T) {
	walk(t, func(name string, body []byte) {
		switch path.Ext(name) {
		case ".go", ".scala", ".java", ".py", ".sh":
			if n := bytes.Count(body, []byte("\n")); n > 600 {
				t.Errorf("%s has %d lines", name, n)
			}
		}
	})
}

func TestNothingIsLeftToDo(t *testing.T) {
	// The words are put together so that this file does not hold them.
	marks := regexp.MustCompile(`\b(` + strings.Join([]string{"TO" + "DO", "FIX" + "ME", "X" + "XX"}, "|") + `)\b`)
	walk(t, func(name string, body []byte) {
		switch path.Ext(name) {
		case ".go", ".scala", ".py", ".sh", ".md", ".yml", ".xml":
			for i, line := range bytes.Split(body, []byte("\n")) {
				if marks.Match(line) {
					t.Errorf("%s:%d: %s", name, i+1, bytes.TrimSpace(line))
				}
			}
		}
	})
}

func TestGoModReplacesNothing(t *testing.T) {
	body, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(body), "\n") {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "replace" || word == "exclude" || word == "retract" {
			t.Errorf("go.mod:%d: %s", i+1, line)
		}
	}
	if !strings.HasPrefix(string(body), "module "+module+"\n") {
		t.Error("go.mod is not that of " + module)
	}
}

func TestTheLintRulesKnowEveryLevel(t *testing.T) {
	body, err := os.ReadFile(".golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	var missing []string
	for pkg, level := range levels {
		if level >= 2 && level <= 10 && !bytes.Contains(body, []byte("**/"+pkg+"/*.go")) {
			missing = append(missing, pkg)
		}
	}
	sort.Strings(missing)
	if len(missing) > 0 {
		t.Errorf(".golangci.yml has no depguard rule for %v", missing)
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
