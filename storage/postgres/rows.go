package postgres

import (
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// copied is a table that rows are copied into. Its columns are those of the CSV files.
type copied struct {
	name    string
	columns []string
}

var (
	sessionsTable = copied{"sessions", strings.Fields(`run cycle agent_index take agent session outcome class step because error steps events acted
		started queued_ms throttled_ms service_ms total_ms latency_ms requests retries rate_limited replayed resent confirmed not_repeated unconfirmed label
		model_calls input_tokens cached_input_tokens output_tokens cost_usd cache_hits recorded calls_again trail`)}
	eventsTable  = copied{"events", strings.Fields(`run cycle agent_index take sequence agent session step event data`)}
	metricsTable = copied{"metrics", metricsNames()}
)

// session appends a session without its trail. agent and session are the agent ID and session UUID.
func (r *copyRows) session(run string, s *engine.SessionRow, agent, session string) {
	asked := storage.AskedOf(s)
	r.row(len(sessionsTable.columns))
	r.place(run, s.Place)
	r.text(agent)
	r.text(session)
	r.text(s.Outcome.String())
	r.optional(s.Class.String())
	r.optional(s.Path)
	r.optional(s.Because)
	r.optional(s.Error)
	r.int4(int64(len(s.Steps)))
	r.int4(int64(len(s.Events)))
	r.bool(s.Acted)
	r.time(s.Started)
	r.millis(s.Queue)
	r.millis(s.Throttled)
	r.millis(s.Service)
	r.millis(s.Total)
	r.millis(s.Latency())
	r.int4(asked.Requests)
	r.int4(asked.Retries)
	r.int4(asked.RateLimited)
	r.int4(asked.Labels[engine.Replayed])
	r.int4(asked.Labels[engine.Resent])
	r.int4(asked.Labels[engine.Confirmed])
	r.int4(asked.Labels[engine.NotRepeated])
	r.int4(asked.Labels[engine.Unconfirmed])
	r.text(asked.Label.String())
	r.int4(asked.Usage.Calls)
	r.int8(asked.Usage.Input)
	r.int8(asked.Usage.Cached)
	r.int8(asked.Usage.Output)
	r.cost(&asked.Usage)
	r.int4(asked.Usage.Hits)
	r.int4(asked.Labels[engine.Recorded])
	r.int4(asked.Usage.Again)
}

// trail appends the last column of a session.
func (r *copyRows) trail(id int64, ok bool) {
	if ok {
		r.int8(id)
	} else {
		r.null()
	}
}

func (r *copyRows) place(run string, p engine.Place) {
	r.text(run)
	r.int4(int64(p.Cycle))
	r.int4(int64(p.Agent))
	r.int4(int64(p.Take))
}

// events appends the events of a session.
func (r *copyRows) events(run string, s *engine.SessionRow, agent, session string) {
	for i := range s.Events {
		e := &s.Events[i]
		r.row(len(eventsTable.columns))
		r.place(run, s.Place)
		r.int4(int64(i))
		r.text(agent)
		r.text(session)
		r.text(e.Path)
		r.text(e.Name)
		r.json(e.Data)
	}
}

// metricsColumns are the columns of the table metrics after run and at.
var metricsColumns = storage.MetricColumns()

func metricsNames() []string {
	names := []string{"run", "at"}
	for i := range metricsColumns {
		names = append(names, metricsColumns[i].Name)
	}
	return names
}

// cost appends the cost of model calls in US dollars; NULL if a price is unknown.
func (r *copyRows) cost(u *engine.Usage) {
	if u.Unpriced > 0 {
		r.null()
		return
	}
	r.billionths(u.Cost)
}

func (r *copyRows) metrics(run string, m *engine.MetricsRow) {
	r.row(len(metricsTable.columns))
	r.text(run)
	r.time(m.At)
	for i := range metricsColumns {
		r.metric(&metricsColumns[i], m)
	}
}

// metric appends one column of metrics; an unknown value is NULL.
func (r *copyRows) metric(c *storage.MetricColumn, m *engine.MetricsRow) {
	if c.Unit == storage.Text {
		r.text(c.Text(m))
		return
	}
	v, known := c.Value(m)
	switch {
	case !known:
		r.null()
	case c.Unit == storage.Count:
		r.int8(int64(v))
	case c.Unit == storage.USD:
		r.billionths(int64(c.Raw(m)))
	default:
		r.figure(v)
	}
}
