package profiles

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The file has plans of real queries as an event log has them, with the shapes that the driver found by
// reflection (SqlQueriesTest).
func TestShapesAreThoseThatTheDriverFinds(t *testing.T) {
	body, err := os.ReadFile(filepath.Join("..", "spark", "src", "test", "resources", "plans.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Names   map[string]string `json:"names"`
		Queries []struct {
			Name  string   `json:"name"`
			Shape string   `json:"shape"`
			Plan  PlanNode `json:"plan"`
		} `json:"queries"`
	}
	if err := json.Unmarshal(body, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Names) < 10 || len(golden.Queries) < 16 {
		t.Fatalf("%d names and %d queries are few", len(golden.Names), len(golden.Queries))
	}
	for name, want := range golden.Names {
		if got := blinded(name); got != want {
			t.Errorf("%q is blinded to %q, want %q", name, got, want)
		}
	}
	shapes := map[string]string{}
	for i := range golden.Queries {
		q := &golden.Queries[i]
		if got := q.Plan.Shape(); got != q.Shape {
			t.Errorf("%s has shape %s, want %s", q.Name, got, q.Shape)
		}
		shapes[q.Name] = q.Shape
	}
	if shapes["join"] != shapes["broadcast"] || shapes["join"] == shapes["semi join"] {
		t.Errorf("shapes of joins: %v", shapes)
	}
}

func TestAPlanOfManyNodesHasAShape(t *testing.T) {
	wide, deep := PlanNode{Name: "Union"}, PlanNode{Name: "Scan csv "}
	for range 10_000 {
		wide.Children = append(wide.Children, PlanNode{Name: "Exchange", Children: []PlanNode{{Name: "Scan csv "}}})
		deep = PlanNode{Name: "Project", Children: []PlanNode{deep}}
	}
	other := PlanNode{Name: strings.ToUpper(deep.Name), Children: deep.Children}
	if wide.Shape() == deep.Shape() || deep.Shape() == other.Shape() {
		t.Error("two plans have one shape")
	}
}
