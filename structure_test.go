package pacer_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
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

// limits are for packages that decide or keep what is decided on.
var limits = structure{circle: 3, p90: 300}

// limited are the packages that are held to limits.
var limited = []string{"planner", "ledger", "deciders/admission", "deciders/waiting", "deciders/queue", "deciders/verdict", "deciders/estimate", "deciders/pause", "deciders/placement", "deciders/schedule", "deciders/handover", "deciders/recording", "deciders/fewest", "deciders/report", "node", "node/meter", "infra/async"}

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
			{"lines of a file at p90", m.p90, limits.p90},
		} {
			if c.is > c.most {
				t.Errorf("package %s: %d %s, want at most %d", name, c.is, c.what, c.most)
			}
		}
	}
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

// What changes what runs is a lever, and levers go by the one apply, with what follows from them.
func TestLeversAreAppliedInOnePlace(t *testing.T) {
	for _, p := range checked(t) {
		if p.name != "planner" {
			continue
		}
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) != 1 || !strings.HasSuffix(types.ExprString(call.Fun), ".record") {
					return true
				}
				fact, ok := p.info.TypeOf(call.Args[0]).(*types.Named)
				if !ok || types.IsInterface(fact) {
					return true
				}
				if types.Implements(fact, p.ledgers("Lever")) {
					t.Errorf("%s: %s is a lever: core.apply records it", p.set.Position(call.Pos()), fact.Obj().Name())
				}
				return true
			})
		}
	}
}

// ledgers is an interface of package ledger, as p sees it; nil where p does not import that.
func (p typed) ledgers(name string) *types.Interface {
	of := p.types
	for _, imported := range p.types.Imports() {
		if imported.Path() == module+"/ledger" {
			of = imported
		}
	}
	found := of.Scope().Lookup(name)
	if found == nil {
		return nil
	}
	return found.Type().Underlying().(*types.Interface)
}

// A fact that no part of the planner records need not be there: those of package ledger, and those of capabilities,
// which a decider makes by a function that has them as its result.
func TestEveryFactIsRecorded(t *testing.T) {
	recorded, facts := map[string]bool{}, map[string]bool{}
	for _, p := range checked(t) {
		if p.name != "planner" && p.name != "ledger" && !strings.HasPrefix(p.name, "deciders/") {
			continue
		}
		for at, object := range p.info.Uses {
			if p.name != "ledger" && object.Pkg() != nil && !p.declares(at) {
				recorded[object.Pkg().Path()+"."+object.Name()] = true
			}
		}
		fact := p.ledgers("Fact")
		for _, name := range p.types.Scope().Names() {
			of, ok := p.types.Scope().Lookup(name).(*types.TypeName)
			if ok && fact != nil && !types.IsInterface(of.Type()) && types.Implements(of.Type(), fact) {
				facts[p.types.Path()+"."+name] = true
			}
		}
	}
	for name := range facts {
		if !recorded[name] {
			t.Errorf("%s: nobody records it", name)
		}
	}
	if len(facts) < 30 {
		t.Errorf("%d facts: the test looks for the wrong thing", len(facts))
	}
}

// declares reports whether an identifier is the receiver of a method, which declares its type and does not use it.
func (p typed) declares(id *ast.Ident) bool {
	for _, f := range p.files {
		for _, d := range f.Decls {
			if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil && m.Recv.Pos() <= id.Pos() && id.Pos() < m.Recv.End() {
				return true
			}
		}
	}
	return false
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
