package profiles

import (
	"regexp"
	"slices"
	"strings"
)

// StageCode is what a stage's signature and lineage are made of. The driver has it of a stage that it submits
// (StageSignature.scala), and an event log of one that has ended: both find the same.
type StageCode struct {
	// Map says that the stage writes a shuffle.
	Map bool `json:"map"`
	// Name is its call site: "collect at /tmp/x/app.py:33".
	Name string `json:"name"`
	// RDDs are those that it computes, breadth first from its last one.
	RDDs []RDD `json:"rdds"`
	// Parents are the stages that wrote what it reads by shuffles, in the order in which these are met.
	Parents []Signed `json:"parents"`
}

// RDD is an RDD that a stage computes.
type RDD struct {
	// Name is the one that the RDD was given, else its class, as Spark's RDDInfo has it.
	Name string `json:"name"`
	// Scope is the name of the operation that made it, "" for none.
	Scope string `json:"scope"`
	// Root says that it depends on no other one.
	Root bool `json:"root"`
}

// Signed has the two hashes of a stage (api.StageReady); both are "" of a stage that nobody has seen.
type Signed struct {
	Signature string `json:"signature"`
	Lineage   string `json:"lineage"`
}

// Sign returns the hashes of c.
func (c *StageCode) Sign() Signed {
	kind := "result"
	if c.Map {
		kind = "map"
	}
	signature, lineage := []string{kind, site(c.Name)}, []string{kind}
	for _, r := range c.RDDs {
		signature, lineage = append(signature, r.kind()), append(lineage, r.kind())
	}
	for _, p := range c.Parents {
		if p == (Signed{}) {
			p = Signed{Signature: "?", Lineage: "?"}
		}
		signature, lineage = append(signature, p.Signature), append(lineage, p.Lineage)
	}
	return Signed{Signature: hashed(signature), Lineage: hashed(lineage)}
}

// python is what Spark calls RDDs or, in SQL, operators that Python workers compute.
var python = []string{"Python", "InPandas", "InArrow"}

// Python reports whether Python workers compute a part of c.
func (c *StageCode) Python() bool {
	return slices.ContainsFunc(c.RDDs, func(r RDD) bool {
		return slices.ContainsFunc(python, func(of string) bool {
			return strings.Contains(r.Name, of) || strings.Contains(r.Scope, of)
		})
	})
}

// classLike is what may be the name of a class. Names that Spark gives are paths and plans.
var classLike = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// kind is r without what differs from run to run. A name that is no class hides the one that there is: Spark itself
// names what reads a file, and what it maps. Adaptive execution merges, splits and reads locally what a shuffle
// holds, by one kind of RDD in two scopes.
func (r RDD) kind() string {
	switch {
	case r.Name == "ShuffledRowRDD":
		return "ShuffledRowRDD/AQEShuffleRead"
	case classLike.MatchString(r.Name):
		return plain(r.Name) + "/" + plain(r.Scope)
	case r.Root:
		return "HadoopRDD/" + plain(r.Scope)
	}
	return "MapPartitionsRDD/" + plain(r.Scope)
}

var (
	at       = regexp.MustCompile(`^(.*) at (.*?)(?::[0-9]+)?$`)
	numbered = regexp.MustCompile(`\s*\([0-9]+\)|\$[0-9]+|#[0-9]+`)
)

// site is a stage's name without directory, line and compiler's numbers.
func site(name string) string {
	parts := at.FindStringSubmatch(name)
	if parts == nil {
		return plain(name)
	}
	file := strings.TrimRight(parts[2], "/")
	return plain(parts[1]) + " at " + plain(file[strings.LastIndexByte(file, '/')+1:])
}

// plain is s without numbers that Spark and compilers add, and blinded.
func plain(s string) string { return blinded(numbered.ReplaceAllString(s, "")) }
