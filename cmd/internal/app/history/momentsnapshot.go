package history

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
)

// keptChanges bounds the changes in a snapshot, newest first.
const keptChanges = 200

// snapshot returns the snapshot of the run at a moment.
func (l *History) snapshot(c *engine.RunTimeline, t *turns, m *engine.Moment) *engine.Snapshot {
	at, counts := m.Crowd.At, m.Crowd.Counts()
	s := &engine.Snapshot{
		Run:           l.run,
		At:            at,
		Phase:         engine.Running,
		CycleState:    engine.CycleState{Cycle: t.cycle, Cycles: l.settings.Cycles, SimTime: l.clock.At(t.cycle)},
		LimitState:    engine.LimitState{Limit: l.settings.Limit, Floor: l.settings.Floor, Ceiling: l.settings.Ceiling, Governor: l.settings.Governor, InFlight: counts[engine.AgentInFlight]},
		SessionCounts: engine.SessionCounts{Total: l.record.Total, Kept: l.record.Kept, Survey: view.IsSurvey(&l.record), Outcomes: map[engine.Outcome]int64{}},
		RequestCounts: engine.RequestCounts{Labels: engine.Labels{}},
		Pace:          engine.Pace{Elapsed: c.Elapsed(at), Remaining: -1},
		Oldest:        t.oldest(m.Crowd),
		Criteria:      l.success,
	}
	for state, outcome := range outcomesOf {
		if n := counts[state]; n > 0 && outcome != engine.Unfinished {
			s.Outcomes[outcome] = int64(n)
			s.CycleEnded += int64(n)
		}
	}
	s.CycleTotal = s.CycleEnded + int64(counts[engine.AgentInFlight]+counts[engine.AgentWaiting])
	s.CycleFailed = s.Outcomes[engine.Failed] + s.Outcomes[engine.TimedOut]
	for i := range c.Barriers {
		if b := &c.Barriers[i]; b.Cycle < t.cycle {
			s.Ended = b.Sessions
			s.LastCycle = engine.ClosedCycle{Took: b.Took, Sessions: int64(b.Active)}
		}
	}
	s.Ended += s.CycleEnded
	var events int
	s.Emitted, events = t.emitted(at)
	s.Events = int64(events)
	for i := range s.Emitted {
		s.Emitted[i].Name = l.agentID(s.Emitted[i].Agent)
	}
	for i := range s.Oldest {
		s.Oldest[i].Name = l.agentID(s.Oldest[i].Agent)
	}
	for i := range c.Checkpoints {
		if p := &c.Checkpoints[i]; !p.At.After(at) {
			s.Checkpoints, s.LastCheckpoint, s.CheckpointTook = i+1, p.At, p.Took
		}
	}
	l.applyChanges(s, c)
	l.measure(s, t, m)
	if i := l.record.Inexact; i != nil && i.Cycle <= t.cycle {
		s.Inexact = i
	}
	return s
}

var outcomesOf = [engine.NumAgentStates]engine.Outcome{
	engine.AgentOK: engine.OK, engine.AgentStopped: engine.Stopped, engine.AgentFailed: engine.Failed,
	engine.AgentTimedOut: engine.TimedOut, engine.AgentCanceled: engine.Canceled,
}

// agentID returns the ID of an agent; "" if it is unknown.
func (l *History) agentID(agent int) string {
	id, err := l.program.AgentID(agent)
	if err != nil {
		return ""
	}
	return id
}

// applyChanges applies the changes up to the moment of a snapshot. If the first change of a setting is later, its old value
// is in force.
func (l *History) applyChanges(s *engine.Snapshot, c *engine.RunTimeline) {
	set, limit := map[string]string{}, ""
	for i := range c.Changes {
		row := &c.Changes[i]
		moves := row.What == engine.LimitSetting || row.What == engine.LimitChange
		if row.At.After(s.At) {
			if _, ok := set[row.What]; !ok {
				set[row.What] = row.Old
			}
			if moves && limit == "" && row.Old != engine.Automatic {
				limit = row.Old
			}
			continue
		}
		set[row.What] = row.New
		if moves && row.New != engine.Automatic {
			limit = row.New
		}
		s.Changes = append(s.Changes, *row)
		switch row.What {
		case engine.GovernorSetting:
			s.Steer = ""
		case engine.LimitChange:
			s.Steer, s.SteerBy, s.Steered = row.Why, row.Who, row.At
		case engine.PhaseChange:
			s.Phase, s.Reason = phaseOf(row.New, s.Phase), row.Why
		}
	}
	s.Governor = cmp.Or(set[engine.GovernorSetting], s.Governor)
	if hand := set[engine.LimitSetting]; hand != "" && hand != engine.Automatic {
		s.Governor = engine.Manual
	}
	for _, one := range []struct {
		text string
		to   *int
	}{{limit, &s.Limit}, {set[engine.CeilingSetting], &s.Ceiling}, {set[engine.FloorSetting], &s.Floor}} {
		if n, err := strconv.Atoi(one.text); err == nil {
			*one.to = n
		}
	}
	s.Changes = s.Changes[max(len(s.Changes)-keptChanges, 0):]
	if !l.record.Ended.IsZero() && !l.record.Ended.After(s.At) {
		s.Phase, s.Ending, s.Reason = engine.Ended, l.record.Ending, l.record.Reason
	}
}

// phaseOf returns the phase with a name, or was if there is none.
func phaseOf(name string, was engine.Phase) engine.Phase {
	for p := engine.Preparing; p <= engine.Ended; p++ {
		if p.String() == name {
			return p
		}
	}
	return was
}

// measure adds the metrics of the second before the moment.
func (l *History) measure(s *engine.Snapshot, t *turns, m *engine.Moment) {
	if len(m.Recent) == 0 {
		return
	}
	row := &m.Recent[len(m.Recent)-1]
	s.Metrics, s.Limit, s.Overhead, s.Late = *row, row.Limit, row.Overhead, row.Late
	if s.Phase != engine.Ended && !m.Idle {
		s.Phase = row.Phase
	}
	s.Latency, s.Queue, s.Throttled, s.PerSecond = row.Total, row.Queue, row.Throttled, row.SessionsPerSec
	s.Retries, s.RateLimited, s.Usage, s.Waits, s.Flow, s.Lag = row.Retries, row.RateLimited, row.Usage, row.Waits, row.Flow, row.Lag
	s.Arrivals = l.clock.Arrivals.String()
	last := t.failed(s.At)
	for class := range row.Errors {
		if n := row.Errors[class]; n > 0 {
			note := last[engine.Class(class)]
			note.Class, note.Count = engine.Class(class), n
			if note.Known() {
				note.Name = l.agentID(note.Agent)
			}
			s.Errors = append(s.Errors, note)
		}
	}
	slices.SortStableFunc(s.Errors, func(a, b engine.ErrorNote) int { return cmp.Compare(b.Count, a.Count) })
}

// End returns the final snapshot of the run, with its totals. Its phase is Ended even if the run was interrupted.
func (l *History) End(ctx context.Context) (*engine.Snapshot, error) {
	c, err := l.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	record := l.record
	l.mu.Unlock()
	at := record.Created
	if n := len(c.Stretches); n > 0 {
		at = c.Stretches[n-1].To
	}
	m, err := l.Moment(ctx, at)
	if err != nil {
		return nil, err
	}
	t, err := l.store.Totals(ctx, l.run)
	if err != nil {
		return nil, err
	}
	s := m.Snapshot
	s.Phase, s.Ending, s.Remaining, s.InFlight = engine.Ended, record.Ending, 0, 0
	s.Reason = cmp.Or(view.Why(&record), record.Reason, s.Reason)
	if record.InProgress {
		s.Reason = "another process works on this run; this is its last recorded moment"
	}
	s.Outcomes = map[engine.Outcome]int64{}
	for o, n := range t.Outcomes {
		if n > 0 {
			s.Outcomes[engine.Outcome(o)] = n
		}
	}
	s.Ended, s.Events, s.RequestCounts = t.Ended(), t.Events, t.AllRequests()
	s.Latency = engine.QuantilesOf(t.Latency())
	s.Flow, s.Inexact, s.Steps = t.Flow, record.Inexact, t.ByStep.Figures()
	s.Errors, err = l.store.ErrorNotes(ctx, l.run)
	for i := range s.Errors {
		s.Errors[i].Name = l.agentID(s.Errors[i].Agent)
	}
	return s, err
}
