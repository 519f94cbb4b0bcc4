package supervisor

// EDFPure serves applications in order of time to completion, each its request,
// until the node is depleted: EDF_pure of section 6.2 and Table 1 (earliestFirst).
const EDFPure = "edf-pure"
