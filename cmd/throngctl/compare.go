package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/file"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/cmd/throngctl/internal/study"
	"github.com/throng-sim/throng/engine"
)

// compareCmd compares runs, or groups of runs.
type compareCmd struct {
	RunIDs     []string `arg:"" optional:"" name:"run" help:"Run IDs or their beginnings, or names; all are compared with the first, and a single one with real data (default: the newest run). Commas join runs with different seeds: A1,A2,A3 B1,B2,B3."`
	Replicates bool     `help:"Compare each run together with all others that have the same setup and another seed."`
	From       int      `placeholder:"C" help:"First cycle, from 0."`
	To         int      `placeholder:"C" help:"Cycle to stop before."`
	Cycles     bool     `help:"Also compare each cycle."`
	jsonFlag
	study.Real
	CSV string `name:"csv" placeholder:"FILE" help:"Write the results of each cycle to this file, or the figures of the comparison with real data."`
}

// Run is called by kong.
func (c *compareCmd) Run(ctx context.Context, t *terminal) (err error) {
	store, err := t.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if c.RunIDs, err = orNewest(ctx, store, c.RunIDs); err != nil {
		return err
	}
	groups := make([][]engine.RunID, len(c.RunIDs))
	for i, group := range c.RunIDs {
		if groups[i], err = pickAll(ctx, store, group); err != nil {
			return err
		}
	}
	if c.Asked() || len(c.RunIDs) == 1 && !c.Replicates && !strings.Contains(c.RunIDs[0], ",") {
		found, err := c.Compare(ctx, store, c.RunIDs, !c.Replicates && !c.Cycles && c.From == 0 && c.To == 0)
		if err == nil && c.CSV != "" {
			err = file.WriteCSV(c.CSV, found.Sheet())
		}
		if err == nil && t.json {
			return t.print(answer.NewValidation(engine.RunID(c.RunIDs[0]), found))
		} else if err == nil {
			err = show.Validation(t.out, found)
		}
		return err
	}
	for i, group := range c.RunIDs {
		if c.Replicates {
			if len(groups[i]) > 1 {
				return &engine.FieldError{Field: "replicates", Problem: group + " names several runs, and --replicates finds them itself", Hint: "name one run of each setup, or leave out --replicates"}
			}
			if groups[i], err = review.Replicates(ctx, store, groups[i][0]); err != nil {
				return err
			}
		}
	}
	compared, err := review.Compare(ctx, store, groups, c.From, c.To)
	if err != nil {
		return err
	}
	if c.CSV != "" {
		if err := file.Write(c.CSV, func(w io.Writer) error { return show.CyclesCSV(w, compared) }); err != nil {
			return err
		}
	}
	if t.json {
		return t.print(answer.NewComparison(compared, c.Cycles))
	}
	return show.Comparison(t.out, compared, c.Cycles)
}
