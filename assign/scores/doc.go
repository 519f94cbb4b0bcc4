// Package scores says how well a queue has done: how many deadlines were met, what work that was, what work was wasted,
// and how alike the shares of the applications are (E. Dimopoulos, "Resource Allocation in Multi-analytics,
// Resource-Constrained Environments", PhD thesis, 2018, sections 5.4.1 to 5.4.3).
//
//	SDR          runs that met their deadline / all runs
//	PTR          sum of T over runs that met / sum of T over all
//	WTR          sum of what runs that did not meet have used / sum of T over all, as its text uses it
//	WTR printed  sum of T over runs that did not meet / sum of T over all, which is 1 - PTR
//	Jain(F)      (sum F_i)^2 / (n sum F_i^2): 1 where all are alike, 1/n where one has all
//	fairness     Jain of F_i = min(1, A_i / D_i)
//	equality     Jain of F_i = A_i within each class of equal D_i, the mean of the classes by their size
//
// T is the work of a run, A what an application has, D what it asks for; of one that waits A is 0. The source averages
// fairness and equality over intervals of a minute. All functions are pure.
package scores
