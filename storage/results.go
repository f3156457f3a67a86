package storage

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// Names returns the names of agents and sessions for exports.
type Names struct {
	// Agent returns the id of an agent by its index.
	Agent func(index int) (string, error)
	// Session returns the ID of a session, which is the same in all runs with the same seed.
	Session func(cycle, agent int) string
	// Personas writes the agents as JSON lines; nil if no model wrote them.
	Personas func(w io.Writer) error
}

// sessionTable is an exported file with rows of sessions.
type sessionTable struct {
	name    string // without extension
	columns []column
	// add writes the rows of a session. agent and session are names.
	add func(t *table, s *engine.SessionRow, agent, session string) error
}

// sessionTables are the files that are written from sessions. The first two are the result of a run and contain nothing that
// depends on timing.
var sessionTables = []sessionTable{
	{"sessions", columns("cycle:int agent_index:int agent:text session:text outcome:word class:word step:word because:word steps:int events:int acted:bool"), addSession},
	{"events", columns("cycle:int agent_index:int agent:text session:text sequence:int step:word event:word data:json"), addEvents},
	{"timings", columns("cycle:int agent_index:int agent:text take:int started:time queued_ms:float throttled_ms:float service_ms:float total_ms:float " +
		"requests:int retries:int rate_limited:int replayed:int resent:int confirmed:int not_repeated:int unconfirmed:int label:word model_calls:int input_tokens:int output_tokens:int " +
		"cost_usd:float cache_hits:int recorded:int calls_again:int"), addTiming},
}

func addSession(t *table, s *engine.SessionRow, agent, session string) error {
	t.int(int64(s.Cycle))
	t.int(int64(s.Agent))
	t.text(agent)
	t.plain(session)
	t.plain(s.Outcome.String())
	t.plain(s.Class.String())
	t.text(s.Path)
	t.text(s.Because)
	t.int(int64(len(s.Steps)))
	t.int(int64(len(s.Events)))
	t.bool(s.Acted)
	return t.next()
}

func addEvents(t *table, s *engine.SessionRow, agent, session string) error {
	for i := range s.Events {
		e := &s.Events[i]
		t.int(int64(s.Cycle))
		t.int(int64(s.Agent))
		t.text(agent)
		t.plain(session)
		t.int(int64(i))
		t.text(e.Path)
		t.text(e.Name)
		t.json(e.Data)
		if err := t.next(); err != nil {
			return err
		}
	}
	return nil
}

// Asked is what a session requested from services.
type Asked struct {
	engine.RequestCounts
	Label engine.Label // the highest label of its steps
}

// Dollars returns the cost of model calls in US dollars; "" if a price is unknown.
func Dollars(u *engine.Usage) string {
	if u.Unpriced > 0 {
		return ""
	}
	return dollars(u.Cost)
}

// dollars writes billionths of a US dollar with all significant decimals.
func dollars(billionths int64) string {
	text := fmt.Sprintf("%d.%09d", billionths/1e9, billionths%1e9)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// AskedOf adds up the requests of a session.
func AskedOf(s *engine.SessionRow) (a Asked) {
	for i := range s.Steps {
		step := &s.Steps[i]
		a.Add(step)
		if step.Answered() {
			a.Label = max(a.Label, step.Label)
		}
	}
	return a
}

func addTiming(t *table, s *engine.SessionRow, agent, _ string) error {
	asked := AskedOf(s)
	t.int(int64(s.Cycle))
	t.int(int64(s.Agent))
	t.text(agent)
	t.int(int64(s.Take))
	t.time(s.Started)
	t.ms(s.Queue)
	t.ms(s.Throttled)
	t.ms(s.Service)
	t.ms(s.Total)
	t.int(asked.Requests)
	t.int(asked.Retries)
	t.int(asked.RateLimited)
	t.int(asked.Labels[engine.Replayed])
	t.int(asked.Labels[engine.Resent])
	t.int(asked.Labels[engine.Confirmed])
	t.int(asked.Labels[engine.NotRepeated])
	t.int(asked.Labels[engine.Unconfirmed])
	t.plain(asked.Label.String())
	t.int(asked.Usage.Calls)
	t.int(asked.Usage.Input)
	t.int(asked.Usage.Output)
	t.plain(Dollars(&asked.Usage))
	t.int(asked.Usage.Hits)
	t.int(asked.Labels[engine.Recorded])
	t.int(asked.Usage.Again)
	return t.next()
}

// Export writes sessions, events, timings, cycles or metrics in a format.
func Export(ctx context.Context, w io.Writer, f Format, what string, r Reader, run engine.RunID, names Names) error {
	for i, k := range sessionTables {
		if k.name == what {
			return exportSessions(ctx, f, r, run, names, sessionTables[i:i+1], []io.Writer{w})
		}
	}
	if what == "cycles" {
		return exportCycles(ctx, w, f, r, run)
	}
	return exportMetrics(ctx, w, f, r, run)
}

// ExportSessions writes sessions.csv: how each session ended, ordered by cycle and agent.
func ExportSessions(ctx context.Context, w io.Writer, r Reader, run engine.RunID, names Names) error {
	return Export(ctx, w, CSV, "sessions", r, run, names)
}

// ExportEvents writes events.csv: the results that sessions emitted, ordered by cycle, agent and sequence.
func ExportEvents(ctx context.Context, w io.Writer, r Reader, run engine.RunID, names Names) error {
	return Export(ctx, w, CSV, "events", r, run, names)
}

// exportSessions reads the sessions once and writes the given tables.
func exportSessions(ctx context.Context, f Format, r Reader, run engine.RunID, names Names, kinds []sessionTable, to []io.Writer) error {
	tables := make([]*table, len(kinds))
	for i, k := range kinds {
		var err error
		if tables[i], err = newTable(f, to[i], k.columns); err != nil {
			return err
		}
	}
	for s, err := range r.Sessions(ctx, run, 0, 0) {
		if err != nil {
			return err
		}
		agent, err := names.Agent(s.Agent)
		if err != nil {
			return err
		}
		session := names.Session(s.Cycle, s.Agent)
		for i, k := range kinds {
			if err := k.add(tables[i], s, agent, session); err != nil {
				return err
			}
		}
	}
	for _, t := range tables {
		if err := t.flush(); err != nil {
			return err
		}
	}
	return nil
}
