package pacer_test

import (
	"bytes"
	"fmt"
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
	"strconv"
	"strings"
	"testing"
)

// The laws of the house: what a machine can check about how the packages are written and what
// they import. They stand here alone; the linter (.golangci.yml) looks at style.

const module = "github.com/sparkpacer/pacer"

// roof is packages that follow one law.
type roof struct {
	name string
	// packages in the order of their imports: one imports those before it. A name stands for its
	// folder alone; doc.go of each says its duty.
	packages string
	// imports are the roofs whose packages these may import.
	imports string
}

// roofs is the table of the packages, from the ground up.
var roofs = []roof{
	{"vocabulary", "units api spark", ""},
	{"algorithms", "dag profiles supervisor/sharing supervisor controller/physics controller memory node/meter driver planner/access planner/usage " +
		"assign assign/scores sim/mesh/probe memory/forecast memory/shaping", "vocabulary"},
	{"ledger", "ledger ledger/ledgertest", "vocabulary algorithms"},
	{"deciders", "deciders/waiting deciders/session deciders/consolidation deciders/component deciders/lending deciders/devices deciders/estimate deciders/pause deciders/handover deciders/placement deciders/schedule deciders/verdict deciders/versions deciders/heap deciders/recording deciders/fewest deciders/behind " +
		"deciders/reservation deciders/response deciders/admission deciders/queue deciders/report", "vocabulary algorithms ledger"},
	{"engines", "planner node", "vocabulary algorithms ledger deciders"},
	{"infra", "infra/async infra/eventlog infra/bus infra/store infra/bus/bustest infra/cgroup infra/cgroup/cgrouptest infra/progress " +
		"infra/executor infra/executor/conformance infra/executor/docker infra/executor/attached infra/traffic infra/metrics infra/chart infra/trace web/page web web/webtest", "vocabulary"},
	{"worlds", "replay sim/des sim/experiment sim/offers sim/fluid sim/plant sim sim/paper sim/zoe sim/prophet sim/distance sim/knee sim/shaped sim/unknown sim/nextrun sim/whatif sim/attach sim/mesh/gossip sim/mesh/hosts sim/mesh sim/mesh/paper sim/registry sim/simtables", "vocabulary algorithms ledger deciders engines"},
	{"daemon", "daemon", "vocabulary algorithms ledger engines infra worlds"},
	{"command", "cli/fromlog cli/sparkrun cli/demo cli/config cli/doctor cli/command cli", "vocabulary algorithms infra worlds daemon"},
	{"programs", "cmd/planner cmd/nodecontroller cmd/pacer", "command"},
	{"tests", "test/draws test/alerts test/browser test/benchline test/tally test/notice test/pages test/testenv test/web test/sparklog test/realenv test/guides test/torture test/e2e test/e2e/field test/e2e/airflow test/kubernetes test/kubernetes/cluster/dns test/kubernetes/cluster/pause test/e2e/vm " +
		"test/e2e/vm/guest test/e2e/vm/standin test/meshenv test/bench", "vocabulary algorithms ledger deciders engines infra worlds daemon command"},
}

// allowed are imports that the table would not allow, with the reason for each.
var allowed = map[string]string{
	"node -> infra/async":              "a loop hands over what takes long; impure keeps it out of the engine",
	"planner -> infra/async":           "as for node",
	"infra/progress -> node/meter":     "the page that it reads is what the meter measures by",
	"infra/eventlog -> profiles":       "a log has what a stage is signed by, and keeps no more of it than the hash",
	"web -> profiles":                  "what is put is read as the command line reads a file",
	"cli/config -> deciders/estimate":  "the table of the keys has the names that each takes",
	"cli/config -> deciders/placement": "as for estimate",
	"cli/config -> deciders/lending":   "as for estimate",
	"sim -> infra/chart":               "a simulation is drawn",
	"sim/paper -> infra/chart":         "as for sim",
	"sim/fluid -> infra/chart":         "as for sim",
	"sim/zoe -> infra/chart":           "as for sim",
	"sim/mesh/paper -> infra/chart":    "as for sim",
}

// banned are imports that the table alone would allow, with the reason for each.
var banned = map[string]string{
	"controller -> supervisor": "control and arbitration meet in the node engine only, so that each law is tested with every strategy",
	"cli -> infra/store":       "only a daemon has a store",
	"cli -> infra/cgroup":      "only a node controller writes cgroups",
}

// testOnly are packages that only tests import.
var testOnly = map[string]bool{"infra/cgroup/cgrouptest": true, "infra/executor/conformance": true, "infra/bus/bustest": true, "web/webtest": true,
	"ledger/ledgertest": true, "test/draws": true, "test/testenv": true, "test/realenv": true}

// keepers are the only packages that may import a library, so that replacing it
// touches one directory.
var keepers = map[string][]string{
	"github.com/nats-io":            {"infra/bus"},
	"github.com/synadia-io":         {"infra/bus"},
	"github.com/tidwall":            {"infra/store"},
	"github.com/containerd/cgroups": {"infra/cgroup"},
	"github.com/docker":             {"infra/executor/docker"},
	"github.com/containerd/errdefs": {"infra/executor/docker"},
	"github.com/spf13/cobra":        {"cli/command", "cli"},
	"github.com/spf13/viper":        {"cli/config"},
	"github.com/magiconair":         {"cli"},
	"github.com/google/uuid":        {"cli", "cli/demo"},
	"github.com/go-viper":           {"cli/config"},
	"go.yaml.in/yaml":               {"cli/config", "cli"},
	"gonum.org/v1/plot":             {"infra/chart"},
	"github.com/oklog/run":          {"daemon"},
	"github.com/pierrec/lz4":        {"infra/eventlog"},
	"github.com/chromedp":           {"test/browser"},
	"github.com/prometheus":         {"daemon", "infra/metrics"},
	"pgregory.net/rapid":            {},
	"github.com/google/go-cmp":      {},
	"github.com/stretchr/testify":   {},
	"github.com/sirupsen/logrus":    {},
	"go.uber.org/zap":               {},
}

// impure are what no policy and no engine may import: a decision is a function of
// its arguments, so that a replay gives the same bytes.
var impure = []string{"context", "log", "log/slog", "os", "os/exec", "os/signal", "net", "net/http", "syscall", "io/ioutil", "sync", "sync/atomic",
	module + "/infra/async",
	"math/rand", "math/rand/v2", "crypto/rand", "golang.org/x/sys"}

// clocks are what of package time needs a clock.
var clocks = map[string]bool{"Now": true, "Sleep": true, "After": true, "AfterFunc": true, "Tick": true, "NewTimer": true,
	"NewTicker": true, "Since": true, "Until": true}

// roofOf maps each package to its roof's and its own place in the table.
var roofOf = func() map[string]struct{ roof, place int } {
	of := map[string]struct{ roof, place int }{}
	for r := range roofs {
		for place, pkg := range strings.Fields(roofs[r].packages) {
			of[pkg] = struct{ roof, place int }{r, place}
		}
	}
	return of
}()

// under reports whether pkg lies under one of the roofs named.
func under(pkg string, names ...string) bool {
	at, known := roofOf[pkg]
	return known && slices.Contains(names, roofs[at.roof].name)
}

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
	shell := under(s.pkg, "engines") && (path.Base(s.path) == "loop.go" || path.Base(s.path) == "ports.go")
	return under(s.pkg, "vocabulary", "algorithms", "ledger", "deciders", "engines") && !s.test && s.pkg != "spark" && !shell
}

func TestPackagesImportWhatTheirRoofAllows(t *testing.T) {
	for _, s := range sources(t) {
		if s.pkg == "." {
			continue
		}
		from, known := roofOf[s.pkg]
		if !known {
			t.Errorf("%s: package %s is under no roof: give it a place in house_test.go", s.path, s.pkg)
			continue
		}
		roof := roofs[from.roof]
		for _, name := range s.imports() {
			to, ours := strings.CutPrefix(name, module+"/")
			if !ours || s.test || to == s.pkg {
				continue
			}
			edge := s.pkg + " -> " + to
			at, known := roofOf[to]
			switch {
			case banned[edge] != "":
				t.Errorf("%s: %s is banned: %s", s.path, edge, banned[edge])
			case allowed[edge] != "":
			case !known:
				t.Errorf("%s: %s is under no roof", s.path, to)
			case at.roof == from.roof && at.place > from.place:
				t.Errorf("%s: %s: %s comes later under %q", s.path, edge, to, roof.name)
			case at.roof != from.roof && !slices.Contains(strings.Fields(roof.imports), roofs[at.roof].name):
				t.Errorf("%s: %s: %q may import %s", s.path, edge, roof.name, roof.imports)
			}
		}
	}
}

func TestALibraryHasOneKeeper(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.pkg == "." || under(s.pkg, "tests") || testOnly[s.pkg] {
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
	module + "/cli":         "commands are people's",
	module + "/cli/demo":    "as for cli",
	module + "/sim":         "a simulation is a command",
	module + "/infra/chart": "a daemon draws nothing",
	"gonum.org/v1/plot/":    "as for chart",
	"codeberg.org/":         "as for chart: fonts and pages",
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
		if s.test || s.pkg == "test/draws" { // Which sets a flag before it is read.
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
			if s.test || testOnly[s.pkg] || s.pkg == "infra/"+keeper || strings.HasPrefix(s.pkg, "infra/"+keeper+"/") {
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

// Who clones the repository gets all that was ever in it: what is built stays out.
func TestNoLargeFileAndNoProgramIsTracked(t *testing.T) {
	// Git tells nothing of a clone that belongs to another user unless it is told to trust it.
	out, err := exec.Command("git", "-c", "safe.directory=*", "ls-files", "-z").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	names := strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
	if len(names) < 20 {
		t.Fatalf("git tracks %d files only: is this the module's root?", len(names))
	}
	largest := 0
	for _, name := range names {
		body, err := os.ReadFile(name)
		largest = max(largest, len(body))
		switch info, gone := os.Lstat(name); {
		case gone != nil || !info.Mode().IsRegular():
		case err != nil:
			t.Error(err)
		case len(body) > 1<<20:
			t.Errorf("%s has %d bytes, at most 1 MiB may be tracked", name, len(body))
		case bytes.HasPrefix(body, []byte("\x7fELF")):
			t.Errorf("%s is a program: it is built, not tracked", name)
		}
	}
	fmt.Printf("house.largest_file_kib %d\n", (largest+1023)/1024)
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

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
