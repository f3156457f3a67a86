// Package questions has the command for surveys.
package questions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/surveys"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/file"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/survey"
	"github.com/throng-sim/throng/engine/survey/questionnaire"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Terminal is what the command needs of the program.
type Terminal struct {
	Out     io.Writer
	JSON    bool
	Data    string
	Trusted bool
	// With opens the store and finds a run by a name; "" is the newest run.
	With func(ctx context.Context, name string, f func(*sqlite.Store, engine.RunRecord) error) error
	// Execute executes a run, and exports its results to a folder unless it is "".
	Execute func(ctx context.Context, l app.Launch, export string) error
	// Export exports the results of a run to a folder, and returns the path of its report.
	Export func(ctx context.Context, store *sqlite.Store, run engine.RunID, folder string) (page string, err error)
}

// Command asks the agents of a run questions, or shows what they answered.
type Command struct {
	RunID  string   `arg:"" optional:"" name:"run" help:"Run ID or its beginning, or a name (default: the newest run)."`
	File   string   `arg:"" optional:"" help:"File of questions (default: show the answers of a survey)."`
	At     *int     `placeholder:"CYCLE" help:"Ask agents as they were at the start of this cycle (default: the newest checkpoint)."`
	Agents string   `placeholder:"EXPR" help:"Ask only agents that match this expression."`
	Export string   `placeholder:"DIR" help:"Export all answers to this folder."`
	Allow  []string `placeholder:"HOST:PORT" sep:"," help:"Address the models of the run may be called at; remembered for the file."`
	CSV    string   `name:"csv" placeholder:"FILE" help:"Write the counts with their intervals to this file."`
	JSON   bool     `name:"json" help:"Print JSON."`
}

// Run is called by kong.
func (c *Command) Run(ctx context.Context, t *Terminal) error {
	if c.File == "" && slices.Contains(scenario.Endings, filepath.Ext(c.RunID)) {
		c.RunID, c.File = "", c.RunID
	}
	if c.File == "" {
		return c.show(ctx, t)
	}
	text, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	from := survey.Written{Name: filepath.Base(c.File), Text: text}
	s, err := questionnaire.Read(from.Name, text)
	if err != nil {
		return err
	}
	var l app.Launch
	err = t.With(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) (err error) {
		cycle := survey.Newest
		if c.At != nil {
			cycle = *c.At
		}
		l, err = surveys.Launch(ctx, store, t.Data, survey.Order{Run: r.ID, Cycle: cycle, Agents: c.Agents, Survey: s, From: from}, app.Order{
			Env: os.Getenv, Trusted: t.Trusted, Allow: c.Allow,
		})
		return err
	})
	if err != nil {
		return err
	}
	of := l.Fork.Record.ID
	if err := t.Execute(ctx, l, c.Export); err != nil {
		return err
	}
	return t.With(ctx, "", func(store *sqlite.Store, r engine.RunRecord) error {
		if r.Parent != of {
			return errors.New("another run has begun since: throngctl runs lists the survey, and throngctl survey RUN shows its answers")
		}
		return t.print(ctx, store, r.ID, c.CSV, answer.PrintLine)
	})
}

// show shows the answers of a survey that has been made, and exports them if the user asks for that.
func (c *Command) show(ctx context.Context, t *Terminal) error {
	if c.At != nil || c.Agents != "" || len(c.Allow) > 0 {
		return &engine.FieldError{Field: "file", Problem: "--at, --agents and --allow are for asking", Hint: "name a file of questions, or leave them out to show the answers of a survey"}
	}
	return t.With(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		if err := t.print(ctx, store, r.ID, c.CSV, answer.Print); err != nil || c.Export == "" {
			return err
		}
		page, err := t.Export(ctx, store, r.ID, c.Export)
		if err == nil && !t.JSON {
			_, err = fmt.Fprintf(t.Out, "exported to %s; report: %s\n", c.Export, page)
		}
		return err
	})
}

// print prints the answers of a survey, and writes them to a file unless it is "".
func (t *Terminal) print(ctx context.Context, store *sqlite.Store, run engine.RunID, csv string, encode func(io.Writer, any) error) error {
	r, err := surveys.Results(ctx, store, run)
	if err != nil {
		return err
	}
	if csv != "" {
		if err := file.WriteCSV(csv, r.Sheet()); err != nil {
			return err
		}
	}
	if t.JSON {
		return encode(t.Out, answer.Survey{Run: run, Result: r})
	}
	for i := range r.Questions {
		q := &r.Questions[i]
		fmt.Fprintf(t.Out, "\n%s: %s\n", q.Name, q.Ask)
		w := show.NewTable(t.Out)
		head := q.Head()
		for i, options := 0, len(q.Groups[0].Options); i < len(head); i++ {
			if i < 2 || i >= 2+options {
				head[i] = strings.ToUpper(head[i])
			}
		}
		fmt.Fprintln(w, strings.Join(head, "\t"))
		for k := range q.Groups {
			fmt.Fprintln(w, strings.Join(q.Cells(&q.Groups[k]), "\t"))
		}
		if err := w.Flush(); err != nil {
			return err
		}
		for _, said := range q.Groups[0].Texts {
			fmt.Fprintf(t.Out, "  %q\n", said)
		}
	}
	_, err = fmt.Fprintln(t.Out, "\n"+survey.Method)
	return err
}
