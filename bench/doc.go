// Package bench measures the figures of docs/STATUS.md that `make demo` does not
// give: `make bench` runs TestFigures, which appends JSON lines to the file that
// PACER_BENCH_LOG names. Nothing here asserts a time: what is measured is
// reported, and compared with its bound by whoever reads the table. `make
// bench-deadlines` runs TestDeadlines into the same file: real workloads under
// deadlines of stock Spark's time and more.
//
// Comparisons are made in pairs inside one run (the machine is noisy), with a
// pair of the yardstick against itself beside them; ratios are quoted as medians
// with the smallest and the largest.
package bench
