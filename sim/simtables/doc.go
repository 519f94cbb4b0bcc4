// Command simtables writes the tables of docs/simulator.md and docs/mesh.md: it runs the
// experiments that the documents' marked regions name on the simulator and puts what they
// give between the marks. All else of the documents stays as it is.
//
//	go run ./sim/simtables docs/simulator.md docs/mesh.md      (make tables)
//	go run ./sim/simtables -only lone docs/simulator.md
//
// A region is what stands between two comments of Markdown, each a line of its own:
//
//	<!-- simulated LAYOUT EXPERIMENT[,EXPERIMENT] law=LAW[,LAW] seeds=N -->
//	<!-- end -->
//
// and of any other experiment of package registry, which may be made smaller than it is if it takes such a size
//
//	<!-- simulated EXPERIMENT [workers=N[,N]] [jobs=N] seeds=N -->
//
// Experiments and laws are those of `pacer simulate`. A layout is a file, layouts.go
// has the table of them. Each table ends with a line that says how many seeds and runs
// it is made of and how many were late. The same sources give the same bytes.
package main
