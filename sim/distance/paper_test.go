package distance

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/sim/experiment"
	_ "github.com/sparkpacer/pacer/test/draws"
)

// Table 5.1 and the links that it goes by.
func TestTable51(t *testing.T) {
	table, err := Experiments()[0].Run(experiment.Options{Seeds: 5})
	if err != nil {
		t.Fatal(err)
	}
	var links, ranks [2][]int
	for _, c := range table.Cells.([]Composition) {
		links[0], links[1] = append(links[0], c.Read), append(links[1], c.Write)
		ranks[0], ranks[1] = append(ranks[0], c.ReadRank), append(ranks[1], c.WriteRank)
	}
	want := [4][]int{{0, 2, 2, 2, 4}, {3, 4, 15, 4, 4}, {1, 2, 2, 2, 3}, {1, 2, 3, 2, 2}}
	for i, got := range [4][]int{links[0], links[1], ranks[0], ranks[1]} {
		if !slices.Equal(got, want[i]) {
			t.Errorf("%v, want %v", got, want[i])
		}
	}
	claims := experiment.Claims(table.Figures)
	if held := experiment.Held(claims); len(claims) != 20 || held != 20 || len(table.Rows[0]) != 6 {
		t.Errorf("%d of %d claims hold, %d rows", held, len(claims), len(table.Rows[0]))
	}
}

// A layer that is moved away, a proxy and a copy more never make a record's way shorter; a write of n copies writes what
// is below n times.
func TestFartherIsLonger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layers := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Layer {
			return Layer{Far: rapid.Bool().Draw(t, "far"), Proxy: rapid.Bool().Draw(t, "proxy"), Copies: rapid.IntRange(1, 4).Draw(t, "copies")}
		}), 1, 4).Draw(t, "layers")
		i := rapid.IntRange(0, len(layers)-1).Draw(t, "which")
		for _, change := range []func(*Layer){func(l *Layer) { l.Far = true }, func(l *Layer) { l.Proxy = true }, func(l *Layer) { l.Copies++ }} {
			farther := slices.Clone(layers)
			if change(&farther[i]); Read(farther) < Read(layers) || Write(farther) < Write(layers) {
				t.Fatalf("%+v is farther than %+v", layers, farther)
			}
		}
		if top := layers[0]; Write(layers)-Write(layers[:1]) != top.Copies*Write(layers[1:]) {
			t.Fatalf("%+v", layers)
		}
	})
}
