package review

import (
	"context"
	"fmt"
	"io"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/history"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/view"
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
	extras := extrasOf(s, record.Settings.Seed)
	if extras.Timeline, err = history.Outline(ctx, store, record.ID); err != nil {
		return err
	}
	people := &history.Agents{Store: store, Record: record, Program: s.Program(record.Settings.Seed)}
	extras.Transcript = func(ctx context.Context) (view.Transcript, error) {
		return people.Transcript(ctx, view.TranscriptQuery{Agent: -1, Cycle: -1, Most: reportedLines})
	}
	if extras.Voices, err = Voices(ctx, people); err != nil {
		return err
	}
	if s.Against != nil {
		if extras.Real, err = validated(ctx, store, &record, s, s.Against); err != nil {
			return err
		}
	}
	if how.Audit {
		found, err := Audit(ctx, store, record.ID)
		if err != nil {
			return err
		}
		extras.Audit = &report.Audit{Summary: found.Summary(), Equal: found.Equal()}
	}
	if how.Against != "" {
		if extras.Against, err = against(ctx, store, record.ID, how.Against); err != nil {
			return err
		}
	}
	if extras.Agreement, err = Agreement(ctx, store, record.ID); err != nil {
		return err
	}
	return report.Write(ctx, w, store, record.ID, extras)
}

// Curves returns the charts of runs, to compare them.
func Curves(ctx context.Context, store *sqlite.Store, runs []engine.RunID) ([]*view.Curves, error) {
	var all []*view.Curves
	for _, run := range runs {
		record, err := store.Run(ctx, run)
		if err != nil {
			return nil, err
		}
		s, err := scenario.Restore(record.Source)
		if err != nil {
			return nil, fmt.Errorf("the scenario stored with run %s: %w", record.ID, err)
		}
		c, err := report.Curves(ctx, store, record.ID, s.Clock)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// Details returns what a report shows of a run in addition to its record and totals.
func Details(ctx context.Context, store *sqlite.Store, run engine.RunID) (*view.Details, error) {
	record, err := store.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	s, err := scenario.Restore(record.Source)
	if err != nil {
		return nil, fmt.Errorf("the scenario stored with run %s: %w", record.ID, err)
	}
	return report.Details(ctx, store, record.ID, extrasOf(s, record.Settings.Seed))
}

func extrasOf(s *scenario.Scenario, seed uint64) report.Extras {
	program := s.Program(seed)
	graph := program.Graph()
	return report.Extras{
		Version: about.Version(), Agent: program.AgentID, Calls: view.StepCalls(&graph), Clock: s.Clock, Acted: s.Acted, Persona: program.Persona,
		Population: s.Population(),
	}
}

// reportedLines is how many lines of the transcript a report has, roughly.
const reportedLines = 300

// against compares a run with another one.
func against(ctx context.Context, store *sqlite.Store, run, other engine.RunID) (*report.Comparison, error) {
	c, err := Compare(ctx, store, Single(other, run), 0, 0)
	if err != nil {
		return nil, err
	}
	first := c.Groups[0].Runs[0]
	out := &report.Comparison{Run: first, From: c.From, To: c.To, Differences: c.Groups[1].Differences, Method: c.Method()}
	if out.Totals, err = store.Totals(ctx, first.ID); err != nil {
		return nil, err
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		out.Rows = append(out.Rows, report.ComparedRow{
			Group: r.Kind.Title(), Name: r.Name, Other: r.Value(0), This: r.Value(1), Difference: r.Difference(0), Chance: r.Chance(0), Clear: r.Against[0].Clear(),
		})
	}
	return out, nil
}
