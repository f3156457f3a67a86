package runlog

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
)

// sessionLog is a journal that also logs sessions and cycles: failed and timed-out sessions as errors, other sessions and
// cycles at level info. It limits session lines per second; the line of a cycle has the number of lines left out.
type sessionLog struct {
	engine.Journal
	log   *slog.Logger
	name  func(agent int) (string, error)
	chain string

	mu           sync.Mutex
	failed, rest lineLimit
}

// linesPerSecond bounds the lines of failed sessions, and those of other sessions.
const linesPerSecond = 100

// lineLimit lets linesPerSecond lines through, and counts the others.
type lineLimit struct {
	second  time.Time
	used    int
	dropped int64
}

func (r *lineLimit) take(now time.Time) bool {
	if now.Sub(r.second) >= time.Second {
		r.second, r.used = now, 0
	}
	if r.used == linesPerSecond {
		r.dropped++
		return false
	}
	r.used++
	return true
}

// Journal returns a journal that also logs sessions and cycles. If log is disabled, it returns j.
func Journal(j engine.Journal, log *slog.Logger, name func(int) (string, error), chain string) engine.Journal {
	if !log.Enabled(context.Background(), slog.LevelError) {
		return j
	}
	return &sessionLog{Journal: j, log: log, name: name, chain: chain}
}

// Append implements [engine.Journal].
func (s *sessionLog) Append(rows ...engine.Row) {
	s.see(rows)
	s.Journal.Append(rows...)
}

// Commit implements [engine.Journal].
func (s *sessionLog) Commit(ctx context.Context, rows ...engine.Row) error {
	s.see(rows)
	return s.Journal.Commit(ctx, rows...)
}

func (s *sessionLog) see(rows []engine.Row) {
	for _, row := range rows {
		switch r := row.(type) {
		case engine.SessionRows:
			s.sessions(r)
		case engine.BarrierRow:
			s.cycle(&r)
		}
	}
}

func (s *sessionLog) sessions(rows engine.SessionRows) {
	info := s.log.Enabled(context.Background(), slog.LevelInfo)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for i := range rows {
		switch r := &rows[i]; r.Outcome {
		case engine.Failed, engine.TimedOut:
			if s.failed.take(now) {
				s.fail(r)
			}
		case engine.OK, engine.Stopped:
			if info && s.rest.take(now) {
				s.log.Info("completed in "+millis(r.Total), "chain", s.chain, "cycle", r.Cycle, "agent", s.agent(r.Agent), "steps", stepsOf(r), "outcome", r.Outcome.String())
			}
		default:
		}
	}
}

func (s *sessionLog) fail(r *engine.SessionRow) {
	what := "session failed"
	if r.Outcome == engine.TimedOut {
		what = "session timed out"
	}
	s.log.Error(what, "chain", s.chain, "cycle", r.Cycle, "agent", s.agent(r.Agent), "step", r.Path, "class", r.Class.String(), "error", r.Error, "took", millis(r.Total))
}

// cycle logs the end of a cycle.
func (s *sessionLog) cycle(b *engine.BarrierRow) {
	w := &b.Work
	attributes := []any{
		"cycle", b.Cycle, "took", millis(b.Took), "parallel_steps", w.Flow.Parallel, "sequential_steps", w.Flow.Sequential,
		"step_errors", w.Flow.Failed, "step_timeouts", w.Flow.TimedOut,
	}
	if speedup := w.Speedup(b.Took); speedup > 0 {
		attributes = append(attributes, "speedup", fmt.Sprintf("%.3g", speedup))
	}
	s.mu.Lock()
	if s.failed.dropped > 0 || s.rest.dropped > 0 {
		attributes = append(attributes, "failures_not_logged", s.failed.dropped, "sessions_not_logged", s.rest.dropped)
	}
	s.failed.dropped, s.rest.dropped = 0, 0
	s.mu.Unlock()
	s.log.Info(fmt.Sprintf("cycle %d: %s", b.Cycle, w.Describe()), attributes...)
}

func (s *sessionLog) agent(index int) string {
	if name, err := s.name(index); err == nil {
		return name
	}
	return fmt.Sprint(index)
}

// stepsOf counts the executed steps of a session, for example "3 steps in parallel, 2 in sequence".
func stepsOf(r *engine.SessionRow) string {
	var parallel, sequential int64
	for i := range r.Steps {
		switch s := &r.Steps[i]; {
		case s.Status == engine.StepSkipped || s.Status == engine.StepCanceled:
		case s.Parallel:
			parallel++
		default:
			sequential++
		}
	}
	var parts []string
	if parallel > 0 {
		parts = append(parts, engine.FormatCount(parallel)+" steps in parallel")
	}
	if sequential > 0 || parallel == 0 {
		parts = append(parts, engine.FormatCount(sequential)+" in sequence")
	}
	return strings.Join(parts, ", ")
}

// millis formats a duration in milliseconds, for example "6,234 ms".
func millis(d time.Duration) string { return engine.FormatCount(d.Milliseconds()) + " ms" }
