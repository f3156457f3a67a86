package main

import (
	"context"
	"errors"
	"io"

	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/file"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
)

// compareCmd compares runs.
type compareCmd struct {
	RunIDs []string `arg:"" name:"run" help:"Run IDs or their beginnings, or names; all are compared with the first."`
	From   int      `placeholder:"C" help:"First cycle, from 0."`
	To     int      `placeholder:"C" help:"Cycle to stop before."`
	Cycles bool     `help:"Also compare each cycle."`
	jsonFlag
	CSV string `name:"csv" placeholder:"FILE" help:"Write the results of each cycle to this file."`
}

// Run is called by kong.
func (c *compareCmd) Run(ctx context.Context, t *terminal) (err error) {
	store, err := t.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	ids := make([]engine.RunID, len(c.RunIDs))
	for i, id := range c.RunIDs {
		ids[i] = engine.RunID(id)
	}
	compared, err := review.Compare(ctx, store, ids, c.From, c.To)
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
