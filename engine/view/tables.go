package view

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Table is a table of texts. The first column names the row.
type Table struct {
	Head []string
	Rows [][]string
}

// Unknown is shown for a figure that was not measured.
const Unknown = "–"

// some formats a count; empty for 0.
func some(n int64) string {
	if n == 0 {
		return ""
	}
	return engine.FormatCount(n)
}

// Durations formats quantiles of a number of durations.
func Durations(count int64, all ...time.Duration) (texts []string) {
	for _, d := range all {
		text := Unknown
		if count > 0 {
			text = engine.FormatDuration(d)
		}
		texts = append(texts, text)
	}
	return texts
}

// serviceSum are the totals of the steps of one service.
type serviceSum struct {
	steps, ran, bad, requests, retries, limited, timed int64
	time, longest                                      time.Duration
}

// ServiceTable returns the totals of the steps of each service. of says what steps call, by their path.
func ServiceTable(t *engine.Totals, of map[string]StepCall) Table {
	sums := map[string]*serviceSum{}
	for _, f := range t.ByStep.Figures() {
		name := of[f.Path].Service
		if name == "" {
			continue
		}
		s := sums[name]
		if s == nil {
			s = &serviceSum{}
			sums[name] = s
		}
		s.steps++
		s.ran, s.bad, s.requests = s.ran+f.Ran(), s.bad+f.Errors(), s.requests+f.Requests
		s.retries, s.limited = s.retries+f.Retries, s.limited+f.RateLimited
		s.timed, s.time = s.timed+f.Service.Count, s.time+time.Duration(f.Service.Count)*f.Service.Mean
		s.longest = max(s.longest, f.Service.Max)
	}
	out := Table{Head: []string{"Service", "Steps", "Ran", "Failed", "Requests", "Retries", "429s", "Mean time", "Longest"}}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		s := sums[name]
		row := []string{name}
		for _, n := range []int64{s.steps, s.ran, s.bad, s.requests, s.retries, s.limited} {
			row = append(row, some(n))
		}
		out.Rows = append(out.Rows, append(row, Durations(s.timed, s.time/time.Duration(max(s.timed, 1)), s.longest)...))
	}
	return out
}

// MostCycles is the number of cycles in a table; the last ones are shown.
const MostCycles = 200

// CycleTable returns the last cycles of a run, and a sentence about earlier ones. It is empty with fewer than two.
func CycleTable(all []engine.BarrierRow) (out Table, earlier string) {
	if len(all) < 2 {
		return out, ""
	}
	if n := len(all) - MostCycles; n > 0 {
		earlier = fmt.Sprintf("The first %s cycles are in cycles.csv.", engine.FormatCount(int64(n)))
		all = all[n:]
	}
	out.Head = []string{"Cycle", "Time", "Sessions", "Parallel steps", "Sequential steps", "Step errors", "Step timeouts", "Speed-up"}
	for i := range all {
		b := &all[i]
		f := &b.Work.Flow
		speedup := Unknown
		if v := b.Work.Speedup(b.Took); v > 0 {
			speedup = fmt.Sprintf("%.3g×", v)
		}
		row := []string{fmt.Sprint(b.Cycle), engine.FormatDuration(b.Took), b.Work.Describe()}
		for _, n := range []int64{f.Parallel, f.Sequential, f.Failed, f.TimedOut} {
			row = append(row, engine.FormatCount(n))
		}
		out.Rows = append(out.Rows, append(row, speedup))
	}
	return out, earlier
}
