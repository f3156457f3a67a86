package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/storage"
)

// summary shows how a run ended.
func (t *terminal) summary(job *app.Job, r *run.Result) {
	s := job.Run.Snapshot()
	fmt.Fprintf(t.out, "\n%s after %s", r.Ending, engine.FormatDuration(s.Elapsed))
	if r.Reason != "" {
		fmt.Fprintf(t.out, ": %s", r.Reason)
	}
	fmt.Fprintln(t.out)
	w := tabwriter.NewWriter(t.out, 2, 4, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		rowf(w, "  %s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	row("sessions", "%s%s", engine.FormatCount(s.Ended), outcomes(s))
	if s.Cut > 0 {
		row("cancelled", "%s, which run again on resume", engine.FormatCount(s.Cut))
	}
	row("requests", "%s, %s retries, %s refused (429)", engine.FormatCount(s.Requests), engine.FormatCount(s.Retries), engine.FormatCount(s.RateLimited))
	if s.Usage != (engine.Usage{}) {
		row("model calls", "%s", engine.FormatUsage(&s.Usage))
	}
	if spent := s.Budget.Describe(s.Elapsed); spent != "" {
		row("budget", "%s", spent)
	}
	row("events", "%s", engine.FormatCount(s.Events))
	row("latency", "mean %s, p50 %s, p95 %s, p99 %s, longest %s", engine.FormatDuration(s.Latency.Mean), engine.FormatDuration(s.Latency.P50), engine.FormatDuration(s.Latency.P95), engine.FormatDuration(s.Latency.P99), engine.FormatDuration(s.Latency.Max))
	if f := &s.Flow; f.Parallel+f.Sequential > 0 {
		row("steps", "%s in parallel, %s in sequence, %s failed, %s timed out", engine.FormatCount(f.Parallel), engine.FormatCount(f.Sequential),
			engine.FormatCount(f.Failed), engine.FormatCount(f.TimedOut))
		row("speed-up", "%s", speedUp(s))
	}
	row("waits", "queued p50 %s, p95 %s; throttled p50 %s, p95 %s", engine.FormatDuration(s.Queue.P50), engine.FormatDuration(s.Queue.P95),
		engine.FormatDuration(s.Held.P50), engine.FormatDuration(s.Held.P95))
	if held := engine.FormatWaits(&s.Waits); held != "" {
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
	if s.Cycle > 1 {
		row("cycle time", "mean %s", engine.FormatDuration(r.Totals.Peaks.Worked/time.Duration(s.Cycle)))
	}
	row("slowest cycle", "%s", engine.FormatDuration(r.Totals.Peaks.Cycle))
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
	_ = w.Flush() // to the terminal
	for _, e := range s.Errors {
		if !e.Known() {
			fmt.Fprintf(t.out, "  %s × %d\n", e.Class, e.Count)
			continue
		}
		fmt.Fprintf(t.out, "  %s × %d, last: cycle %d, agent %s, step %s: %s\n", e.Class, e.Count, e.Cycle, e.Who(), e.Path, firstLine(e.Message))
	}
	t.compared(w, followed(job.Record, r, s), &r.Totals)
	_ = w.Flush()
	if len(r.Verdict) > 0 {
		fmt.Fprintln(t.out, "criteria")
		for _, j := range r.Verdict {
			mark := "pass"
			switch {
			case j.Unknown:
				mark = "?"
			case !j.Passed:
				mark = "FAIL"
			}
			rowf(w, "  %s\t%s %s\t%s\n", mark, j.Criterion.Metric, j.Criterion.Text, j.Shown)
		}
		_ = w.Flush()
	}
}

// repeats says what became of steps that an earlier process had begun, and of requests that were sent again; "" is that
// there were none.
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

// unconfirmed lists the requests of a run that may have been carried out twice.
func (t *terminal) unconfirmed(ctx context.Context, store storage.Reader, job *app.Job) {
	doubts, err := store.Unconfirmed(ctx, job.Run.ID(), shownUnconfirmed)
	switch {
	case err != nil:
		fmt.Fprintf(t.err, "throngctl: %v\n", err)
		return
	case doubts.All == 0:
		return
	}
	if err := doubts.Call(job.Program.AgentID); err != nil {
		fmt.Fprintf(t.err, "throngctl: %v\n", err)
	}
	fmt.Fprintln(t.out, doubts.Says())
	for _, line := range doubts.Lines() {
		fmt.Fprintln(t.out, " ", line)
	}
	fmt.Fprintf(t.out, "to do: %s; listed in run.json: throngctl export %s -o DIR\n", engine.UnconfirmedAdvice, job.Run.ID())
}

// speedUp says how much faster the run was than its steps one after another, and the chains that ran steps together.
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

// cycles lists what the last cycles of a run came to.
func (t *terminal) cycles(ctx context.Context, store storage.Reader, job *app.Job) {
	all, err := store.Barriers(ctx, job.Run.ID())
	if err != nil {
		fmt.Fprintf(t.err, "throngctl: %v\n", err)
		return
	}
	if len(all) < 2 {
		return
	}
	w := tabwriter.NewWriter(t.out, 2, 4, 2, ' ', 0)
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
	_ = w.Flush() // to the terminal
	if n := len(all) - len(last); n > 0 {
		fmt.Fprintf(t.out, "%d earlier cycles: throngctl export %s --what cycles\n", n, job.Run.ID())
	}
}

// outcomes lists how sessions ended.
func outcomes(s *engine.Snapshot) string {
	var parts []string
	for _, o := range []engine.Outcome{engine.OK, engine.Stopped, engine.Failed, engine.TimedOut, engine.Cancelled} {
		if n := s.Outcomes[o]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", engine.FormatCount(n), o))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
