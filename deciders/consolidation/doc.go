// Package consolidation empties machines without anybody in the middle, as GLAP does: M. Khelghatdoust, "Scalable and
// distributed resource management protocols for cloud and big data clusters" (PhD thesis, University of Sydney 2018),
// chapter 4.
//
//	machine      what hosts VMs; for a planner a node
//	VM           what can move from one machine to another; for a planner an executor
//	level        a part of a resource that is used, in nine steps from Low to Overload
//	state        the levels of CPU and memory of a machine; an action is the state of a VM that would move
//	Out, In      what it is worth to hand on a VM of such a state, and to be given one (10.2 of the thesis's model)
//	exchange     two machines meet, and one of them hands VMs on to the other (Algorithm 4)
//	refused      of an exchange: the best VM may not move, which ends it
//
// # Units
//
// A Use is a part of a whole, 1 is all of it: of the machine, or of what a VM was given.
//
// # Equations
//
//	Q(s,a) = (1 - alpha) Q(s,a) + alpha (R(s') + gamma max Q(s',.))   Tables, by Learn (Algorithm 2)
//	both know (s,a): the mean of both; one does: the other copies it     Average (Algorithm 3)
//	hand on the VM of the greatest Out(s,.) while In(s of the other, a) >= 0   Config.HandOver (Algorithm 4)
//
// States before a move and actions are of running means, states after it of what is used now: so the tables learn how
// often what looks well in the mean turns into overload.
//
// # What the caller must do
//
// Draw: a function that returns a number from 0 to below n. Nothing here is kept but what the caller keeps: Tables, and
// a Mean for each VM, which moves with it. Call it from any goroutine, with Tables that no other one has.
package consolidation
