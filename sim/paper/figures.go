package paper

// The source's own figures: Baresi, Guinea, Leva, Quattrocchi, "Fine-grained
// Dynamic Resource Allocation for Big-Data Applications" (IEEE TSE), section 7.

// paperRow is a row of a table of the source: eps_a and mean eps_s in per cent,
// mean cores of 64; nil where it does not say.
type paperRow struct{ err, stage, cores *float64 }

func row(err, stage, cores float64) paperRow {
	r := paperRow{err: &err, stage: &stage}
	if cores > 0 {
		r.cores = &cores
	}
	return r
}

// paperTable4 is Table 4, at 0, +20 and +40 %.
func paperTable4() map[string][3]paperRow {
	return map[string][3]paperRow{
		"aggr-by-key":     {row(-0.90, 3.00, 60.41), row(0.78, 1.05, 37.63), row(0.26, 0.25, 29.15)},
		"aggr-by-key-int": {row(-2.31, 4.81, 62.22), row(0.77, 0.85, 39.21), row(0.77, 0.52, 30.86)},
		"group-by":        {row(-1.73, 5.67, 61.57), row(0.28, 0.60, 42.95), row(0.31, 0.36, 34.59)},
		"sort-by-key":     {row(-1.31, 0.79, 59.19), row(1.18, 0.41, 45.23), row(0.44, 0.31, 35.44)},
		"sort-by-key-int": {row(-2.48, 1.32, 59.19), row(0.32, 0.21, 46.44), row(0.42, 0.15, 38.29)},
		"kmeans":          {row(-0.92, 1.71, 54.43), row(0.89, 0.94, 43.08), row(0.58, 0.72, 36.15)},
		"pagerank":        {row(-1.20, 2.70, 58.77), row(0.71, 1.03, 44.76), row(0.61, 0.68, 37.93)},
		"svm":             {row(0.71, 2.69, 52.62), row(1.49, 1.58, 41.62), row(1.91, 0.98, 34.39)},
	}
}

// paperSkew is Table 5: s = 1, 2, 3.
func paperSkew() [3]paperRow {
	return [3]paperRow{row(5.44, 2.86, 0), row(-4.31, 2.83, 0), row(-4.50, 2.46, 0)}
}

// paperProfile is section 7.1's wrong profiles: a profile of uniform data for a run
// with s = 0.5, and the other way round.
func paperProfile() [2]paperRow {
	late, early := -3.30, 0.86
	return [2]paperRow{{err: &late}, {err: &early}}
}

// paperTable6 is Table 6: eps_a of PageRank, KMeans and SVM in Benchmark 1, by strategy and gamma.
func paperTable6() map[string][]float64 {
	return map[string][]float64{"edf-all g=1": {74.0, 36.6, 32.5}, "edf-pure g=0": {3.6, 5.3, 3.3}}
}

// paperMet is column #A of Tables 8 and 9: how many of the three applications of Benchmarks 2 and 3 are in
// time, by strategy, for gamma 0 and 1.
func paperMet() map[string]map[string][2]float64 {
	return map[string]map[string][2]float64{
		"bench2": {"edf-all": {3, 3}, "edf-pure": {3, 3}, "edf-prop": {3, 3}, "proportional": {2, 3}, "speed": {3, 3}},
		"bench3": {"edf-all": {2, 2}, "edf-pure": {1, 2}, "edf-prop": {1, 1}, "proportional": {1, 1}, "speed": {1, 1}},
	}
}
