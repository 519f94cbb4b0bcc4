package profiles

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
)

// PlanNode is a node of a SQL query's plan, as sparkPlanInfo of an event log has it
// (SparkListenerSQLExecutionStart).
type PlanNode struct {
	Name     string     `json:"nodeName"`
	Children []PlanNode `json:"children"`
}

// Shape is api.QueryStage.Shape of the query with that plan: a hash over the names of its operators, as a
// tree. Exchanges, stages, codegen and other wrappers are no operators, nor are sorts that a join or a window asks for,
// nor dynamic pruning. All joins have one name, and an aggregate that stands alone is a pair. A cached table counts
// with its plan, the cached tables behind that without. So adaptive execution leaves the shape as it is. The driver
// finds the same (PlanTree.scala).
func (n *PlanNode) Shape() string {
	shapes := n.shapes("", 0)
	if len(shapes) == 1 {
		return shapes[0].hash
	}
	return digest("", shapes)
}

// subtree is an operator with a hash over what is below it.
type subtree struct{ name, hash string }

// shapes are those of n's uppermost operators below the operator above, behind so many cached tables.
func (n *PlanNode) shapes(above string, cached int) []subtree {
	name := operator(n.Name)
	switch {
	case cached > 1 || prunes[name]:
		return nil
	case wrappers[name] || name == "Sort" && sorts(above):
		return n.inputs(above, cached)
	case name == "InMemoryTableScan" || strings.HasPrefix(name, "Scan In-memory table"):
		cached++
	}
	inputs := n.inputs(name, cached)
	same := func(s subtree) bool { return s.name == name }
	if aggregates[name] && above != name && !slices.ContainsFunc(inputs, same) {
		inputs = []subtree{{name, digest(name, inputs)}}
	}
	return []subtree{{name, digest(name, inputs)}}
}

func (n *PlanNode) inputs(above string, cached int) []subtree {
	var all []subtree
	for i := range n.Children {
		all = append(all, n.Children[i].shapes(above, cached)...)
	}
	return all
}

var (
	wrappers = set("Exchange", "BroadcastExchange", "WholeStageCodegen", "InputAdapter", "AdaptiveSparkPlan",
		"ShuffleQueryStage", "BroadcastQueryStage", "TableCacheQueryStage", "ResultQueryStage", "AQEShuffleRead",
		"ReusedExchange", "ReusedSubquery", "ColumnarToRow", "RowToColumnar")
	joins = set("SortMergeJoin", "ShuffledHashJoin", "BroadcastHashJoin", "BroadcastNestedLoopJoin",
		"CartesianProduct")
	aggregates = set("HashAggregate", "ObjectHashAggregate", "SortAggregate")
	prunes     = set("SubqueryBroadcast", "SubqueryAdaptiveBroadcast")
)

func set(names ...string) map[string]bool {
	s := make(map[string]bool, len(names))
	for _, name := range names {
		s[name] = true
	}
	return s
}

// operator is a node's name as it is in every run.
func operator(name string) string {
	name = strings.TrimSpace(blinded(name))
	if joins[name] {
		return "Join"
	}
	return name
}

// sorts reports whether an operator may ask for sorted input.
func sorts(name string) bool {
	return name == "Join" || name == "SortAggregate" || strings.Contains(name, "Window")
}

var (
	identifier = regexp.MustCompile(`\(([A-Za-z_][A-Za-z0-9_.]*)\)`)
	bracketed  = regexp.MustCompile(`(?s)\s*[(\[].*[)\]]`)
	quoted     = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	paths      = regexp.MustCompile(`[^\s/]*/\S*(\s+[^\s/]*/\S*)*`)
	uuid       = regexp.MustCompile(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)
	words      = regexp.MustCompile(`[0-9A-Za-z]+`)
	number     = regexp.MustCompile(`[0-9]+`)
	hash       = regexp.MustCompile(`^[0-9a-fA-F]{6,}$`)
)

// blinded is a name without what may differ from run to run: numbers, dates, hashes, paths and SQL texts.
// The driver's are blinded alike (Blinded.scala).
func blinded(name string) string {
	name = quoted.ReplaceAllString(bracketed.ReplaceAllString(identifier.ReplaceAllString(name, " $1"), ""), "")
	name = uuid.ReplaceAllString(paths.ReplaceAllString(name, "/"), "#")
	return words.ReplaceAllStringFunc(name, func(w string) string {
		if hash.MatchString(w) && strings.ContainsAny(w, "0123456789") {
			return "#"
		}
		return number.ReplaceAllString(w, "#")
	})
}

// digest is a hash over a name, if there is one, and the hashes of what is below.
func digest(name string, below []subtree) string {
	var parts []string
	if name != "" {
		parts = append(parts, name)
	}
	for _, s := range below {
		parts = append(parts, s.hash)
	}
	return hashed(parts)
}

// hashed is a hash over texts.
func hashed(parts []string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:8])
}
