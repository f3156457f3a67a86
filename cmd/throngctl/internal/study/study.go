// Package study answers questions about studies with models: how a run compares with real data.
package study

import (
	"context"

	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/validation"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Real is what a command line says about real data.
type Real struct {
	With    string   `placeholder:"FILE" help:"Compare one run with real data: a CSV file with a header (default: the file that validate_against of the scenario names)."`
	Measure []string `placeholder:"COLUMN=FIGURE" sep:"none" help:"Column of the real data and the figure of the run to compare it with, such as spend=events.purchase.total.sum. May be repeated (default: validate_against of the scenario, or columns with names of figures)."`
}

// Asked reports whether flags ask for a comparison with real data.
func (r *Real) Asked() bool { return r.With != "" || len(r.Measure) > 0 }

// Compare compares one run with real data. Whole reports whether nothing else was asked for. A mistake is a *engine.FieldError or a
// *scenario.Mistakes.
func (r *Real) Compare(ctx context.Context, store *sqlite.Store, runs []string, whole bool) (*validation.Result, error) {
	if len(runs) != 1 || !whole {
		return nil, &engine.FieldError{Field: "with", Problem: "real data is compared with one run as a whole", Hint: "name one run, and leave out --replicates, --cycles, --from and --to"}
	}
	var real review.RealData
	if r.With != "" {
		var err error
		if real, err = review.ReadRealData(r.With); err != nil {
			return nil, err
		}
	}
	real.Measures = r.Measure
	return review.Validate(ctx, store, engine.RunID(runs[0]), real)
}
