package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/history"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/throngctl/internal/file"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/engine/visible"
	"github.com/throng-sim/throng/storage/sqlite"
)

// transcriptCmd prints what the agents of a run said.
type transcriptCmd struct {
	RunID string `arg:"" optional:"" name:"run" help:"Run ID or its beginning, or a name (default: the newest run)."`
	Agent string `placeholder:"A" help:"Only this agent: its ID, or its index from 0."`
	Cycle *int   `placeholder:"N" help:"Only this cycle, from 0."`
	Find  string `placeholder:"TEXT" help:"Only lines that contain this text."`
	jsonFlag
	Prompts bool   `help:"Also print the prompts."`
	Voices  bool   `help:"Print how different the answers of agents are, and warn if they speak with one voice."`
	CSV     string `name:"csv" placeholder:"FILE" help:"With --voices: write the figures to this file."`
}

// transcriptPage is how many lines a page has.
const transcriptPage = 500

// Run is called by kong.
func (c *transcriptCmd) Run(ctx context.Context, t *terminal) error {
	return t.with(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		if err := review.CheckHere(&r); err != nil {
			return err
		}
		people, err := history.LoadAgents(ctx, store, r.ID)
		if err != nil {
			return err
		}
		if c.CSV != "" && !c.Voices {
			return &engine.FieldError{Field: "csv", Problem: "only the figures of --voices can be written as CSV", Hint: "throngctl export --what requests writes what was said"}
		}
		if c.Voices {
			return c.voices(ctx, t, people)
		}
		q := view.TranscriptQuery{Agent: -1, Cycle: -1, Text: c.Find, Most: transcriptPage}
		if c.Agent != "" {
			if q.Agent, err = find(people.Program, c.Agent); err != nil {
				return err
			}
		}
		if c.Cycle != nil {
			q.Cycle = max(*c.Cycle, 0)
		}
		return c.pages(ctx, t, people, q)
	})
}

// voices prints how different the answers are.
func (c *transcriptCmd) voices(ctx context.Context, t *terminal, people *history.Agents) error {
	if c.Agent != "" || c.Cycle != nil || c.Find != "" || c.Prompts {
		return &engine.FieldError{Field: "voices", Problem: "it compares all answers", Hint: "leave out --agent, --cycle, --find and --prompts"}
	}
	crowd, err := review.Voices(ctx, people)
	if err == nil && c.CSV != "" {
		err = file.WriteCSV(c.CSV, crowd.Sheet())
	}
	if err == nil && t.json {
		return t.print(crowd)
	} else if err == nil {
		err = show.Voices(t.out, crowd)
	}
	return err
}

// pages prints the transcript page by page.
func (c *transcriptCmd) pages(ctx context.Context, t *terminal, people *history.Agents, q view.TranscriptQuery) error {
	p := transcriptPrinter{out: t.out, prompts: c.Prompts, cycle: -1}
	for {
		page, err := people.Transcript(ctx, q)
		if err != nil {
			return err
		}
		for i := range page.Lines {
			if t.json {
				err = t.line(&page.Lines[i])
			} else {
				err = p.print(&page.Lines[i])
			}
			if err != nil {
				return err
			}
		}
		if q.From = page.Next; page.More {
			continue
		}
		switch {
		case t.json:
		case page.Note != "":
			fmt.Fprintln(t.err, page.Note)
		case !p.any && c.Find != "":
			fmt.Fprintf(t.out, "No line contains %q.\n", c.Find)
		case !p.any:
			fmt.Fprintln(t.out, "Nothing was said. Transcripts have the answers of models, the messages between agents, and events.")
		}
		return nil
	}
}

// transcriptPrinter prints lines, with a heading above those of a session.
type transcriptPrinter struct {
	out     io.Writer
	prompts bool
	any     bool
	id      string
	cycle   int
	take    int
}

func (p *transcriptPrinter) print(l *view.Line) error {
	if !p.any || p.id != l.ID || p.cycle != l.Cycle || p.take != l.Take {
		gap := "\n"
		if !p.any {
			gap = ""
		}
		heading := fmt.Sprintf("%s%s, cycle %d", gap, visible.Line(l.ID), l.Cycle)
		if l.Take > 0 {
			heading += fmt.Sprintf(", take %d", l.Take+1)
		}
		fmt.Fprintln(p.out, heading)
		p.any, p.id, p.cycle, p.take = true, l.ID, l.Cycle, l.Take
	}
	if p.prompts && l.Prompt != "" {
		fmt.Fprintf(p.out, "  (%s)\n", indented(l.Prompt, "   "))
	}
	_, err := fmt.Fprintf(p.out, "  %s\n", indented(l.Sentence(), "    "))
	return err
}

// indented indents the lines of a text after the first.
func indented(text, by string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+by)
}
