package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/profiles"
)

func profilesCommand(sh *shell) *cobra.Command {
	of := profileCommands{sh}
	return group("profiles", "List, show, store and remove profiles",
		of.list(), of.show(), of.history(), of.diff(), of.knee(), of.pin(), of.unpin(), of.put(), of.fromEventLog(), of.rm(),
		of.schema())
}

// profileCommands are the sub-commands of `pacer profiles`.
type profileCommands struct{ sh *shell }

func (of profileCommands) schema() *cobra.Command {
	return &cobra.Command{Use: "schema", Short: "Print the JSON schema of profile files", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := of.sh.Stdout.Write(api.ProfileJSONSchema())
			return err
		}}
}

func (of profileCommands) list() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List the stored profiles", Args: cobra.NoArgs,
		Long: "List the stored profiles: your own, those that are shared, and those that are nobody's\n" +
			"(docs/profile.md); an operator sees everybody's. VARIANTS are ways in which its RUNS differ, DURATION and\n" +
			"CORES those of a run at all cores, CORE-SECONDS the work of all STAGES. OWNER says \"shared\" of one that is\n" +
			"everybody's, \"taught\" of one that everybody's runs teach; VERSION is the newest, and one that is pinned."}
	form := outputFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		reply, err := of.sh.ask(c.Context(), api.VerbProfiles, api.ControlRequest{})
		if err != nil {
			return err
		}
		if form.encodes() {
			return form.print(of.sh.Stdout, map[string]any{"profiles": append([]api.ProfileSummary{}, reply.Listed...)})
		}
		rows := make([][]string, 0, len(reply.Listed))
		for _, p := range reply.Listed {
			owner := dash(p.Owner)
			if p.Shared {
				owner = "shared"
			}
			if p.Taught {
				owner += ", taught"
			}
			version := strconv.Itoa(p.Version)
			if p.Pinned > 0 {
				version += fmt.Sprintf(", %d pinned", p.Pinned)
			}
			rows = append(rows, []string{p.Name, owner, strconv.Itoa(p.Runs), strconv.Itoa(p.Variants), strconv.Itoa(p.Stages),
				seconds(p.Duration), p.Cores.String(), fmt.Sprintf("%.1f", float64(p.Work)), version})
		}
		return table(of.sh.Stdout,
			[]string{"NAME", "OWNER", "RUNS", "VARIANTS", "STAGES", "DURATION", "CORES", "CORE-SECONDS", "VERSION"}, rows)
	}
	return c
}

func (of profileCommands) show() *cobra.Command {
	c := &cobra.Command{Use: "show NAME", Short: "Print a profile", Args: cobra.ExactArgs(1),
		ValidArgsFunction: of.names}
	form := outputFlag(c)
	whose := whoseFlags(c)
	version := c.Flags().Int("version", 0, "the version of that number (default: the newest)")
	c.RunE = func(c *cobra.Command, args []string) error {
		q := api.ControlRequest{Profile: args[0], Owner: whose.owner, Shared: whose.shared}
		if *version != 0 {
			q.Query = &api.Query{To: *version}
		}
		p, err := of.one(c.Context(), q)
		if err != nil {
			return err
		}
		if *form == "table" && c.Flags().Changed("output") {
			return printProfile(of.sh.Stdout, p)
		}
		body, err := p.Encode()
		switch {
		case err != nil:
			return err
		case *form == "yaml":
			return printYAML(of.sh.Stdout, body)
		}
		_, err = of.sh.Stdout.Write(body)
		return err
	}
	c.Long = "Print a profile as the JSON that `pacer profiles put` takes, or with -o table\nits stages " +
		"(docs/profile.md): DURATION at all cores, GAP before it, " +
		"RECORDS that it reads\nand CORE-SECONDS of its work, RECORDS/CORE-SECOND " +
		"of a task alone, PARENTS that it reads from, the LONGEST TASK, and how many runs in a row it MISSED."
	return c
}

// printProfile prints each variant of p, the likeliest first.
func printProfile(w io.Writer, p api.Profile) error {
	all := p.Split()
	for i, v := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		of := []string{"name", v.Name}
		if len(all) > 1 {
			of = append(of, "variant", fmt.Sprintf("%d of %d, %.0f %% of the newest runs", i+1, len(all), 100*float64(v.Share)))
		}
		if err := printVariant(w, v, of); err != nil {
			return err
		}
	}
	return nil
}

func printVariant(w io.Writer, p api.Profile, of []string) error {
	if err := fields(w, append(of, "runs", strconv.Itoa(p.Runs), "duration", seconds(p.Duration), "cores",
		p.Cores.String(), "head", seconds(p.Head), "tail", seconds(p.Tail))...); err != nil {
		return err
	}
	rows := make([][]string, 0, len(p.Stages))
	for _, s := range p.Stages {
		var parents []string
		for _, id := range s.Parents {
			parents = append(parents, strconv.Itoa(id))
		}
		name := stageName(s.Name, 32)
		if n := p.Count(s.ID); n > 1 {
			name += fmt.Sprintf(" x%d", n)
		}
		rows = append(rows, []string{strconv.Itoa(s.ID), strconv.Itoa(s.Job), name, list(parents),
			strconv.Itoa(s.Tasks),
			seconds(s.Duration), seconds(s.Gap), strconv.FormatInt(s.Records, 10), fmt.Sprintf("%.1f", float64(s.CoreSeconds)),
			fmt.Sprintf("%.0f", float64(s.NominalRate)), seconds(s.LongestTask), strconv.Itoa(s.Missed)})
	}
	return table(w, []string{"STAGE", "JOB", "NAME", "PARENTS", "TASKS", "DURATION", "GAP", "RECORDS", "CORE-SECONDS",
		"RECORDS/CORE-SECOND", "LONGEST TASK", "MISSED"}, rows)
}

func (of profileCommands) put() *cobra.Command {
	c := orders(&cobra.Command{
		Use: "put FILE|-", Short: "Store a profile under the name it holds", Args: cobra.ExactArgs(1),
		Long: "Store a profile under the name it holds, as your own; one that the launcher of xSpark has written\n" +
			"(NAME-app.json) under NAME. With --shared it counts for everybody\n" +
			"who has none of that name: their first run makes their own of it. With --taught, too, their runs\n" +
			"teach it for everybody. Both are an operator's to say.",
	})
	shared := c.Flags().Bool("shared", false, "share it with everybody")
	taught := c.Flags().Bool("taught", false, "have everybody's runs teach it, with --shared")
	name := c.Flags().String("name", "", "store it under this name (default: the one it holds)")
	c.RunE = func(c *cobra.Command, args []string) error {
		p, err := readProfile(of.sh.Stdin, args[0])
		p.Name = cmp.Or(*name, p.Name)
		if err != nil {
			return err
		}
		if p.Taught = *taught; p.Taught && !*shared {
			return command.Usagef("--taught: only a profile that is put with --shared is taught by all")
		}
		return of.sh.order(c, api.VerbProfilePut, api.ControlRequest{Profile: p.Name, Body: &p, Shared: *shared})
	}
	return c
}

// whose says which of the profiles of a name is meant.
type whose struct {
	owner  string
	shared bool
}

func whoseFlags(c *cobra.Command) *whose {
	var w whose
	c.Flags().StringVar(&w.owner, "owner", "",
		"the user whose profile it is (default: your own, else the one that is everybody's)")
	c.Flags().BoolVar(&w.shared, "shared", false, "the one that is everybody's")
	c.MarkFlagsMutuallyExclusive("owner", "shared")
	return &w
}

// readProfile reads and checks a profile file, "-" for standard input: one of Pacer, or of the source's launcher, which
// has its file's name.
func readProfile(in io.Reader, path string) (api.Profile, error) {
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return api.Profile{}, command.Usagef("profile: %w", err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return api.Profile{}, fmt.Errorf("%s: %w", path, err)
	}
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".json"), "-app")
	if path == "-" {
		name = "profile"
	}
	p, err := profiles.Read(text, name)
	if err != nil {
		return api.Profile{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

func (of profileCommands) rm() *cobra.Command {
	c := orders(&cobra.Command{
		Use: "rm NAME", Short: "Remove a profile: the next run records a new one", Args: cobra.ExactArgs(1),
		ValidArgsFunction: of.names,
	})
	whose := whoseFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return of.sh.order(c, api.VerbProfileRm,
			api.ControlRequest{Profile: args[0], Owner: whose.owner, Shared: whose.shared})
	}
	return c
}

// one asks the planner for the profile that q is about.
func (of profileCommands) one(ctx context.Context, q api.ControlRequest) (p api.Profile, err error) {
	reply, err := of.sh.ask(ctx, api.VerbProfile, q)
	if err == nil && len(reply.Profiles) != 1 {
		err = fmt.Errorf("the planner's answer about profile %s holds %d profiles", q.Profile, len(reply.Profiles))
	}
	if err != nil {
		return p, err
	}
	return reply.Profiles[0], nil
}

// names offers the names of profiles to the shell's completion.
func (of profileCommands) names(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return complete(c, of.sh, args, api.VerbProfiles, func(r *api.ControlReply) []api.ProfileSummary { return r.Listed },
		func(p api.ProfileSummary) string { return p.Name })
}

// withProfile calls ask with the profile that a user means by text: the stored one of that name or,
// where ask knows none, the content of the file of that name. A text that begins with ./ or ../ is a file in any case,
// "-" is what in reads.
func withProfile(in io.Reader, text string, ask func(name string, body *api.Profile) error) error {
	var unknown error
	if text != "-" && !strings.HasPrefix(text, "./") && !strings.HasPrefix(text, "../") {
		unknown = ask(text, nil)
		if _, err := os.Stat(text); api.KindOf(unknown) != api.KindNotFound || err != nil {
			return unknown
		}
	}
	p, err := readProfile(in, text)
	switch {
	case err == nil:
		return ask(p.Name, &p)
	case unknown != nil:
		return fmt.Errorf("%w; nor is it a profile file: %w", unknown, err)
	}
	return err
}
