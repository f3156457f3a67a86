package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/storage/sqlite"
)

// printForecast says what a run would take, where it will not fit, and how that is known.
func printForecast(w io.Writer, f *engine.Forecast, set *engine.Settings) {
	governor := set.Governor
	if governor == "" {
		governor = engine.Manual
	}
	rowf(w, "\nforecast\t%s at once at first, %s\n", engine.FormatCount(int64(set.Limit)), governor)
	for _, line := range f.Lines() {
		text := line.Text
		if line.Name == "cycle" && f.Binds != "" {
			text += "; bound by " + f.Binds
		}
		rowf(w, "%s\t%s\n", line.Name, text)
	}
	rowf(w, "known\t%s\n", f.From())
	for _, advice := range f.Advice {
		rowf(w, "note\t%s\n", advice)
	}
}

// forecast says what a launch would take. A store that is not there yet is not made for it.
func (t *terminal) forecast(ctx context.Context, l app.Launch) (f engine.Forecast, err error) {
	l.Data, l.Cores = t.data, t.hooks.cores
	var store *sqlite.Store
	if sqlite.Exists(t.data) {
		if store, err = sqlite.Open(t.data, sqlite.Options{OnGone: t.storeOptions().OnGone, Logger: slog.New(slog.DiscardHandler)}); err != nil {
			return f, err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
	}
	if err := l.Population().TakeKept(); err != nil {
		return f, err
	}
	taking, err := l.Forecaster().Workload(ctx)
	if err != nil {
		return f, err
	}
	return l.Forecaster().Forecast(app.NewEarlierRuns(store).Find(ctx, l.Forecaster()), taking), nil
}

// compared prints the forecast next to the actual values.
func (t *terminal) compared(w io.Writer, r *engine.RunRecord, totals *engine.Totals) {
	facts := r.Compare(totals)
	if len(facts) == 0 {
		return
	}
	fmt.Fprintf(t.out, "Forecast and actual values (the forecast was %s)\n", r.Forecast.From())
	for _, f := range facts {
		if f.Fact == "" {
			continue
		}
		rowf(w, "  %s\t%s\t%s\t%s\n", f.Name, f.Forecast, f.Fact, f.Difference)
	}
}

// followed returns a record with the ending of its run, which the store learns from the journal.
func followed(r engine.RunRecord, result *run.Result, s *engine.Snapshot) *engine.RunRecord {
	r.Ending, r.Cycle = result.Ending, s.Cycle
	return &r
}

// inOneLine is a forecast before the start of a run.
func inOneLine(f *engine.Forecast) string {
	return strings.Join(append([]string{"forecast: " + f.String()}, f.Advice...), "\nnote: ")
}
