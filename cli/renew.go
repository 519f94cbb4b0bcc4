package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
)

// asking asks the planner one thing.
type asking func(api.Verb, api.ControlRequest) (api.ControlReply, error)

// drawing prints what there is.
type drawing func(p *page, ask asking, now time.Time) error

// page is a text, with the risks of its lines that have one, counted from 0.
type page struct {
	bytes.Buffer
	risks map[int]api.Risk
}

// renewEvery is how often what is watched is asked for again.
const renewEvery = time.Second

// print draws once or, with on, until c is interrupted: on a terminal a page takes the place of the last one, elsewhere
// it is printed where it has changed. A planner that is away for a while is told, and asked again.
func (draw drawing) print(c *cobra.Command, sh *shell, on bool) error {
	conn, done, err := sh.dial(c.Context())
	if err != nil {
		return err
	}
	defer done()
	ask := func(verb api.Verb, r api.ControlRequest) (api.ControlReply, error) {
		ctx, cancel := context.WithTimeout(c.Context(), requestTimeout)
		defer cancel()
		return conn.Control(ctx, verb, r)
	}
	if !on {
		var p page
		if err := draw(&p, ask, sh.now); err != nil {
			return err
		}
		_, err := sh.Stdout.Write(p.Bytes())
		return err
	}
	screen := screenOf(sh.Stdout, sh.getenv)
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for last := ""; ; {
		var p page
		err := draw(&p, ask, time.Now().In(sh.now.Location()))
		switch {
		case c.Context().Err() != nil:
			return nil
		case api.KindOf(err) == api.KindTransient:
			p = page{}
			fmt.Fprintln(&p, err)
		case err != nil:
			return err
		}
		if text := p.String(); text != last {
			screen.show(sh.Stdout, &p)
			last = text
		}
		select {
		case <-c.Context().Done():
			return nil
		case <-tick.C:
		}
	}
}

// screen is the terminal that standard output is, or none.
type screen struct {
	file *os.File
	// colours says that risks have colours there.
	colours bool
}

func screenOf(w io.Writer, getenv func(string) string) screen {
	if f, ok := command.Raw(w).(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return screen{f, getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"}
	}
	return screen{}
}

// size is how many columns and lines there are, 0 where there is no terminal.
func (s screen) size() (columns, lines int) {
	if s.file == nil {
		return 0, 0
	}
	columns, lines, err := term.GetSize(int(s.file.Fd()))
	if err != nil {
		return 80, 24
	}
	return columns, lines
}

// Sequences of a terminal (ECMA-48): to its first place, and what is right of the cursor or below it is cleared.
const (
	toHome, clearRight, clearBelow = "\x1b[H", "\x1b[K", "\x1b[J"
	red, yellow, plainText         = "\x1b[31m", "\x1b[33m", "\x1b[0m"
)

// show prints p on w, or on the terminal from its first line on, as much as has room there.
func (s screen) show(w io.Writer, p *page) {
	columns, lines := s.size()
	if columns == 0 {
		fmt.Fprintf(w, "%s\n", p.Bytes())
		return
	}
	shown := strings.Split(strings.TrimSuffix(p.String(), "\n"), "\n")
	var out strings.Builder
	out.WriteString(toHome)
	for i, line := range shown[:min(len(shown), max(1, lines-1))] {
		line = command.Visible(line)
		if r := []rune(line); len(r) > columns {
			line = string(r[:columns])
		}
		out.WriteString(s.coloured(line, p.risks[i]) + clearRight + "\n")
	}
	out.WriteString(clearBelow)
	_, _ = io.WriteString(s.file, out.String()) // A terminal that is gone ends the program by its signal.
}

func (s screen) coloured(line string, r api.Risk) string {
	colour := map[api.Risk]string{api.RiskLate: red, api.RiskTight: yellow}[r]
	if !s.colours || colour == "" {
		return line
	}
	return colour + line + plainText
}
