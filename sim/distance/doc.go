// Package distance counts how many links one record crosses until it is read or written, for compositions of compute,
// data and storage.
//
// # Source
//
// F. Pace, "Mechanisms for Efficient and Responsive Distributed Applications in Compute Clusters" (thesis, 2018),
// chapter 5: Table 5.1 has the ranks of five compositions, the text and Fig 5.2 the links that these go by.
//
// # The rule
//
//	layer  data that compute reads and writes, and below it the storage that data lies on: near, on the same machine, or
//	       far
//	read   2 links for each far layer, there and back; 2 more through a proxy
//	write  1 link to a far layer, 1 to each copy beyond the first, 1 for the acknowledgement, 1 more through a proxy;
//	       each copy writes the layer below by the same rule. One copy on a near layer costs nothing.
//	rank   1 for the fewest links; compositions with as many links have one rank
//
// It knows neither how fast links and disks are nor who else uses them: the run times of the source's Table 5.3 differ
// within a rank. The functions are pure.
package distance
