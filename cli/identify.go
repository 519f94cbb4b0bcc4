package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/units"
)

// identified is what a step response says of one executor.
type identified struct {
	Executor api.ExecutorID `json:"executor"`
	// P is the pole per tick (Eq 8), CoreSeconds what the executor's share of the
	// stage takes by Kf, Fit and Points are controller.Identified's.
	P           float64    `json:"p"`
	CoreSeconds units.Work `json:"core_seconds"`
	Fit         float64    `json:"fit"`
	Points      int        `json:"points"`
	// Fault says why there is nothing; the other fields are 0 then.
	Fault string `json:"fault,omitempty"`
}

func identifyCommand(sh *shell) *cobra.Command {
	step := api.Step{}
	each, settle := 10*time.Second, 1500*time.Millisecond
	c := &cobra.Command{
		Use: "identify ID", Short: "Find p and Kf of a running stage by a step response", Args: cobra.ExactArgs(1),
		ValidArgsFunction: sh.completeApps,
		Long: "Hold a running stage of a paced application at two levels of cores, one after the\n" +
			"other, and fit Eq 8 to its progress: p, the pole per tick, and Kf as the\n" +
			"core-seconds that an executor's share of the stage takes. The control law makes up\n" +
			"for the disturbance afterwards. A fit below 0.5 says next to nothing about p.",
	}
	form := outputFlag(c)
	c.Flags().IntVar(&step.Stage, "stage", -1, "id of the stage; -1: the only one that runs")
	c.Flags().Float64Var(&step.Low, "low", 0.6, "first level, times what the stage asks for")
	c.Flags().Float64Var(&step.High, "high", 1.4, "second level, times what the stage asks for")
	c.Flags().DurationVar(&each, "each", each, "how long each level is held")
	c.Flags().DurationVar(&settle, "settle", settle, "how long the nodes' last samples are awaited")
	c.RunE = func(c *cobra.Command, args []string) error {
		step.Each = units.FromDuration(each)
		cfg, err := sh.Config()
		if err != nil {
			return err
		}
		reply, err := sh.ask(c.Context(), api.VerbStep, api.ControlRequest{App: api.AppID(args[0]), Step: &step})
		if err != nil {
			return err
		}
		if reply.Step == nil {
			return fmt.Errorf("the planner's answer about %s is empty", args[0])
		}
		if !form.encodes() {
			fmt.Fprintln(sh.Stdout, reply.Message)
		}
		if err := wait(c.Context(), 2*reply.Step.Each.Duration()+settle); err != nil {
			return err
		}
		app, err := sh.app(c, args[0])
		if err != nil {
			return err
		}
		found := identify(app, *reply.Step, cfg.Node.Engine.Interval)
		if form.encodes() {
			return form.print(sh.Stdout, found)
		}
		return printIdentified(sh.Stdout, found)
	}
	return c
}

// wait lets d pass unless ctx ends before.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// settled is how long before a step its samples begin to count: the level from which
// it sets out belongs to the response.
const settled units.Seconds = 2

// identify fits the plant of each executor of the stage to its samples of the step.
func identify(app *api.AppDetail, step api.Step, q time.Duration) []identified {
	found := []identified{}
	for _, s := range app.Stages {
		if s.Stage != step.Stage || s.Start > step.At {
			continue
		}
		responses := make(map[api.ExecutorID][]controller.Response)
		grants := make(map[api.ExecutorID]units.Cores)
		for _, sample := range s.Samples {
			id := sample.Executor
			// A sample's grant is in force from then on: what it has done came of the
			// one before.
			before, known := grants[id]
			grants[id] = sample.Grant
			if known && before > 0 && sample.At >= step.At-settled && sample.At <= step.At+2*step.Each {
				responses[id] = append(responses[id], controller.Response{At: sample.At, Cores: before,
					Done: float64(sample.Progress)})
			}
		}
		for _, id := range s.Executors {
			found = append(found, fitted(id, responses[id], q))
		}
	}
	return found
}

func fitted(id api.ExecutorID, points []controller.Response, q time.Duration) identified {
	plant, err := controller.Identify(points, q)
	if err != nil {
		return identified{Executor: id, Points: len(points), Fault: err.Error()}
	}
	return identified{Executor: id, P: plant.P, CoreSeconds: units.Work(1 / plant.Gain), Fit: plant.Fit,
		Points: plant.Points}
}

func printIdentified(w io.Writer, found []identified) error {
	rows := make([][]string, 0, len(found))
	for _, f := range found {
		if f.Fault != "" {
			rows = append(rows, []string{string(f.Executor), "", "", "", strconv.Itoa(f.Points), f.Fault})
			continue
		}
		rows = append(rows, []string{string(f.Executor), fmt.Sprintf("%.2f", f.P),
			fmt.Sprintf("%.2f", float64(f.CoreSeconds)),
			fmt.Sprintf("%.2f", f.Fit), strconv.Itoa(f.Points), ""})
	}
	return table(w, []string{"EXECUTOR", "P", "CORE-SECONDS", "FIT", "POINTS", "FAULT"}, rows)
}
