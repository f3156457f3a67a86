package show

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage"
)

// latencies prints how long sessions took and waited.
func latencies(row func(name, format string, args ...any), s *engine.Snapshot) {
	row("latency", "mean %s, p50 %s, p95 %s, p99 %s, longest %s", engine.FormatDuration(s.Latency.Mean), engine.FormatDuration(s.Latency.P50), engine.FormatDuration(s.Latency.P95), engine.FormatDuration(s.Latency.P99), engine.FormatDuration(s.Latency.Max))
	if f := &s.Flow; f.Parallel+f.Sequential > 0 {
		row("steps", "%s in parallel, %s in sequence, %s failed, %s timed out", engine.FormatCount(f.Parallel), engine.FormatCount(f.Sequential),
			engine.FormatCount(f.Failed), engine.FormatCount(f.TimedOut))
		row("speed-up", "%s", speedUp(s))
	}
	row("waits", "queued p50 %s, p95 %s; throttled p50 %s, p95 %s", engine.FormatDuration(s.Queue.P50), engine.FormatDuration(s.Queue.P95),
		engine.FormatDuration(s.Throttled.P50), engine.FormatDuration(s.Throttled.P95))
}

// ending says how and when a run ended, and why.
func ending(s *engine.Snapshot, r *run.Result) string {
	text := fmt.Sprintf("%s after %s", r.Ending, engine.FormatDuration(s.Elapsed))
	if s.Survey && r.Reason == engine.AllDone { // its only cycle
		return text
	}
	return Join(": ", text, r.Reason)
}

// ended prints how many sessions ended and how or, of a survey, how many agents were asked.
func ended(row func(name, format string, args ...any), s *engine.Snapshot) {
	if s.Survey {
		row("agents", "%s%s", view.DoneIn(s), outcomes(s))
	} else {
		row("sessions", "%s%s", engine.FormatCount(s.Ended), outcomes(s))
	}
	if s.Cut > 0 {
		row("canceled", "%s, which run again on resume", engine.FormatCount(s.Cut))
	}
}

// cycleTimes prints how long the run's own cycles took. A survey is one cycle, as long as the run.
func cycleTimes(row func(name, format string, args ...any), s *engine.Snapshot, r *run.Result, own int) {
	if s.Survey {
		return
	}
	if own > 1 {
		row("cycle time", "mean %s", engine.FormatDuration(r.Totals.Peaks.Worked/time.Duration(own)))
	}
	row("slowest cycle", "%s", engine.FormatDuration(r.Totals.Peaks.Cycle))
}

// Summary prints the results of a run.
func Summary(out io.Writer, job *app.Job, r *run.Result) {
	s := job.Run.Snapshot()
	fmt.Fprintf(out, "\n%s\n", ending(s, r))
	w := NewTable(out)
	row := func(name, format string, args ...any) {
		Row(w, "  %s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	ended(row, s)
	row("requests", "%s, %s retries, %s refused (429)", engine.FormatCount(s.Requests), engine.FormatCount(s.Retries), engine.FormatCount(s.RateLimited))
	if s.Usage != (engine.Usage{}) {
		row("model calls", "%s", view.FormatUsage(&s.Usage))
	}
	if spent := s.Budget.Describe(s.Elapsed); spent != "" {
		row("budget", "%s", spent)
	}
	row("events", "%s", engine.FormatCount(s.Events))
	latencies(row, s)
	if held := view.FormatWaits(&s.Waits); held != "" {
		row("throttled", "%s", held)
	}
	if o := &s.Overhead; o.Times.Sum() > 0 {
		row("time spent", "%s", health.DescribeTimes(&o.Times))
		if took := health.DescribeMachine(o); took != "" {
			row("machine", "%s", took)
		}
		if late := max(s.Late.Tick, s.Late.Core); late > 0 {
			row("timer lag", "up to %s; latencies may read high", engine.FormatDuration(late))
		}
	}
	if b := health.FindBottleneck(&s.Overhead, s.Limit, s.Binds); b.Kind != health.Unbound {
		row("limited by", "%s; %s", b, b.Advice)
	}
	if s.Arrivals != "" {
		row("arrivals", "%s; latency counts from the intended start", s.Arrivals)
	}
	cycleTimes(row, s, r, s.Cycle-job.Record.ForkCycle)
	if s.WritesPerSec > 0 {
		row("writes", "%s/s", engine.FormatCount(int64(math.Round(s.WritesPerSec))))
	}
	if n := r.Totals.Peaks.Stored; n > 0 {
		row("storage", "%s", engine.FormatBytes(n))
	}
	if r.Totals.Peaks.Lag > 0 {
		row("behind schedule", "%s at most", engine.FormatDuration(r.Totals.Peaks.Lag))
	}
	if text := repeats(s); text != "" {
		row("repeated", "%s", text)
	}
	if n := s.Labels[engine.Recorded]; n > 0 {
		row("recorded steps", "%s answered from the recording of run %s", engine.FormatCount(n), job.Run.Settings().Replay)
	}
	if names := job.Record.Source.Mocked(); len(names) > 0 {
		row("not defined", "%s: the mock answered instead", strings.Join(names, ", "))
	}
	if failed, err := review.Failures(&r.Totals, job.Program.AgentID); err == nil && failed != "" {
		row("failed agents", "%s", failed)
	}
	row("result", "%s", s.Inexact)
	_ = w.Flush() // output to a terminal
	for _, e := range s.Errors {
		if !e.Known() {
			fmt.Fprintf(out, "  %s × %d\n", e.Class, e.Count)
			continue
		}
		fmt.Fprintf(out, "  %s × %d, last: cycle %d, agent %s, step %s: %s\n", e.Class, e.Count, e.Cycle, e.AgentName(), e.Path, FirstLine(e.Message))
	}
	compared(out, w, followed(job.Record, r, s), &r.Totals)
	_ = w.Flush()
	if len(r.Verdict) > 0 {
		fmt.Fprintln(out, "criteria")
		for _, j := range r.Verdict {
			mark := "pass"
			switch {
			case j.Unknown:
				mark = "?"
			case !j.Passed:
				mark = "FAIL"
			}
			Row(w, "  %s\t%s %s\t%s\n", mark, j.Criterion.Name(), j.Criterion.Text, j.Shown)
		}
		_ = w.Flush()
	}
}

// repeats describes steps that an earlier process had started, and requests that were sent again, or returns "".
func repeats(s *engine.Snapshot) string {
	l := s.Labels
	var parts []string
	add := func(n int64, what string) {
		if n > 0 {
			parts = append(parts, engine.FormatCount(n)+" "+what)
		}
	}
	add(l[engine.Replayed], "taken from the journal")
	if again := l[engine.Resent] + l[engine.Confirmed] + l[engine.Unconfirmed]; again > 0 {
		parts = append(parts, fmt.Sprintf("%s in doubt: %s had been done already, %s sent again and done once, %s unconfirmed", engine.FormatCount(again),
			engine.FormatCount(l[engine.Confirmed]), engine.FormatCount(l[engine.Resent]), engine.FormatCount(l[engine.Unconfirmed])))
	}
	add(l[engine.NotRepeated], "not sent again, as the scenario says; outcome unknown")
	return strings.Join(parts, "; ")
}

// shownUnconfirmed is how many requests that may have been carried out twice are listed after a run.
const shownUnconfirmed = 5

// ListUnconfirmed lists requests of a run that may have been executed twice.
func ListUnconfirmed(ctx context.Context, out io.Writer, store storage.Reader, job *app.Job) error {
	doubts, err := store.Unconfirmed(ctx, job.Run.ID(), shownUnconfirmed)
	if err != nil || doubts.All == 0 {
		return err
	}
	err = doubts.Call(job.Program.AgentID)
	fmt.Fprintln(out, doubts.Sentence())
	for _, line := range doubts.Lines() {
		fmt.Fprintln(out, " ", line)
	}
	fmt.Fprintf(out, "to do: %s; listed in run.json: throngctl export %s -o DIR\n", engine.UnconfirmedAdvice, job.Run.ID())
	return err
}

// speedUp describes how much faster the run was than its steps in sequence, and the effect of parallel steps.
func speedUp(s *engine.Snapshot) string {
	text := "not known"
	if !math.IsNaN(s.Speedup) {
		text = fmt.Sprintf("%.3g times", s.Speedup)
	}
	if f := &s.Flow; f.Chains > 0 {
		text += fmt.Sprintf("; %.3g times within the %.3g%% of sessions that ran steps together", f.Speedup(), 100*f.Rate(s.Ended))
	}
	return text
}

// shownCycles is how many cycles of a run are listed after it.
const shownCycles = 12

// Cycles lists the last cycles of a run.
func Cycles(ctx context.Context, out io.Writer, store storage.Reader, job *app.Job) error {
	all, err := store.Barriers(ctx, job.Run.ID())
	if err != nil || len(all) < 2 {
		return err
	}
	w := NewTable(out)
	last := all[max(len(all)-shownCycles, 0):]
	fmt.Fprintln(w, "cycle\ttime\tsessions\tparallel steps\tsequential\terrors\ttimeouts\tspeed-up")
	for i := range last {
		b := &last[i]
		f := &b.Work.Flow
		speedup := "not known"
		if v := b.Work.Speedup(b.Took); v > 0 {
			speedup = fmt.Sprintf("%.3g times", v)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", b.Cycle, engine.FormatDuration(b.Took), b.Work.Describe(), engine.FormatCount(f.Parallel),
			engine.FormatCount(f.Sequential), engine.FormatCount(f.Failed), engine.FormatCount(f.TimedOut), speedup)
	}
	_ = w.Flush() // output to a terminal
	if n := len(all) - len(last); n > 0 {
		fmt.Fprintf(out, "%d earlier cycles: throngctl export %s --what cycles\n", n, job.Run.ID())
	}
	return nil
}

// outcomes counts the sessions of each outcome.
func outcomes(s *engine.Snapshot) string {
	var parts []string
	for _, o := range []engine.Outcome{engine.OK, engine.Stopped, engine.Failed, engine.TimedOut, engine.Canceled} {
		if n := s.Outcomes[o]; n > 0 {
			parts = append(parts, engine.FormatCount(n)+" "+view.OutcomeText(o))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// compared prints the forecast next to the actual values.
func compared(out, w io.Writer, r *engine.RunRecord, totals *engine.Totals) {
	facts := view.CompareForecast(r, totals)
	if len(facts) == 0 {
		return
	}
	fmt.Fprintf(out, "Forecast and actual values (the forecast was %s)\n", view.ForecastBasis(r.Forecast))
	for _, f := range facts {
		if f.Fact == "" {
			continue
		}
		Row(w, "  %s\t%s\t%s\t%s\n", f.Name, f.Forecast, f.Fact, f.Difference)
	}
}

// followed returns a record with the ending of its run, which the store does not have yet.
func followed(r engine.RunRecord, result *run.Result, s *engine.Snapshot) *engine.RunRecord {
	r.Ending, r.Cycle = result.Ending, s.Cycle
	return &r
}
