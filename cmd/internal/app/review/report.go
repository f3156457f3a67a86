package review

import (
	"context"
	"fmt"
	"io"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/compare"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/report"
	"github.com/throng-sim/throng/storage/sqlite"
)

// ReportOptions select additional parts of a report.
type ReportOptions struct {
	Against engine.RunID // run to compare with; "" if there is none
	Audit   bool         // recompute the figures, and add the result
}

// Report writes the report of a run. Mistakes are *engine.FieldError values.
func Report(ctx context.Context, w io.Writer, store *sqlite.Store, run engine.RunID, how ReportOptions) error {
	record, err := store.Run(ctx, run)
	if err != nil {
		return err
	}
	if err := CheckHere(&record); err != nil {
		return err
	}
	s, err := scenario.Restore(record.Source)
	if err != nil {
		return fmt.Errorf("the scenario stored with run %s: %w", record.ID, err)
	}
	program := s.Program(record.Settings.Seed)
	beside := report.Extras{Version: about.Version(), Agent: program.AgentID, Services: servicesOf(program)}
	if how.Audit {
		found, err := Audit(ctx, store, record.ID)
		if err != nil {
			return err
		}
		beside.Audit = &report.Audit{Summary: found.Summary(), Equal: found.Equal()}
	}
	if how.Against != "" {
		if beside.Against, err = against(ctx, store, record.ID, how.Against); err != nil {
			return err
		}
	}
	return report.Write(ctx, w, store, record.ID, beside)
}

// servicesOf returns the services of steps by step path.
func servicesOf(p *scenario.Program) map[string]string {
	all := map[string]string{}
	g := p.Graph()
	g.Walk(func(s *engine.GraphStep) {
		if s.Service != "" {
			all[s.Path] = s.Service
		}
	})
	return all
}

// against compares a run with another one.
func against(ctx context.Context, store *sqlite.Store, run, other engine.RunID) (*report.Comparison, error) {
	c, err := Compare(ctx, store, []engine.RunID{other, run}, 0, 0)
	if err != nil {
		return nil, err
	}
	out := &report.Comparison{Run: c.Runs[0], From: c.From, To: c.To, Differences: c.Differences[0], Method: compare.Method(c.Paired[0])}
	if out.Totals, err = store.Totals(ctx, c.Runs[0].ID); err != nil {
		return nil, err
	}
	for _, r := range c.Rows {
		d := &r.Against[0]
		out.Rows = append(out.Rows, report.ComparedRow{
			Group: r.Kind.Title(), Name: r.Name, Other: r.Of[0].Text(r.Kind), This: r.Of[1].Text(r.Kind), Difference: d.Text(r.Kind), Chance: d.Chance(), Clear: d.Clear(),
		})
	}
	return out, nil
}
