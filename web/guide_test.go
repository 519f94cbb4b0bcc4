package web_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner/access"
	"github.com/sparkpacer/pacer/web"
)

var rewrite = flag.Bool("rewrite", false, "write the tables of docs/api.md anew")

// docs/api.md has the tables of routes, problems and verbs without a route as the code has them. Run with -rewrite after a
// wanted change.
func TestTheGuideHasWhatThereIs(t *testing.T) {
	const path = "../docs/api.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	was, is := string(text), string(text)
	for mark, rows := range map[string][]string{"routes": routeRows(t), "problems": problemRows(newWorld(t)), "apart": apartRows()} {
		begin, end := "<!-- "+mark+" -->\n", "<!-- end -->\n"
		before, rest, ok1 := strings.Cut(is, begin)
		_, after, ok2 := strings.Cut(rest, end)
		if !ok1 || !ok2 {
			t.Fatalf("%s has no place for its %s", path, mark)
		}
		is = before + begin + strings.Join(rows, "\n") + "\n" + end + after
	}
	if *rewrite {
		if err := os.WriteFile(path, []byte(is), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if is != was {
		t.Errorf("%s is not what the code says: go test ./web -run TheGuide -rewrite", path)
	}
}

// routeRows are the routes with their summaries of openapi.yaml.
func routeRows(t *testing.T) []string {
	var doc struct {
		Paths map[string]map[string]yaml.Node
	}
	if err := yaml.Unmarshal(web.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	rows := []string{"| request | what it does | role | parameters |", "|---|---|---|---|"}
	for _, route := range web.Routes() {
		method, path, _ := strings.Cut(route.Pattern, " ")
		var operation struct{ Summary string }
		node := doc.Paths[path][strings.ToLower(method)]
		if err := node.Decode(&operation); err != nil || operation.Summary == "" {
			t.Errorf("%s has no summary: %v", route.Pattern, err)
		}
		query := "–"
		if names := strings.Fields(route.Query); len(names) > 0 {
			query = "`" + strings.Join(names, "`, `") + "`"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |", route.Pattern, operation.Summary, role(route), query))
	}
	return rows
}

// role is the least that a route needs.
func role(route web.Route) string {
	if route.Open {
		return "none"
	}
	ann, least := api.Principal{Kind: api.PrincipalUser, Name: "ann"}, ""
	for _, r := range slices.Backward(api.Roles()) {
		if ann.Role = r; route.Verb == "" || access.Verb(ann, route.Verb) == nil {
			least = string(r)
		}
	}
	if ann.Role = api.Role(least); access.Own(ann, route.Verb, "app-1", "bob") != nil {
		least += ", own"
	}
	return least
}

func problemRows(w *world) []string {
	rows := []string{"| `type`: `/api/v1/problems/...` | status | what it means |", "|---|---|---|"}
	for _, name := range slices.SortedFunc(maps.Keys(web.Problems()), func(a, b string) int {
		return cmp.Or(web.Problems()[a]-web.Problems()[b], cmp.Compare(a, b))
	}) {
		rows = append(rows, fmt.Sprintf("| `%s` | %d | %s |", name, web.Problems()[name], strings.TrimSpace(w.sent("GET", "/api/v1/problems/"+name, "", "").Body.String())))
	}
	return rows
}

func apartRows() []string {
	rows := []string{"| request of the command line | why it has no address |", "|---|---|"}
	for _, verb := range slices.Sorted(maps.Keys(apart())) {
		rows = append(rows, fmt.Sprintf("| `%s` | %s |", verb, apart()[verb]))
	}
	return rows
}
