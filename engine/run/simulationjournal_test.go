package run

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/memories"
)

// simJournal is a journal in memory. It keeps the rows of sessions one by one, so that a crash can fall between any two.
type simJournal struct {
	rows    []any // engine.Row, or *engine.SessionRow for each session of a batch
	durable int   // number of durable rows
	broken  bool  // no row becomes durable
	damaged bool  // it accepts no further rows
}

func (j *simJournal) add(row engine.Row) {
	if j.damaged {
		return
	}
	if batch, ok := row.(engine.SessionRows); ok {
		for i := range batch {
			c := batch[i]
			c.Events = slices.Clone(c.Events)
			j.rows = append(j.rows, &c)
		}
		return
	}
	j.rows = append(j.rows, row)
}

// sync makes all rows durable if it can.
func (j *simJournal) sync() {
	if !j.broken && !j.damaged {
		j.durable = len(j.rows)
	}
}

// crash ends the process. Some of the rows that are not durable may have reached the disk, in order, and the last of these
// may be torn. A closed journal loses no row that could be written.
func (j *simJournal) crash(draw *rand.Rand, closed bool) {
	if closed {
		j.sync()
	}
	if left := len(j.rows) - j.durable; left > 0 {
		kept := draw.IntN(left + 1)
		if kept > 0 && draw.IntN(2) == 0 {
			kept-- // torn
		}
		j.rows = j.rows[:j.durable+kept]
	}
	j.durable, j.broken, j.damaged = len(j.rows), false, false
}

// finished reports whether the journal has the run's end.
func (j *simJournal) finished() bool {
	if len(j.rows) == 0 {
		return false
	}
	end, ok := j.rows[len(j.rows)-1].(engine.EndRow)
	return ok && end.Ending == engine.EndFinished
}

// resumption returns the state from which the run resumes. fork is the start of the run if it is a fork.
func (j *simJournal) resumption(settings engine.Settings, fork *engine.Resumption) *engine.Resumption {
	res := &engine.Resumption{
		Deltas: map[int]engine.Delta{}, Memory: map[int]*engine.Memory{}, Prefixes: map[int]engine.Prefix{}, Takes: map[int]int{}, Bad: map[int]engine.SessionEnd{},
	}
	if fork != nil {
		res.Cycle, res.Memory, res.Injected, res.Retired = fork.Cycle, cloned(fork.Memory), slices.Clone(fork.Injected), maps.Clone(fork.Retired)
	}
	for _, row := range j.rows {
		switch r := row.(type) {
		case engine.ChangeRow:
			if err := res.Apply(&r); err != nil {
				panic(err)
			}
		case engine.CheckpointRow:
			res.Checkpoints, res.Checkpoint = res.Checkpoints+1, r.At
		}
	}
	j.replay(res, settings)
	for p, take := range res.Requeued {
		if p.Cycle == res.Cycle && !slices.Contains(res.Done, p.Agent) {
			res.Takes[p.Agent] = take
		}
	}
	return res
}

// replay reads the sessions cycle by cycle.
func (j *simJournal) replay(res *engine.Resumption, settings engine.Settings) {
	t, takes, changed := &res.State.Totals, map[int]int{}, map[int]bool{}
	atBarrier := engine.Totals{}
	for _, row := range j.rows {
		switch r := row.(type) {
		case *engine.SessionRow:
			res.Count(t, r, &atBarrier)
			if was, ok := takes[r.Agent]; ok && was > r.Take || res.Superseded(r.Place) {
				continue
			}
			takes[r.Agent] = r.Take
			if !slices.Contains(res.Done, r.Agent) {
				res.Done, res.Outcomes = append(res.Done, r.Agent), append(res.Outcomes, r.Outcome)
			}
			delete(res.Bad, r.Agent)
			delete(res.Deltas, r.Agent)
			switch {
			case r.Outcome == engine.Failed:
				res.Bad[r.Agent] = engine.EndOf(r)
			case r.Outcome.Commits() && !r.Delta.Empty():
				res.Deltas[r.Agent] = r.Delta
			}
		case engine.BarrierRow:
			touched, _ := memories.CommitCycle(&settings, memories.Map(res.Memory), memories.Of(res.Deltas), r.Cycle)
			for _, agent := range touched {
				changed[agent] = true
			}
			res.Cycle, res.Done, res.Outcomes = r.Cycle+1, nil, nil
			clear(takes)
			clear(res.Deltas)
			clear(res.Bad)
			atBarrier = t.Clone()
		case engine.CheckpointRow:
			if r.Cycle >= res.Cycle {
				clear(changed)
			}
		}
	}
	res.AtBarrier = atBarrier
	for agent := range changed {
		res.Changed = append(res.Changed, agent)
	}
}
