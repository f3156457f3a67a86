package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/decision"
)

// Names is what exports take from the scenario of a run: the names of agents and sessions, its clock and its steps.
type Names struct {
	// Agent returns the id of an agent by its index.
	Agent func(index int) (string, error)
	// Session returns the ID of a session, which is the same in all runs with the same seed.
	Session func(cycle, agent int) string
	// People are the agents with their attributes; nil without them.
	People *People
	// Personas writes the agents as JSON lines; nil if no model wrote them.
	Personas func(w io.Writer) error
	// Clock is the simulated time. Without a clock, files have no column of it.
	Clock engine.Clock
	// Acted is the event with which a session counts as acted; "" if the scenario names none.
	Acted string
	// Steps are the steps of the chain, by path without iterations.
	Steps map[string]engine.GraphStep
}

// record is a row of a file with sessions: a session, or one of its steps, events or messages.
type record struct {
	*engine.SessionRow
	agent, session string
	asked          Asked
	names          *Names
	at             int    // index of the step, event or message in the session
	to             string // the agent who gets the message
	event          *flatEvent
}

func (r *record) step() *engine.StepRecord { return &r.Steps[r.at] }

// known returns the definition of the step; empty if it does not exist.
func (r *record) known() engine.GraphStep { return r.names.Steps[engine.StepName(r.step().Path)] }

// sessionTable is an exported file with rows of sessions.
type sessionTable struct {
	name  string // without extension
	about string
	cells []cell[*record]
	// rows calls next for each row of a session.
	rows func(r *record, next func() error) error
}

// simulated is the name of the column of the simulated time.
const simulated = "simulated_time"

// eventsTable is the file of events, whose further columns depend on the run.
const eventsTable = "events"

// sessionTables are the files that are written from sessions. Sessions and events are the result of a run and contain
// nothing that depends on timing.
var sessionTables = []sessionTable{
	{"sessions", "How each session ended: the exact result of the run, with nothing that depends on timing.", sessionCells, eachSession},
	{eventsTable, "The results that sessions emitted, one column for each field of their data. With sessions, the exact result of the run.", eventCells, eachEvent},
	{"timings", "Times, requests and model usage of each session. They differ from run to run.", timingCells, eachSession},
	{"steps", "Each step that a session executed or skipped.", stepCells, eachStep},
	{"requests", "Each step that sent requests to a service or a model: endpoint, status and times.", requestCells, eachRequest},
	{"messages", "Each message from an agent to another. Messages from people are in changes.", messageCells, eachMessage},
	{"decisions", "Each answer of a model that can be compared with that of its rule, and those of the shadow sample. They depend on the model, but not on timing.", decisionCells, eachDecision},
}

// placeCells start the rows of all files with sessions.
var placeCells = []cell[*record]{
	{column{"cycle", intCells, "", "Cycle, from 0."}, func(t *table, r *record) { t.int(int64(r.Cycle)) }},
	{column{"agent_index", intCells, "", "Number of the agent, from 0."}, func(t *table, r *record) { t.int(int64(r.Agent)) }},
	{column{"agent", textCells, "", "ID of the agent."}, func(t *table, r *record) { t.text(r.agent) }},
}

var (
	sessionIDCell = cell[*record]{column{"session", textCells, "", "ID of the session; the same in all runs with the same seed."}, func(t *table, r *record) { t.plain(r.session) }}
	simulatedCell = cell[*record]{
		column{simulated, timeCells, "", "Simulated time at which the cycle begins."},
		func(t *table, r *record) { t.time(r.names.Clock.At(r.Cycle)) },
	}
	sequenceCell = func(help string) cell[*record] {
		return cell[*record]{column{"sequence", intCells, "", help}, func(t *table, r *record) { t.int(int64(r.at)) }}
	}
)

var sessionCells = join(placeCells, []cell[*record]{
	sessionIDCell,
	{column{"outcome", wordCells, "", "ok, stopped, failed or timeout."}, func(t *table, r *record) { t.plain(r.Outcome.String()) }},
	{column{"class", wordCells, "", "Class of the error; empty if the session did not fail."}, func(t *table, r *record) { t.plain(r.Class.String()) }},
	{column{"step", wordCells, "", "Step that failed or stopped the session."}, func(t *table, r *record) { t.text(r.Path) }},
	{column{"because", wordCells, "", "Why the session stopped."}, func(t *table, r *record) { t.text(r.Because) }},
	{column{"steps", intCells, "", "Number of steps."}, func(t *table, r *record) { t.int(int64(len(r.Steps))) }},
	{column{"events", intCells, "", "Number of events."}, func(t *table, r *record) { t.int(int64(len(r.Events))) }},
	{column{"acted", boolCells, "", "Whether the session acted: it emitted the event that the scenario names, or completed if it names none."}, func(t *table, r *record) { t.bool(r.Acted) }},
})

// eventCells are the columns of events before those of their fields.
var eventCells = join(placeCells, []cell[*record]{
	sessionIDCell,
	sequenceCell("Number of the event in its session, from 0."),
	{column{"step", wordCells, "", "Step that emitted the event."}, func(t *table, r *record) { t.text(r.Events[r.at].Path) }},
	{column{"event", wordCells, "", "Name of the event."}, func(t *table, r *record) { t.text(r.Events[r.at].Name) }},
	simulatedCell,
})

// emittedCells are the columns of events as sessions emitted them, for digests and comparisons with a database.
var emittedCells = join(without(eventCells, simulated), []cell[*record]{
	{column{"data", jsonCells, "", "Data of the event."}, func(t *table, r *record) { t.json(r.Events[r.at].Data) }},
})

var timingCells = join(placeCells, []cell[*record]{
	{column{"take", intCells, "", "How often the session was repeated before."}, func(t *table, r *record) { t.int(int64(r.Take)) }},
	{column{"started", timeCells, "", "When the session started."}, func(t *table, r *record) { t.time(r.Started) }},
	timeCell("queued_ms", "Time queued: from when the session could have started to its start.", func(r *record) time.Duration { return r.Queue }),
	timeCell("throttled_ms", "Time throttled by rates, limits, retries and budgets.", func(r *record) time.Duration { return r.Throttled }),
	timeCell("service_ms", "Time used by services and steps.", func(r *record) time.Duration { return r.Service }),
	timeCell("total_ms", "Time from the session's start to its end.", func(r *record) time.Duration { return r.Total }),
	timeCell("latency_ms", "Time from the session's intended start to its end. Without arrivals, total_ms.", func(r *record) time.Duration { return r.Latency() }),
	countCell("requests", "Requests sent, without those answered by 429.", func(r *record) int64 { return r.asked.Requests }),
	countCell("retries", "Attempts after the first.", func(r *record) int64 { return r.asked.Retries }),
	countCell("rate_limited", "Answers with status 429.", func(r *record) int64 { return r.asked.RateLimited }),
	labelCell("replayed", "Steps answered from the journal after a restart.", engine.Replayed),
	labelCell("resent", "Requests sent again that the service executed once.", engine.Resent),
	labelCell("confirmed", "Requests not sent again, because the service had executed them.", engine.Confirmed),
	labelCell("not_repeated", "Requests not sent again, because they may not be repeated.", engine.NotRepeated),
	labelCell("unconfirmed", "Requests that may have been executed twice.", engine.Unconfirmed),
	{column{"label", wordCells, "", "The most serious of these labels; fresh if there is none."}, func(t *table, r *record) { t.plain(r.asked.Label.String()) }},
	countCell("model_calls", "Model calls.", func(r *record) int64 { return r.asked.Usage.Calls }),
	countCell("input_tokens", "Tokens sent to models.", func(r *record) int64 { return r.asked.Usage.Input }),
	countCell("cached_input_tokens", "Tokens sent to models that the provider read from its cache.", func(r *record) int64 { return r.asked.Usage.Cached }),
	countCell("output_tokens", "Tokens received from models.", func(r *record) int64 { return r.asked.Usage.Output }),
	{column{"cost_usd", floatCells, "USD", "Cost of model calls; empty if a price is unknown."}, func(t *table, r *record) { t.plain(Dollars(&r.asked.Usage)) }},
	countCell("cache_hits", "Model calls answered from the cache.", func(r *record) int64 { return r.asked.Usage.Hits }),
	labelCell("recorded", "Steps answered from a recording.", engine.Recorded),
	countCell("calls_again", "Model calls that may have been paid twice.", func(r *record) int64 { return r.asked.Usage.Again }),
})

// stepPlace are the first columns of steps and requests.
var stepPlace = join(placeCells, []cell[*record]{
	simulatedCell,
	sequenceCell("Number of the step in its session, from 0."),
	{column{"step", wordCells, "", "Path of the step, with its iterations."}, func(t *table, r *record) { t.text(r.step().Path) }},
	{column{"step_name", wordCells, "", "Path of the step without iterations, to group by."}, func(t *table, r *record) { t.text(engine.StepName(r.step().Path)) }},
})

// stepResult are the last columns of steps and requests.
var stepResult = []cell[*record]{
	{column{"class", wordCells, "", "Class of the error; empty if the step did not fail."}, func(t *table, r *record) { t.plain(r.step().Class.String()) }},
	{column{"label", wordCells, "", "fresh, replayed, recorded, or how a request was repeated after a restart."}, func(t *table, r *record) { t.plain(r.step().Label.String()) }},
	timeCell("service_ms", "Time used by the service, or by the step itself.", func(r *record) time.Duration { return r.step().Service }),
	timeCell("throttled_ms", "Time throttled by rates, limits, retries and budgets.", func(r *record) time.Duration { return r.step().Throttled }),
	{column{"answer_bytes", intCells, "bytes", "Size of the answers that the step used; 0 without answers."}, func(t *table, r *record) { t.int(r.step().Size) }},
}

// redirectsCell follows the number of attempts.
var redirectsCell = countCell("redirects", "Attempts that followed a redirect.", func(r *record) int64 { return int64(r.step().Redirects) })

var stepCells = join(stepPlace, []cell[*record]{
	{column{"kind", wordCells, "", "Kind of the step, such as http or model."}, func(t *table, r *record) { t.plain(r.known().Kind) }},
	{column{"status", wordCells, "", "ok, failed, timeout, skipped or canceled."}, func(t *table, r *record) { t.plain(r.step().Status.String()) }},
	{column{"parallel", boolCells, "", "Whether the step could run at the same time as others of its session."}, func(t *table, r *record) { t.bool(r.step().Parallel) }},
	countCell("attempts", "Requests sent; 0 for a step that calls no service.", func(r *record) int64 { return int64(r.step().Attempts) }),
	redirectsCell,
}, stepResult)

var requestCells = join(stepPlace, []cell[*record]{
	{column{"service", wordCells, "", "Service that the step calls."}, func(t *table, r *record) { t.text(r.known().Service) }},
	{column{"endpoint", wordCells, "", "Method and path of the request, without its values."}, func(t *table, r *record) { t.text(r.known().Endpoint) }},
	{column{"status", intCells, "", "HTTP status of the last attempt; empty if there was no answer."}, addStatus},
	{column{"statuses", jsonCells, "", "HTTP statuses of all attempts, in order."}, addStatuses},
	countCell("attempts", "Requests sent, without those answered by 429.", func(r *record) int64 { return int64(r.step().Attempts) }),
	redirectsCell,
	{column{"outcome", wordCells, "", "ok, failed, timeout, skipped or canceled."}, func(t *table, r *record) { t.plain(r.step().Status.String()) }},
	countCell("input_tokens", "Tokens sent to models.", func(r *record) int64 { return usageOf(r).Input }),
	countCell("cached_input_tokens", "Tokens sent to models that the provider read from its cache.", func(r *record) int64 { return usageOf(r).Cached }),
	countCell("output_tokens", "Tokens received from models.", func(r *record) int64 { return usageOf(r).Output }),
	{column{"cost_usd", floatCells, "USD", "Cost of model calls; empty if a price is unknown."}, func(t *table, r *record) { t.plain(Dollars(usageOf(r))) }},
}, stepResult)

var messageCells = join(placeCells, []cell[*record]{
	simulatedCell,
	sequenceCell("Number of the message in its session, from 0. A message to several agents has several rows with one number."),
	{column{"to", textCells, "", "ID of the agent who gets the message."}, func(t *table, r *record) { t.text(r.to) }},
	{column{"text", textCells, "", "Text of the message."}, func(t *table, r *record) { t.text(messageOf(r).Text) }},
	{column{"data", jsonCells, "", "Data of the message."}, func(t *table, r *record) { t.json(messageOf(r).Data) }},
})

var decisionCells = join(stepPlace, []cell[*record]{
	{column{"used", wordCells, "", "Whose answer the session used: model or rule."}, func(t *table, r *record) { t.plain(usedBy[r.step().Decision.Used]) }},
	{column{"model", jsonCells, "", "Answer of the model, without free texts; empty if it did not answer."}, func(t *table, r *record) { t.json(r.step().Decision.Model) }},
	{column{"rule", jsonCells, "", "Answer of the rule, without free texts; empty without a rule."}, func(t *table, r *record) { t.json(r.step().Decision.Rule) }},
	{column{"agree", wordCells, "", "true if both answers are the same, false if they differ; empty if one is missing."}, func(t *table, r *record) { t.plain(agree(r.step().Decision)) }},
	{column{"failed", wordCells, "", "Class of the error for which the model did not answer."}, func(t *table, r *record) { t.text(r.step().Decision.Failed) }},
	{column{"memory", jsonCells, "", "Texts, numbers and truth values that the agent remembered."}, func(t *table, r *record) { t.json(r.step().Decision.Seen) }},
})

var usedBy = [...]string{decision.Model: "model", decision.Rule: "rule"}

func agree(p *decision.Pair) string {
	if !p.Both() {
		return ""
	}
	return strconv.FormatBool(bytes.Equal(p.Model, p.Rule))
}

// message is the body of a message between agents.
type message struct {
	Text string          `json:"text"`
	Data json.RawMessage `json:"data"`
}

// messageOf returns the message of a record. A body of another form is data.
func messageOf(r *record) (m message) {
	body := r.Delta.Said[r.at].Body
	if json.Unmarshal(body, &m) != nil {
		return message{Data: body}
	}
	if bytes.Equal(m.Data, null) {
		m.Data = nil
	}
	return m
}

func timeCell(name, help string, of func(r *record) time.Duration) cell[*record] {
	return cell[*record]{column{name, floatCells, "ms", help}, func(t *table, r *record) { t.ms(of(r)) }}
}

func countCell(name, help string, of func(r *record) int64) cell[*record] {
	return cell[*record]{column{name, intCells, "", help}, func(t *table, r *record) { t.int(of(r)) }}
}

func labelCell(name, help string, label engine.Label) cell[*record] {
	return countCell(name, help, func(r *record) int64 { return r.asked.Labels[label] })
}

func addStatus(t *table, r *record) {
	if n := len(r.step().Statuses); n > 0 {
		t.int(int64(r.step().Statuses[n-1]))
	} else {
		t.plain("")
	}
}

func addStatuses(t *table, r *record) {
	text, _ := json.Marshal(r.step().Statuses) // numbers
	if len(r.step().Statuses) == 0 {
		text = nil
	}
	t.json(text)
}

var noUsage engine.Usage

func usageOf(r *record) *engine.Usage {
	if u := r.step().Usage; u != nil {
		return u
	}
	return &noUsage
}

// join returns the cells of all parts in a new list.
func join(parts ...[]cell[*record]) (all []cell[*record]) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func eachSession(_ *record, next func() error) error { return next() }

func eachEvent(r *record, next func() error) error {
	for r.at = range r.Events {
		if err := next(); err != nil {
			return err
		}
	}
	return nil
}

func eachDecision(r *record, next func() error) error {
	for r.at = range r.Steps {
		if r.step().Decision == nil {
			continue
		}
		if err := next(); err != nil {
			return err
		}
	}
	return nil
}

func eachStep(r *record, next func() error) error {
	for r.at = range r.Steps {
		if err := next(); err != nil {
			return err
		}
	}
	return nil
}

func eachRequest(r *record, next func() error) error {
	for r.at = range r.Steps {
		if s := r.step(); s.Attempts == 0 && len(s.Statuses) == 0 && s.Usage == nil {
			continue
		}
		if err := next(); err != nil {
			return err
		}
	}
	return nil
}

func eachMessage(r *record, next func() error) (err error) {
	for i := range r.Delta.Said {
		for _, to := range r.Delta.Said[i].To {
			r.at = i
			if r.to, err = r.names.Agent(to); err != nil {
				return err
			}
			if err := next(); err != nil {
				return err
			}
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

// Exact are the files that are the same bytes for the same scenario and seed, but for the IDs of sessions: see [engine.Settle].
var Exact = []struct {
	Name  string
	Write func(ctx context.Context, w io.Writer, r Reader, run engine.RunID, names Names) error
}{
	{"sessions.csv", ExportSessions}, {"events.csv", ExportEmitted}, {"memory.jsonl", ExportMemory},
}

// ExportSessions writes sessions.csv: how each session ended, ordered by cycle and agent.
func ExportSessions(ctx context.Context, w io.Writer, r Reader, run engine.RunID, names Names) error {
	return Export(ctx, w, CSV, "sessions", r, run, names)
}

// ExportEmitted writes the events that sessions emitted as CSV, ordered by cycle, agent and sequence, with their data as
// JSON. Its bytes depend on nothing but the events.
func ExportEmitted(ctx context.Context, w io.Writer, r Reader, run engine.RunID, names Names) error {
	emitted := sessionTable{"emitted", "", emittedCells, eachEvent}
	t, err := newTable(CSV, w, columnsOf(emittedCells))
	if err != nil {
		return err
	}
	return exportSessions(ctx, r, run, names, []openTable{{sessionTable: emitted, table: t}})
}

// openTable is a file that is being written.
type openTable struct {
	sessionTable
	table *table
	// fields are the columns of the events' fields; nil if the file has none.
	fields *fieldColumns
	// only is the name of the events in the file; "" if it has all.
	only string
}

func (o *openTable) row(r *record) error {
	if o.only != "" && r.Events[r.at].Name != o.only {
		return nil
	}
	for i := range o.cells {
		o.cells[i].add(o.table, r)
	}
	if o.fields != nil {
		o.fields.add(o.table, r.event.of(r))
	}
	return o.table.next()
}

// exportSessions reads the sessions once and writes the given tables.
func exportSessions(ctx context.Context, r Reader, run engine.RunID, names Names, tables []openTable) error {
	of := record{names: &names, event: &flatEvent{}}
	for s, err := range r.Sessions(ctx, run, 0, 0) {
		if err != nil {
			return err
		}
		of.SessionRow, of.asked, of.session = s, AskedOf(s), names.Session(s.Cycle, s.Agent)
		if of.agent, err = names.Agent(s.Agent); err != nil {
			return err
		}
		for i := range tables {
			o := &tables[i]
			if err := o.rows(&of, func() error { return o.row(&of) }); err != nil {
				return err
			}
		}
	}
	for _, t := range tables {
		if err := t.table.flush(); err != nil {
			return err
		}
	}
	return nil
}
