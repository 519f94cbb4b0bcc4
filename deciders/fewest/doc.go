// Package fewest decides how many executors the driver of an application asks another cluster manager for, and which
// of those that it has it gives back.
//
// # Concepts
//
//	attached  an application whose executors another cluster manager starts
//	forecast  when it ends at all cores of so many executors, from where it stands
//	wanted    how many it asks for in all
//	spare     it has more than it needs
//
// Executors that are asked for come later, and maybe not all: they count from a minute on. So what is wanted is the
// fewest executors by which the forecast keeps the deadline with a margin, between the least and the most that its user
// allows. An application asks for more when the forecast keeps the deadline barely any more, and gives some back when
// fewer have been enough for 30 seconds. There are two margins, so that it does not ask and give back by turns. An
// application whose end cannot be foretold, without a profile or a deadline or not paced, has what its user has asked
// for; so has an application whose queries and jobs have a bound besides.
//
// # What the caller must do
//
// Call First for one that comes and Decide every few seconds; record what they return.
package fewest
