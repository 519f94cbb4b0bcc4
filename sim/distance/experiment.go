package distance

import (
	"fmt"
	"strconv"

	"github.com/sparkpacer/pacer/sim/experiment"
)

// Composition is one of the source's.
type Composition struct {
	Name   string `json:"name"`
	Says   string `json:"says"`
	layers []Layer
	// Read and Write are its links, ReadRank and WriteRank its ranks.
	Read      int `json:"read_links"`
	Write     int `json:"write_links"`
	ReadRank  int `json:"read_rank"`
	WriteRank int `json:"write_rank"`
	// source has the same of the source in that order. The two with volumes are one where it reads.
	source [4]int
	// took are the source's run times of WordCount, TPC-DS, DFSIO and Decision-Tree, in seconds (Table 5.3).
	took [4]float64
}

// compositions are those of Table 5.1.
func compositions() []Composition {
	near, volume := Layer{Copies: 1}, Layer{Far: true, Copies: 3}
	return []Composition{
		{Name: "GC", Says: "data in the machine that computes, on its disk", layers: []Layer{{Copies: 3}, near},
			source: [4]int{0, 3, 1, 1}, took: [4]float64{125.23, 460.21, 305.86, 1076.68}},
		{Name: "GC-Vs", Says: "the same on volumes, which alone keep copies", layers: []Layer{near, volume},
			source: [4]int{2, 4, 2, 2}, took: [4]float64{125.28, 469.66, 330.99, 1133.56}},
		{Name: "GC-Vb", Says: "the same on volumes, where both keep copies", layers: []Layer{{Copies: 3}, volume},
			source: [4]int{2, 15, 2, 3}, took: [4]float64{121.29, 454.48, 848.48, 997.50}},
		{Name: "NC", Says: "data on other machines, on their disks", layers: []Layer{volume, near},
			source: [4]int{2, 4, 2, 2}, took: [4]float64{157.85, 571.01, 308.83, 1067.35}},
		{Name: "SWI", Says: "objects behind a proxy, which waits for two of three copies",
			layers: []Layer{{Far: true, Proxy: true, Copies: 2}, near},
			source: [4]int{4, 4, 3, 2}, took: [4]float64{279.55, 2773.96, 1114.56, 1101.37}},
	}
}

// Experiments is the one of the source's chapter 5.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{{Name: "distance", Title: "Pace 5: links that a record crosses, by where data lies",
		Source: "000", Section: "5", Run: run, Cases: func(experiment.Options) (names []string, err error) {
			for _, c := range compositions() {
				names = append(names, c.Name)
			}
			return names, nil
		}}}
}

// run counts the links of all compositions.
func run(o experiment.Options) (experiment.Table, error) {
	var cases []experiment.Case[Composition, [2]int]
	for _, c := range compositions() {
		cases = append(cases, experiment.Case[Composition, [2]int]{Name: c.Name, Of: c, Run: func(int) ([2]int, error) {
			return [2]int{Read(c.layers), Write(c.layers)}, nil
		}})
	}
	t := experiment.Table{Name: "distance", Title: Experiments()[0].Title}
	cases, err := experiment.Run(experiment.Options{Stop: o.Stop, Progress: o.Progress}, cases)
	if err != nil {
		return t, err
	}
	var links [2][]int
	for _, c := range cases {
		links[0], links[1] = append(links[0], c.Runs[0][0]), append(links[1], c.Runs[0][1])
	}
	reads, writes := Ranks(links[0]), Ranks(links[1])
	rows := [][]string{{"COMPOSITION", "READ, LINKS", "RANK", "WRITE, LINKS", "RANK", "WORDCOUNT, s (SOURCE)",
		"TPC-DS, s (SOURCE)", "DFSIO, s (SOURCE)", "DECISION TREE, s (SOURCE)"}}
	var all []Composition
	for i, x := range cases {
		c := x.Of
		c.Read, c.Write, c.ReadRank, c.WriteRank = links[0][i], links[1][i], reads[i], writes[i]
		beside := func(ours, of int) string { return experiment.Beside(strconv.Itoa(ours), strconv.Itoa(c.source[of])) }
		row := []string{c.Name, beside(c.Read, 0), beside(c.ReadRank, 2), beside(c.Write, 1), beside(c.WriteRank, 3)}
		for _, s := range c.took {
			row = append(row, fmt.Sprintf("(%.0f)", s))
		}
		all, rows, t.Figures = append(all, c), append(rows, row), append(t.Figures, c.figures()...)
	}
	t.Cells, t.Rows = all, [][][]string{rows}
	return t, nil
}

// figures are its links and ranks.
func (c Composition) figures() (all []experiment.Figure) {
	add := func(table, name, measure string, ours, of int) {
		theirs := float64(c.source[of])
		claim := experiment.Claim{Table: table, Case: c.Name, Measure: measure, Theirs: theirs,
			Band: experiment.Around(theirs, 0, "links are counted")}
		f := experiment.NewFigure("distance."+c.Name+"."+name, "", []float64{float64(ours)}, claim)
		f.InCells = true
		all = append(all, f)
	}
	add("Fig 5.2", "read_links", "links of a read", c.Read, 0)
	add("Fig 5.2", "write_links", "links of a write", c.Write, 1)
	add("Table 5.1", "read_rank", "rank of a read", c.ReadRank, 2)
	add("Table 5.1", "write_rank", "rank of a write", c.WriteRank, 3)
	return all
}
