package consolidation

import (
	"math"
	"slices"
	"testing"
)

// The section numbers are those of M. Khelghatdoust's thesis.

// Section 4.4.1: nine levels.
func TestLevels(t *testing.T) {
	for x, want := range map[float64]string{0.85: "4xHigh", 0.56: "xHigh", 0.41: "High", 0.79: "3xHigh", 0.50: "High", 0.95: "5xHigh",
		0.76: "3xHigh", 0.2: "Low", 1.0: "Overload", 0: "Low", 0.4: "Medium", 0.6: "xHigh", 0.7: "2xHigh", 0.999: "5xHigh", 1.3: "Overload",
		0.1 + 0.2: "Medium", math.Inf(1): "Overload", math.Inf(-1): "Low"} {
		if got := LevelOf(x).String(); got != want {
			t.Errorf("%v is %s, want %s", x, got, want)
		}
	}
	if LevelOf(math.NaN()) != Overload {
		t.Error("what is no number is not Overload")
	}
}

// Section 4.4.1: a VM of (0.85, 0.56) is (4xHigh, xHigh); with one of (0.1, 0.2) its machine is (5xHigh, 3xHigh).
func TestAStateIsTheLevelsOfBothResources(t *testing.T) {
	vm, other := Use{0.85, 0.56}, Use{0.1, 0.2}
	cpu, memory := StateOf(vm).Levels()
	if cpu.String() != "4xHigh" || memory.String() != "xHigh" {
		t.Errorf("the VM is %v, %v", cpu, memory)
	}
	if cpu, memory = StateOf(vm.Plus(other)).Levels(); cpu.String() != "5xHigh" || memory.String() != "3xHigh" {
		t.Errorf("the machine is %v, %v", cpu, memory)
	}
	seen := map[State]bool{}
	for c := range 11 {
		for m := range 11 {
			seen[StateOf(Use{float64(c)/10 + 0.01, float64(m)/10 + 0.01})] = true
		}
	}
	if len(seen) != States || States != 81 {
		t.Errorf("%d states, want 81", len(seen))
	}
}

// Section 4.4.2: {4, 0.5} and a sample of 1.0 give {5, 0.6}.
func TestTheRunningMean(t *testing.T) {
	m := Mean{4, Use{0.5, 0.5}}
	if m.Add(Use{1, 0.5}); m.Count != 5 || math.Abs(m.Value.CPU-0.6) > 1e-12 || m.Value.Memory != 0.5 {
		t.Errorf("%+v", m)
	}
}

// both is a state of one level in both resources.
func both(l Level) State { return State(l)*levels + State(l) }

// Section 4.4.1, 4.1: both resources to High are worth 7, then 10.5, to hand on; one to Overload and the other to Low -49.5
// to take.
func TestAnUpdate(t *testing.T) {
	c, q := Default(), NewTables()
	out, in := learner{Table: &q.Out}, learner{Table: &q.In}
	high := both(2)
	if outReward(high) != 14 {
		t.Fatalf("both resources High are worth %v", outReward(high))
	}
	for _, want := range []float64{7, 10.5} {
		out.update(&c, both(5), high, outReward(high), high)
		if v, known := q.Out.Known(both(5), high); v != want || !known {
			t.Errorf("Out is %v, want %v", v, want)
		}
	}
	mixed := State(Overload)*levels + State(Low)
	in.update(&c, both(5), high, c.inReward(mixed), mixed)
	if v, _ := q.In.Known(both(5), high); v != -49.5 {
		t.Errorf("In is %v, want -49.5", v)
	}
	if _, known := q.In.Known(high, high); known {
		t.Error("what was never tried is known")
	}
	// The best of the next state counts, times gamma.
	q.Out[high][both(1)], q.Out[high][both(3)] = -5, 20
	out = learner{Table: &q.Out}
	out.update(&c, both(6), high, 4, high)
	if v, _ := q.Out.Known(both(6), high); v != 0.5*(4+0.8*20) {
		t.Errorf("with a next state Out is %v", v)
	}
}

// Section 4.4.1: rewards to hand on fall with load and are above 0; those to take rise, and Overload is far below 0.
func TestRewards(t *testing.T) {
	c := Default()
	for l := Low; l < Overload; l++ {
		if !(outReward(both(l)) > outReward(both(l+1))) || outReward(both(l+1)) <= 0 {
			t.Errorf("to hand on: %v to %v", outReward(both(l)), outReward(both(l+1)))
		}
		if r := c.inReward(both(l)); r != 2*float64(l+1) {
			t.Errorf("to take at %v: %v", l, r)
		}
	}
	if outReward(both(Low)) != 18 || outReward(both(Overload)) != 2 || c.inReward(both(Overload)) != -200 {
		t.Error("the rewards at both ends")
	}
}

// Fig 4.3: a virtual machine at 79 % in the mean of which the rest uses 50 % now, and a VM of 41 %: Out(3xHigh, High) learns
// what High is worth. The same VM comes to a virtual machine: In learns of that.
func TestARoundOfLearning(t *testing.T) {
	c := Default()
	c.Repeats = 1
	vms := []VM{{Now: Use{0.3, 0.3}, Mean: Use{0.41, 0.41}, Action: both(2)}, {Now: Use{0.5, 0.5}, Mean: Use{0.38, 0.38}, Action: both(1)}}
	// No copies are made of what comes to 1.5 with two: draws are the order (of 4), the size 2, where it begins, the VM, and the target:
	// where it begins, and its size 1.
	draws := []int{3, 2, 1, 1, 0, 0, 1, 1}
	q := NewTables()
	c.Learn(q, vms, func(n int) int {
		d := draws[0]
		if draws = draws[1:]; d >= n {
			t.Fatalf("%d of %d is drawn", d, n)
		}
		return d
	})
	if v, known := q.Out.Known(both(5), both(2)); !known || v != 7 {
		t.Errorf("Out(3xHigh, High) is %v", v)
	}
	if v, known := q.In.Known(both(1), both(2)); !known || v != c.Alpha*c.inReward(both(5)) {
		t.Errorf("In(Medium, High) is %v, want of 80 %%", v)
	}
	if len(draws) != 0 {
		t.Errorf("%d draws are left", len(draws))
	}
}

// Section 4.4.2, Algorithm 3: the mean of what both know; the one copies what only the other knows.
func TestAveraging(t *testing.T) {
	a, b := NewTables(), NewTables()
	a.Out[1][2], b.Out[1][2] = 4, 8
	a.In[3][4], b.In[5][6] = -2, 10
	Average(a, b)
	for _, q := range []*Tables{a, b} {
		if q.Out[1][2] != 6 || q.In[3][4] != -2 || q.In[5][6] != 10 {
			t.Errorf("%v, %v, %v", q.Out[1][2], q.In[3][4], q.In[5][6])
		}
		if _, known := q.Out.Known(0, 0); known {
			t.Error("what neither knows is known")
		}
	}
	if s := Similarity(a, b); math.Abs(s-1) > 1e-9 {
		t.Errorf("tables that are one have similarity %v", s)
	}
	if Similarity(NewTables(), a) != 0 {
		t.Error("a table that knows nothing is similar to one")
	}
}

// Fig 4.4: a machine at 40 % hands VM1 on, which is worth 90, not VM2, which is worth 55; then In(4xHigh, Low) is -70.
func TestAnExchange(t *testing.T) {
	c, q := Default(), NewTables()
	p := Machine{Now: Use{0.4, 0.4}, Mean: Use{0.4, 0.4}, VMs: []VM{
		{Now: Use{0.15, 0.15}, Mean: Use{0.15, 0.15}, Action: both(Low)}, {Now: Use{0.25, 0.25}, Mean: Use{0.25, 0.25}, Action: both(1)}}}
	to := Machine{Now: Use{0.6, 0.6}, Mean: Use{0.6, 0.6}}
	q.Out[StateOf(p.Mean)][both(1)], q.Out[StateOf(p.Mean)][both(Low)] = 90, 55
	q.In[both(3)][both(1)], q.In[both(6)][both(Low)] = 5, -70
	if !Sends(p.Now, to.Now, false) || Sends(to.Now, p.Now, true) {
		t.Error("the machine that uses less sends")
	}
	moves, refused := c.HandOver(q, &p, &to)
	if !slices.Equal(moves, []int{1}) || !refused {
		t.Errorf("moves %v, refused %v", moves, refused)
	}
	if math.Abs(to.Now.CPU-0.85) > 1e-9 || math.Abs(p.Mean.Memory-0.15) > 1e-9 {
		t.Errorf("afterwards %+v and %+v", p.Now, to.Now)
	}
}

// Section 4.4.4: one that is overloaded hands on until it is not, cheapest first of those that are alike; what the other has no
// room for ends it.
func TestAnOverloadedMachineHandsOnUntilItIsNot(t *testing.T) {
	c, q := Default(), NewTables()
	vm := VM{Now: Use{0.2, 0.3}, Mean: Use{0.2, 0.2}, Action: both(Low), Cost: 3}
	p := Machine{Now: Use{0.8, 1.2}, Mean: Use{0.8, 0.8}, VMs: []VM{vm, vm, vm, vm}}
	p.VMs[2].Cost = 1
	to := Machine{Now: Use{0.1, 0.1}, Mean: Use{0.1, 0.1}}
	if !Sends(p.Now, to.Now, false) || Sends(to.Now, p.Now, true) {
		t.Error("the machine that is overloaded sends")
	}
	if moves, refused := c.HandOver(q, &p, &to); !slices.Equal(moves, []int{2}) || refused {
		t.Errorf("moves %v, refused %v", moves, refused)
	}
	full := Machine{Now: Use{0.1, 0.7}, Mean: Use{0.1, 0.1}}
	p = Machine{Now: Use{0.2, 0.3}, VMs: []VM{vm}}
	if moves, refused := c.HandOver(q, &p, &full); len(moves) > 0 || !refused {
		t.Error("a machine takes what it has no room for")
	}
	a := Use{1, 0.5}
	if !Sends(a, a, true) || !Sends(a, a, false) {
		t.Error("of two that are overloaded both send")
	}
	if b := (Use{0.5, 0.5}); !Sends(b, b, true) || Sends(b, b, false) {
		t.Error("of two that use the same the one that asks sends")
	}
}

// Each switch, both ways.
func TestSwitches(t *testing.T) {
	for name, change := range map[string]func(c *Config, name string){
		"levels":  func(c *Config, name string) { c.Levels = name },
		"unknown": func(c *Config, name string) { c.Unknown = name },
		"train":   func(c *Config, name string) { c.Train = name },
		"wake":    func(c *Config, name string) { c.Wake = name }} {
		for i, of := range Switches()[name] {
			c := Default()
			if change(&c, of); c.Validate() != nil || i == 0 && c != Default() {
				t.Errorf("%s %s: %v", name, of, c.Validate())
			}
		}
		c := Default()
		change(&c, "other")
		if err := c.Validate(); err == nil || err.Error() != name+` "other": want one of [`+Switches()[name][0]+" "+Switches()[name][1]+"]" {
			t.Errorf("%v", err)
		}
	}
	given := Use{0.2, 0.2}
	of, machine := Default(), Default()
	machine.Levels = LevelsMachine
	if of.Action(Use{0.17, 0.09}, given) != State(6)*levels+2 || machine.Action(Use{0.17, 0.09}, given) != both(Low) {
		t.Error("the level of a VM")
	}
	q, full, vm := NewTables(), Machine{Now: Use{0.1, 0.1}, Mean: Use{0.9, 0.5}}, VM{Now: Use{0.1, 0.1}, Mean: Use{0.1, 0.1}}
	accept := Default()
	accept.Unknown = UnknownAccept
	if Default().Accepts(q, full, vm) || !accept.Accepts(q, full, vm) {
		t.Error("a VM of which nothing is learnt")
	}
	q.In[StateOf(full.Mean)][vm.Action] = 0
	if !Default().Accepts(q, full, vm) {
		t.Error("0 is refused although it is learnt")
	}
	eighty := Default()
	eighty.Train = TrainEighty
	for cpu, want := range map[float64][2]bool{0.5: {true, true}, 0.6: {false, true}, 0.8: {false, true}, 0.9: {false, false}} {
		if got := [2]bool{Default().Trains(Use{CPU: cpu}), eighty.Trains(Use{CPU: cpu})}; got != want {
			t.Errorf("at %v who trains is %v", cpu, got)
		}
	}
}

func TestEveryFaultOfAConfigIsReported(t *testing.T) {
	c := Config{Alpha: math.NaN(), Gamma: 1, Danger: 1}
	want := "alpha NaN and gamma 1, want above 0 to 1, and 0 to below 1\nrepeats is 0, want at least 1\ndanger is 1, want below 0\n" +
		"levels \"\": want one of [vm machine]\nunknown \"\": want one of [project accept]\ntrain \"\": want one of [half eighty]\n" +
		"wake \"\": want one of [three-refusals never]"
	if err := c.Validate(); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}
