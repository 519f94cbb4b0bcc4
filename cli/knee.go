package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
)

func (of profileCommands) knee() *cobra.Command {
	c := &cobra.Command{Use: "knee NAME", Short: "Say how large the heap of executors has to be", Args: cobra.ExactArgs(1),
		ValidArgsFunction: of.names,
		Long: "Say what runs have shown of the heap of executors: the work of each run by its heap, the smallest heap at\n" +
			"which it is not slower, and how sure that is. Runs with spark.pacer.memory.heap=auto try a smaller heap each,\n" +
			"unless they have a deadline, and end at that one. HEAP is that of a run, LIVE the\n" +
			"most that a collection has left of it, COLLECTING the part of the time with tasks that collections took,\n" +
			"CORE-SECONDS the work. VERDICT is \"good\", \"too small\" or \"out of memory\"."}
	form, whose := outputFlag(c), whoseFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		reply, err := of.sh.ask(c.Context(), api.VerbKnee,
			api.ControlRequest{Profile: args[0], Owner: whose.owner, Shared: whose.shared})
		if err == nil && reply.Knee == nil {
			err = fmt.Errorf("the planner's answer about profile %s is empty", args[0])
		}
		if err != nil {
			return err
		}
		k := reply.Knee
		if form.encodes() {
			return form.print(of.sh.Stdout, k)
		}
		if len(k.Runs) > 0 {
			rows := make([][]string, 0, len(k.Runs))
			for _, r := range k.Runs {
				verdict := "good"
				switch {
				case r.OutOfMemory:
					verdict = "out of memory"
				case r.Bad:
					verdict = "too small"
				}
				rows = append(rows, []string{r.Heap.String(), fmt.Sprintf("%.1f", float64(r.Work)), r.Live.String(),
					fmt.Sprintf("%.0f%%", 100*float64(r.Collecting)), verdict})
			}
			if err := table(of.sh.Stdout, []string{"HEAP", "CORE-SECONDS", "LIVE", "COLLECTING", "VERDICT"}, rows); err != nil {
				return err
			}
		}
		return fields(of.sh.Stdout, "advice", command.Visible(k.Advice), "how sure", command.Visible(k.Sure))
	}
	return c
}
