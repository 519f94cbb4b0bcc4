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
)

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
			f, err := parser.ParseFile(set, filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution|parser.ParseComments)
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
	for name, s := range p.sizes() {
		if s.methods > m.methods {
			m.methods, m.methodsOf = s.methods, name
		}
		if s.fields > m.fields {
			m.fields, m.fieldsOf = s.fields, name
		}
	}
	return m
}

// size is what is counted of a type: its methods with the functions of its package that take it first,
// and its fields.
type size struct{ methods, fields int }

// sizes are those of the types that a package declares, by name. Generated files are left out.
func (p typed) sizes() map[string]size {
	generated := map[*token.File]bool{}
	for _, f := range p.files {
		generated[p.set.File(f.FileStart)] = ast.IsGenerated(f)
	}
	all := map[string]size{}
	for _, name := range p.types.Scope().Names() {
		of, ok := p.types.Scope().Lookup(name).(*types.TypeName)
		if ok && !of.IsAlias() && !generated[p.set.File(of.Pos())] {
			all[name] = size{methods(of.Type()), fields(of.Type(), nil)}
		}
	}
	for _, name := range p.types.Scope().Names() {
		f, ok := p.types.Scope().Lookup(name).(*types.Func)
		if !ok || f.Signature().Params().Len() == 0 {
			continue
		}
		first := f.Signature().Params().At(0).Type()
		if pointer, ok := first.(*types.Pointer); ok {
			first = pointer.Elem()
		}
		if named, ok := first.(*types.Named); ok && named.Obj().Pkg() == p.types {
			if s, counts := all[named.Obj().Name()]; counts {
				s.methods++
				all[named.Obj().Name()] = s
			}
		}
	}
	return all
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
