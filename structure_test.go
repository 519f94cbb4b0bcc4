package pacer_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
)

// structure is what is measured of a package's files, tests left out.
type structure struct {
	files int
	// circle is how many files the largest circle has: files each of which uses, by way
	// of others, what every other one declares. inside is how often files of a circle use
	// each other.
	circle, inside int
	// methods and fields are the most of a type and of a struct, embedded ones of this
	// module included; methodsOf and fieldsOf are which.
	methods, fields     int
	methodsOf, fieldsOf string
	// p90 and longest are lines of files, function those of the longest function.
	p90, longest, function int
}

// limits are for packages that decide or keep what is decided on. Configurations may
// have more fields.
var limits = structure{circle: 3, methods: 45, fields: 25, p90: 300}

// limited are the packages that are held to limits.
var limited = []string{"planner", "ledger", "admission", "queue", "verdict", "estimate", "placement", "schedule", "handover", "recording", "report", "node", "meter", "async"}

func TestStructure(t *testing.T) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "package\tfiles\tlargest circle\tuses in circles\tmethods\tof\tfields\tof\tfile p90\tlongest\tfunction\t")
	measured := map[string]structure{}
	for _, p := range checked(t) {
		m := measure(p)
		measured[p.name] = m
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%s\t%d\t%s\t%d\t%d\t%d\t\n", p.name, m.files, m.circle, m.inside, m.methods, m.methodsOf, m.fields, m.fieldsOf,
			m.p90, m.longest, m.function)
	}
	w.Flush()
	t.Logf("\n%s", &table)
	for _, name := range limited {
		m := measured[name]
		if m.files == 0 {
			t.Errorf("package %s is not there", name)
		}
		for _, c := range []struct {
			what     string
			is, most int
		}{
			{"files in a circle", m.circle, limits.circle},
			{"methods of " + m.methodsOf, m.methods, limits.methods},
			{"fields of " + m.fieldsOf, m.fields, limits.fields},
			{"lines of a file at p90", m.p90, limits.p90},
		} {
			if c.is > c.most {
				t.Errorf("package %s: %d %s, want at most %d", name, c.is, c.what, c.most)
			}
		}
	}
}

// typed is a package of the module with its types.
type typed struct {
	name  string
	files []*ast.File
	set   *token.FileSet
	info  types.Info
	types *types.Package
}

// checked are the module's packages with their types, in order of name. What they
// import is read from the compiler's export data.
func checked(t *testing.T) []typed {
	t.Helper()
	all, err := check()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// check reads the module once for all tests, which change nothing of it.
var check = sync.OnceValues(func() ([]typed, error) {
	c := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles,Module", "./...")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
		Module                  *struct{ Path string }
	}
	export := map[string]string{}
	var ours []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		export[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Path == module && len(p.GoFiles) > 0 {
			ours = append(ours, p)
		}
	}
	set := token.NewFileSet()
	imports := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(export[path]) })
	var all []typed
	for _, p := range ours {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		one := typed{name: name, set: set, info: types.Info{Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}}
		for _, file := range p.GoFiles {
			f, err := parser.ParseFile(set, filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			one.files = append(one.files, f)
		}
		if one.types, err = (&types.Config{Importer: imports}).Check(p.ImportPath, set, one.files, &one.info); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b typed) int { return cmp.Compare(a.name, b.name) })
	return all, nil
})

// measure takes the measures of a package.
func measure(p typed) structure {
	m := structure{files: len(p.files)}
	var lengths []int
	for _, f := range p.files {
		lengths = append(lengths, p.set.File(f.FileStart).LineCount())
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				m.function = max(m.function, p.set.Position(d.End()).Line-p.set.Position(d.Pos()).Line+1)
			}
		}
	}
	slices.Sort(lengths)
	m.longest, m.p90 = lengths[len(lengths)-1], lengths[(len(lengths)*9+9)/10-1]

	uses := p.uses()
	for _, circle := range circles(len(p.files), uses) {
		m.circle = max(m.circle, len(circle))
		for _, from := range circle {
			for _, to := range circle {
				m.inside += uses[from][to]
			}
		}
	}
	for _, name := range p.types.Scope().Names() {
		of, ok := p.types.Scope().Lookup(name).(*types.TypeName)
		if !ok || of.IsAlias() {
			continue
		}
		if n := methods(of.Type()); n > m.methods {
			m.methods, m.methodsOf = n, name
		}
		if n := fields(of.Type(), nil); n > m.fields && !strings.HasSuffix(name, "Config") {
			m.fields, m.fieldsOf = n, name
		}
	}
	return m
}

// uses counts how often each file uses what another one of the package declares: file
// by file, by index.
func (p typed) uses() []map[int]int {
	file := map[*token.File]int{}
	for i, f := range p.files {
		file[p.set.File(f.FileStart)] = i
	}
	uses := make([]map[int]int, len(p.files))
	for i := range uses {
		uses[i] = map[int]int{}
	}
	for at, object := range p.info.Uses {
		if object.Pkg() != p.types {
			continue
		}
		from, to := file[p.set.File(at.Pos())], file[p.set.File(object.Pos())]
		if from != to {
			uses[from][to]++
		}
	}
	return uses
}

// circles are the strongly connected components of a graph that have more than one
// member (R. Tarjan, "Depth-first search and linear graph algorithms", 1972).
func circles(n int, edges []map[int]int) [][]int {
	var (
		out          [][]int
		stack        []int
		index, least = make([]int, n), make([]int, n) // Index 0 is not visited.
		on           = make([]bool, n)
		count        int
		visit        func(v int)
	)
	visit = func(v int) {
		count++
		index[v], least[v], on[v] = count, count, true
		stack = append(stack, v)
		for to := range edges[v] {
			if index[to] == 0 {
				visit(to)
				least[v] = min(least[v], least[to])
			} else if on[to] {
				least[v] = min(least[v], index[to])
			}
		}
		if least[v] < index[v] {
			return
		}
		i := slices.Index(stack, v)
		circle := slices.Clone(stack[i:])
		stack = stack[:i]
		for _, member := range circle {
			on[member] = false
		}
		if len(circle) > 1 {
			out = append(out, circle)
		}
	}
	for v := range n {
		if index[v] == 0 {
			visit(v)
		}
	}
	return out
}

// methods counts those of a type that this module declares, embedded ones included.
func methods(of types.Type) int {
	if !types.IsInterface(of) {
		of = types.NewPointer(of)
	}
	n, set := 0, types.NewMethodSet(of)
	for i := range set.Len() {
		if ours(set.At(i).Obj().Pkg()) {
			n++
		}
	}
	return n
}

// fields counts those of a struct, those of embedded structs of this module included.
func fields(of types.Type, seen []types.Type) int {
	s, ok := of.Underlying().(*types.Struct)
	if !ok || slices.Contains(seen, of) {
		return 0
	}
	n := 0
	for f := range s.Fields() {
		embedded := f.Type()
		if p, ok := embedded.(*types.Pointer); ok {
			embedded = p.Elem()
		}
		inside := 0
		if named, ok := embedded.(*types.Named); ok && f.Embedded() && ours(named.Obj().Pkg()) {
			inside = fields(named, append(seen, of))
		}
		n += max(1, inside)
	}
	return n
}

func ours(p *types.Package) bool {
	return p != nil && (p.Path() == module || strings.HasPrefix(p.Path(), module+"/"))
}

// A View hands out the ledger's own: nobody else changes what it leads to.
func TestOnlyTheLedgerChangesItself(t *testing.T) {
	for _, p := range checked(t) {
		if p.name == "ledger" {
			continue
		}
		change := func(e ast.Expr) {
			if p.reaches(e) {
				t.Errorf("%s: a change of the ledger: record a fact", p.set.Position(e.Pos()))
			}
		}
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for _, e := range n.Lhs {
						change(e)
					}
				case *ast.IncDecStmt:
					change(n.X)
				case *ast.CallExpr:
					if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "delete" || f.Name == "clear" || f.Name == "copy") && len(n.Args) > 0 {
						if _, builtin := p.info.Uses[f].(*types.Builtin); builtin {
							change(&ast.IndexExpr{X: n.Args[0]})
						}
					}
				}
				return true
			})
		}
	}
}

// reaches reports whether a place is reached by way of a pointer to a type of package
// ledger.
func (p typed) reaches(e ast.Expr) bool {
	for {
		var of ast.Expr
		switch x := e.(type) {
		case *ast.SelectorExpr:
			of = x.X
		case *ast.IndexExpr:
			of = x.X
		case *ast.StarExpr:
			of = x.X
		case *ast.ParenExpr:
			of = x.X
		default:
			return false
		}
		if pointer, ok := p.info.TypeOf(of).(*types.Pointer); ok {
			if named, ok := pointer.Elem().(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == module+"/ledger" {
				return true
			}
		}
		e = of
	}
}

// What nobody records the ledger need not know.
func TestEveryFactIsRecorded(t *testing.T) {
	packages := map[string]typed{}
	for _, p := range checked(t) {
		packages[p.name] = p
	}
	recorded := map[string]bool{}
	for _, object := range packages["planner"].info.Uses {
		if object.Pkg() != nil && object.Pkg().Path() == module+"/ledger" {
			recorded[object.Name()] = true
		}
	}
	scope, facts := packages["ledger"].types.Scope(), 0
	fact := scope.Lookup("Fact").Type().Underlying().(*types.Interface)
	for _, name := range scope.Names() {
		of, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || name == "Fact" || !types.Implements(of.Type(), fact) {
			continue
		}
		if facts++; !recorded[name] {
			t.Errorf("ledger.%s: nobody records it", name)
		}
	}
	if facts < 30 {
		t.Errorf("%d facts: the test looks for the wrong thing", facts)
	}
}

func TestCircles(t *testing.T) {
	edge := func(to ...int) map[int]int {
		out := map[int]int{}
		for _, v := range to {
			out[v] = 1
		}
		return out
	}
	// 0 -> 1 -> 2 -> 0 and 2 -> 3 -> 4 -> 3, 5 alone.
	got := circles(6, []map[int]int{edge(1), edge(2), edge(0, 3), edge(4), edge(3), edge()})
	var sizes []int
	for _, c := range got {
		sizes = append(sizes, len(c))
	}
	slices.Sort(sizes)
	if !slices.Equal(sizes, []int{2, 3}) {
		t.Errorf("circles %v, want one of 2 and one of 3", got)
	}
}
