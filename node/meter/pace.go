package meter

// pace is the weight per second of CPU time of the tasks that finished lately: the
// rate of a stage changes while a compiler works and with the cores in use. Once
// the sums are full, what comes in takes the place of as much of what they hold.
type pace struct {
	weight, cpu         float64
	seenWeight, seenCPU float64 // Part of the finished tasks that is in the sums.
	most                int     // Tasks that ran side by side.
}

// of takes in what has finished since the last call. Before the first one, the
// prediction says that tasks of that weight take cpu.
func (p *pace) of(weight, cpu float64, stage *Stage) float64 {
	if p.cpu == 0 || stage.Weight < p.seenWeight {
		*p = pace{weight: weight, cpu: cpu}
	}
	p.most = max(p.most, stage.Running)
	if gained := stage.Weight - p.seenWeight; gained > 0 {
		keep := min(1, max(0, params.RecentRounds*float64(p.most)-gained)/p.weight)
		p.weight = keep*p.weight + gained
		p.cpu = keep*p.cpu + max(0, float64(stage.CPU)-p.seenCPU)
		p.seenWeight, p.seenCPU = stage.Weight, float64(stage.CPU)
	}
	return p.weight / p.cpu
}
