package consolidation

import "math"

// Level is a part of a resource that is used, in steps.
type Level uint8

// The levels that others are compared with; there are six between Medium and Overload.
const (
	Low      Level = 0
	Overload Level = 8
	levels         = 9
)

// rounding is what sums of parts may be off by.
const rounding = 1e-9

// LevelOf is the level of a part: Low to 0.2, Medium to 0.4, then one for each tenth, the last of which ends before 1.
// A NaN is Overload.
func LevelOf(x float64) Level {
	if !(x < 1-rounding) {
		return Overload
	}
	switch tenths := math.Ceil(10 * (x - rounding)); {
	case tenths <= 2:
		return Low
	case tenths <= 4:
		return Low + 1
	default:
		return Level(tenths) - 3
	}
}

// String is its name in the thesis.
func (l Level) String() string {
	return [levels]string{"Low", "Medium", "High", "xHigh", "2xHigh", "3xHigh", "4xHigh", "5xHigh", "Overload"}[l]
}

// Use is the part of CPU and of memory that is used.
type Use struct {
	CPU    float64 `json:"cpu"`
	Memory float64 `json:"memory"`
}

// Plus is the sum of two.
func (u Use) Plus(v Use) Use { return Use{u.CPU + v.CPU, u.Memory + v.Memory} }

// Less is u without v.
func (u Use) Less(v Use) Use { return Use{u.CPU - v.CPU, u.Memory - v.Memory} }

// Of is u as a part of each whole.
func (u Use) Of(whole Use) Use { return Use{u.CPU / whole.CPU, u.Memory / whole.Memory} }

// Overloaded reports whether at least one resource is used up.
func (u Use) Overloaded() bool { return LevelOf(u.CPU) == Overload || LevelOf(u.Memory) == Overload }

// Total is what machines are compared by.
func (u Use) Total() float64 { return u.CPU + u.Memory }

// State is the levels of both resources.
type State uint8

// States is how many there are.
const States = levels * levels

// StateOf is the state of a use.
func StateOf(u Use) State { return State(LevelOf(u.CPU))*levels + State(LevelOf(u.Memory)) }

// Levels are those of CPU and memory.
func (s State) Levels() (cpu, memory Level) { return Level(s / levels), Level(s % levels) }

// Mean is a running mean of samples. The zero value has none.
type Mean struct {
	Count int `json:"count"`
	Value Use `json:"value"`
}

// Add takes in a sample.
func (m *Mean) Add(d Use) {
	n := float64(m.Count)
	m.Count++
	m.Value = Use{(n*m.Value.CPU + d.CPU) / (n + 1), (n*m.Value.Memory + d.Memory) / (n + 1)}
}
