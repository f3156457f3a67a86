package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage"
)

const (
	// transcriptChunk is how many sessions are read in one step, and transcriptTime how long a page is read at most.
	transcriptChunk = 50
	transcriptTime  = 2 * time.Second
	// mostOpen bounds the sessions in flight on a page.
	mostOpen = 100
)

// Transcript returns a page of what the agents said and decided: first the sessions that have ended, in the order of
// cycles and agents, then those in flight. It holds a page in memory, not the run.
func (p *Agents) Transcript(ctx context.Context, q view.TranscriptQuery) (t view.Transcript, err error) {
	began := time.Now()
	if q.Agent >= p.Program.Agents() {
		return t, fmt.Errorf("agent %d: %w", q.Agent, engine.ErrNotFound)
	}
	if q.Cycle >= 0 {
		q.From.Cycle = max(q.From.Cycle, q.Cycle)
	}
	put, err := p.broadcasts(ctx, &q)
	if err != nil {
		return t, err
	}
	_, put = before(firstWhole(q.From), put)
	full := func() bool { return len(t.Lines) >= q.Most || time.Since(began) > transcriptTime }
	for at := q.From; ; {
		rows, next, more, err := p.chunk(ctx, &q, at)
		if err != nil {
			return t, err
		}
		at = next
		if put, err = p.addLines(ctx, &t, &q, rows, put); err != nil {
			return t, err
		}
		if !more {
			t.Lines = append(t.Lines, put...)
			break
		}
		some, rest := before(firstWhole(at), put)
		t.Lines, put = append(t.Lines, some...), rest
		if full() {
			t.More, t.Next = true, at
			break
		}
	}
	if !t.More {
		if err := p.addInFlight(ctx, &t, &q); err != nil {
			return t, err
		}
	}
	t.Note, err = p.contentNote(ctx)
	return t, err
}

// Agents returns the number of agents of the population.
func (p *Agents) Agents() int { return p.Program.Agents() }

// Search returns at most most agents whose ID contains a text or that match an expression.
func (p *Agents) Search(ctx context.Context, text string, most int) (found []int, more bool, err error) {
	return p.Program.Search(ctx, text, most)
}

// chunk reads the next sessions.
func (p *Agents) chunk(ctx context.Context, q *view.TranscriptQuery, from view.Cursor) (rows []engine.AgentTurn, next view.Cursor, more bool, err error) {
	if q.Agent >= 0 {
		return p.agentChunk(ctx, q, from)
	}
	to := 0
	if q.Cycle >= 0 {
		to = q.Cycle + 1
	}
	for row, err := range p.Store.Sessions(ctx, p.Record.ID, from.Cycle, to) {
		if err != nil {
			return nil, from, false, err
		}
		if row.Cycle == from.Cycle && row.Agent < from.Agent {
			continue
		}
		if len(rows) == transcriptChunk {
			return rows, view.Cursor{Cycle: row.Cycle, Agent: row.Agent}, true, nil
		}
		rows = append(rows, engine.AgentTurn{SessionRow: own(row)})
	}
	return rows, from, false, nil
}

// agentChunk reads the next sessions of one agent.
func (p *Agents) agentChunk(ctx context.Context, q *view.TranscriptQuery, from view.Cursor) (rows []engine.AgentTurn, next view.Cursor, more bool, err error) {
	before := from.Cycle + transcriptChunk
	if q.Cycle >= 0 {
		before = q.Cycle + 1
	}
	last := p.lastCycle()
	for before := min(before, last+1); ; {
		some, rest, err := p.recent(ctx, q.Agent, before, transcriptChunk)
		if err != nil {
			return nil, from, false, err
		}
		rows = append(rows, some...)
		if before = rest; rest <= from.Cycle {
			break
		}
	}
	rows = slices.DeleteFunc(rows, func(t engine.AgentTurn) bool { return t.Cycle < from.Cycle })
	slices.SortStableFunc(rows, func(a, b engine.AgentTurn) int {
		return cmp.Or(cmp.Compare(a.Cycle, b.Cycle), cmp.Compare(a.Take, b.Take))
	})
	return rows, view.Cursor{Cycle: before}, before <= last && q.Cycle < 0, nil
}

// lastCycle returns the newest cycle of the run.
func (p *Agents) lastCycle() int {
	if p.Run != nil {
		return p.Run.Snapshot().Cycle
	}
	return p.Record.Cycle
}

// own returns a copy of a row of an iterator.
func own(r *engine.SessionRow) engine.SessionRow {
	c := *r
	c.Steps, c.Events = slices.Clone(r.Steps), slices.Clone(r.Events)
	for i := range c.Events {
		c.Events[i].Data = slices.Clone(c.Events[i].Data)
	}
	return c
}

// addLines adds the lines of some sessions, and before those of a cycle the messages put into its inboxes. It returns the other messages.
func (p *Agents) addLines(ctx context.Context, t *view.Transcript, q *view.TranscriptQuery, turns []engine.AgentTurn, put []view.Line) ([]view.Line, error) {
	for len(turns) > 0 {
		n := 1
		for n < len(turns) && turns[n].Cycle == turns[0].Cycle {
			n++
		}
		if err := p.addSpoken(ctx, turns[:n]); err != nil {
			return put, err
		}
		some, rest := before(turns[0].Cycle+1, put)
		t.Lines, put = append(t.Lines, some...), rest
		for i := range turns[:n] {
			for _, l := range view.Lines(&turns[i], p.Name(turns[i].Agent)) {
				if l.Matches(q.Text) && !later(l.At, q.Until) {
					t.Lines = append(t.Lines, masked(l))
				}
			}
		}
		turns = turns[n:]
	}
	return put, nil
}

// later reports whether a time is after a limit; a zero limit does not apply.
func later(at, limit time.Time) bool { return !limit.IsZero() && at.After(limit) }

// masked removes secrets that this process has looked up.
func masked(l view.Line) view.Line {
	for _, text := range []*string{&l.Text, &l.More, &l.Prompt} {
		*text = secrets.Redact(*text)
	}
	return l
}

// addSpoken adds the kept exchanges to sessions of one cycle.
func (p *Agents) addSpoken(ctx context.Context, turns []engine.AgentTurn) error {
	query := storage.ExchangeQuery{Cycle: turns[0].Cycle, Lo: turns[0].Agent, Hi: turns[0].Agent, Agents: map[int]bool{}, From: turns[0].Started}
	at := map[engine.Place]int{}
	for i := range turns {
		t := &turns[i]
		query.Agents[t.Agent] = true
		query.Lo, query.Hi = min(query.Lo, t.Agent), max(query.Hi, t.Agent)
		if t.Started.Before(query.From) {
			query.From = t.Started
		}
		if end := t.Started.Add(t.Total); t.Outcome != engine.Unfinished && end.After(query.To) {
			query.To = end
		}
		at[t.Place] = i
	}
	query.From = time.Time{} // a session that was resumed has exchanges of earlier processes
	all, err := p.Store.Exchanges(ctx, p.Record.ID, query)
	for _, e := range all {
		if i, ok := at[e.Place]; ok {
			turns[i].Exchanges = append(turns[i].Exchanges, e)
		}
	}
	return err
}

// addInFlight adds the lines of sessions that have not ended.
func (p *Agents) addInFlight(ctx context.Context, t *view.Transcript, q *view.TranscriptQuery) error {
	if p.Run == nil {
		return nil
	}
	s := p.Run.Snapshot()
	if s.Phase == engine.Ended || q.Cycle >= 0 && q.Cycle != s.Cycle {
		return nil
	}
	states := p.Run.Crowd(nil).States
	var open []engine.AgentTurn
	for agent, state := range states {
		if q.Agent >= 0 && agent != q.Agent || state != engine.AgentInFlight && state != engine.AgentThrottled {
			continue
		}
		if d, ok := p.Run.Activity(agent); ok && len(open) < mostOpen {
			open = append(open, engine.AgentTurn{SessionRow: engine.SessionRow{Place: d.Place, Started: d.Began}})
		}
	}
	if len(open) == 0 {
		return nil
	}
	_, err := p.addLines(ctx, t, q, open, nil)
	return err
}

// contentNote says why lines may be missing.
func (p *Agents) contentNote(ctx context.Context) (string, error) {
	most := p.Record.Settings.KeepContent
	if most == 0 {
		return "This run keeps no content, so only its events are shown. The setting keep-content keeps what agents say.", nil
	}
	n, err := p.Store.ContentSize(ctx, p.Record.ID)
	if err != nil || n < most {
		return "", err
	}
	return fmt.Sprintf("The run kept the first %s of content; later sessions show only their events. The setting keep-content keeps more.", engine.FormatBytes(most)), nil
}

// Events returns a page of the events of the run.
func (p *Agents) Events(ctx context.Context, q view.EventQuery) (page view.Events, err error) {
	began, from, to := time.Now(), q.From, 0
	if q.Cycle >= 0 {
		from.Cycle, to = max(from.Cycle, q.Cycle), q.Cycle+1
	}
	for row, err := range p.Store.Sessions(ctx, p.Record.ID, from.Cycle, to) {
		if err != nil {
			return page, err
		}
		if row.Cycle == from.Cycle && row.Agent < from.Agent {
			continue
		}
		if len(page.Rows) >= q.Most || len(page.Rows) > 0 && time.Since(began) > transcriptTime {
			page.More, page.Next = true, view.Cursor{Cycle: row.Cycle, Agent: row.Agent}
			return page, nil
		}
		for i := range row.Events {
			if e := &row.Events[i]; (q.Name == "" || q.Name == e.Name) && !later(row.Started.Add(row.Total), q.Until) {
				page.Rows = append(page.Rows, view.EventRow{
					At: row.Started.Add(row.Total), Cycle: row.Cycle, Agent: row.Agent, ID: p.Name(row.Agent), Step: e.Path, Name: e.Name, Data: secrets.Redact(string(e.Data)),
				})
			}
		}
	}
	return page, nil
}
