package supervisor

// EDFAll gives the application with the smallest time to completion all the cores that its tasks can use, asked for or
// not, and the next one what is left. It is EDF_all of section 6.2 and Table 1. That is earliestFirst with rooms that
// end at the runnable tasks (rt of the source) rather than at the requests (strategy.beyond).
const EDFAll = "edf-all"
