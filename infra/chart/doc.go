// Package chart draws the pictures of runs: lines, dots and crosses over one pair of axes,
// several charts below each other in one file. It is the only package that knows a
// plotting library.
//
// A Chart is for one goroutine. Colours are numbers; they differ for colour-blind readers
// too (Okabe and Ito). Points joins the samples of a stage's executors.
package chart
