package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// runRow compares the row of the run.
func (p *comparison) runRow(ctx context.Context) error {
	r := p.run
	s, err := storage.Summarize(r, p.totals)
	if err != nil {
		return err
	}
	columns := []struct{ expression, here string }{
		{"title", sanitize(r.Title)},
		{"scenario", sanitize(r.Source.Name)},
		{"scenario_hash", sanitize(r.Source.Hash)},
		{"seed::text", strconv.FormatUint(r.Settings.Seed, 10)},
		{micros("created"), microsOf(r.Created)},
		{micros("ended"), microsOf(r.Ended)},
		{"coalesce(ending, '')", r.Ending.String()},
		{"coalesce(reason, '')", sanitize(r.Reason)},
		{"cycle::text", strconv.Itoa(r.Cycle)},
		{"cycles::text", strconv.Itoa(r.Cycles)},
		{"done::text", strconv.FormatInt(r.Done, 10)},
		{"total::text", strconv.FormatInt(r.Total, 10)},
		{"coalesce(parent, '')", string(r.Parent)},
		{"fork_cycle::text", strconv.Itoa(r.ForkCycle)},
		{"coalesce(inexact::text, '')", string(s.Inexact)},
		{"coalesce(verdict::text, '')", string(s.Verdict)},
	}
	if r.Ending != engine.NotEnded { // otherwise its totals are those of a checkpoint
		columns = append(columns, struct{ expression, here string }{"coalesce(totals::text, '')", string(s.Totals)})
	}
	expressions, there := make([]string, len(columns)), make([]any, len(columns))
	for i, c := range columns {
		expressions[i], there[i] = c.expression, new(string)
	}
	err = p.conn.QueryRow(ctx, "SELECT "+strings.Join(expressions, ", ")+" FROM throng.runs WHERE id = $1", string(r.ID)).Scan(there...)
	if errors.Is(err, pgx.ErrNoRows) {
		return &engine.FieldError{Field: "run", Problem: "is not in this database", Hint: "send it with: throngctl push " + string(r.ID)}
	}
	if err != nil {
		return err
	}
	for i, c := range columns {
		theirs := *there[i].(*string)
		same := theirs == c.here || strings.HasPrefix(c.expression, "coalesce(totals") && sameTotals(theirs, c.here)
		p.found("runs", c.expression, "", same, theirs, c.here)
	}
	return nil
}

// sameTotals reports whether totals are equal, ignoring values that are 0 here and that an older Throng did not send.
func sameTotals(theirs, here string) bool {
	var a, b any
	return json.Unmarshal([]byte(theirs), &a) == nil && json.Unmarshal([]byte(here), &b) == nil && sameFigures(a, b)
}

func sameFigures(theirs, here any) bool {
	a, ok1 := theirs.(map[string]any)
	b, ok2 := here.(map[string]any)
	if !ok1 || !ok2 {
		return reflect.DeepEqual(theirs, here)
	}
	for name, figure := range b {
		known, ok := a[name]
		if ok && !sameFigures(known, figure) || !ok && figure != 0.0 {
			return false
		}
	}
	for name := range a {
		if _, ok := b[name]; !ok {
			return false
		}
	}
	return true
}

// micros returns a time as text, in microseconds since 1970; empty for NULL.
func micros(column string) string {
	return "coalesce((extract(epoch FROM " + column + ") * 1000000)::bigint::text, '')"
}

func microsOf(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return strconv.FormatInt(at.UnixMicro(), 10)
}

// sum is a sum over the rows of a table, with the total of the run that it must equal.
type sum struct {
	table, name, expression string
	here                    float64
	grain                   float64 // rounding of each row
}

// onlyLast selects the last take of each session.
const onlyLast = `NOT EXISTS (SELECT 1 FROM throng.sessions l WHERE l.run = t.run AND l.cycle = t.cycle AND l.agent_index = t.agent_index AND l.take > t.take)`

func (p *comparison) expected() (all []sum) {
	t := p.totals
	add := func(table, name, expression string, here int64) {
		all = append(all, sum{table, name, expression, float64(here), 0})
	}
	takes := t.Total.Count()
	add("sessions", "all takes", "count(*)", takes)
	for _, s := range []struct {
		column string
		here   int64
	}{
		{"requests", t.Requests},
		{"retries", t.Retries},
		{"rate_limited", t.RateLimited},
		{"replayed", t.Labels[engine.Replayed]},
		{"resent", t.Labels[engine.Resent]},
		{"confirmed", t.Labels[engine.Confirmed]},
		{"not_repeated", t.Labels[engine.NotRepeated]},
		{"unconfirmed", t.Labels[engine.Unconfirmed]},
		{"model_calls", t.Usage.Calls},
		{"input_tokens", t.Usage.Input},
		{"cached_input_tokens", t.Usage.Cached},
		{"output_tokens", t.Usage.Output},
		{"cache_hits", t.Usage.Hits},
		{"steps", t.Steps},
	} {
		add("sessions", "sum of "+s.column, "coalesce(sum("+s.column+"), 0)", s.here)
	}
	if t.Usage.Unpriced == 0 {
		all = append(all, sum{"sessions", "sum of cost_usd", "coalesce(sum(cost_usd), 0)", float64(t.Usage.Cost) / 1e9, 1e-12})
	}
	for _, s := range []struct {
		column string
		here   time.Duration
	}{{"total_ms", t.Total.Sum()}, {"service_ms", t.Service.Sum()}, {"throttled_ms", t.Throttled.Sum()}, {"queued_ms", t.Queue.Sum()}} {
		all = append(all, sum{"sessions", "sum of " + s.column, "coalesce(sum(" + s.column + "), 0)", float64(s.here) / 1e6, 0.0005 + 1e-9*float64(s.here)/1e6/float64(max(takes, 1))})
	}
	if p.run.Ending == engine.NotEnded { // a requeued session may not have its next take yet
		return all
	}
	for o := engine.OK; o < engine.Cut; o++ {
		add("sessions", "that ended "+o.String(), "count(*) FILTER (WHERE outcome = "+literal(o.String())+" AND "+onlyLast+")", t.Outcomes[o])
	}
	add("sessions", "that acted", "count(*) FILTER (WHERE acted AND "+onlyLast+")", t.Acted)
	add("events", "of last takes", "count(*) FILTER (WHERE "+onlyLast+")", t.Events)
	return all
}

// sums compares sums over columns with the totals of the run.
func (p *comparison) sums(ctx context.Context) error {
	for _, s := range p.expected() {
		var there float64
		query := fmt.Sprintf("SELECT (%s)::float8 FROM throng.%s t WHERE run = $1", s.expression, s.table)
		if err := p.conn.QueryRow(ctx, query, string(p.run.ID)).Scan(&there); err != nil {
			return err
		}
		same := math.Abs(there-s.here) <= s.grain*float64(p.totals.Total.Count())
		p.found(s.table, s.name, "", same, there, s.here)
	}
	return nil
}

// checkpoints compares the checkpoints in the local store. The database also has older ones.
func (p *comparison) checkpoints(ctx context.Context) error {
	here, err := p.local.Checkpoints(ctx, p.run.ID)
	if err != nil {
		return err
	}
	rows, err := p.conn.Query(ctx, "SELECT number, "+micros("at")+", cycle, done, total, reason, size_bytes FROM throng.checkpoints WHERE run = $1", string(p.run.ID))
	if err != nil {
		return err
	}
	type line struct {
		at, reason         string
		cycle              int
		done, total, bytes int64
	}
	there := map[int]line{}
	var number int
	var l line
	if _, err := pgx.ForEachRow(rows, []any{&number, &l.at, &l.cycle, &l.done, &l.total, &l.reason, &l.bytes}, func() error {
		there[number] = l
		return nil
	}); err != nil {
		return err
	}
	for i := range here {
		c := &here[i]
		where := fmt.Sprintf("checkpoint %d", c.Number)
		theirs, ok := there[c.Number]
		mine := line{microsOf(c.At), sanitize(c.Reason), c.Cycle, c.Done, c.Total, c.SizeBytes}
		p.found("checkpoints", "rows", where, ok && theirs == mine, theirs, mine)
	}
	newest := 0
	if len(here) > 0 {
		newest = slices.MaxFunc(here, func(a, b engine.CheckpointRecord) int { return a.Number - b.Number }).Number
	}
	for n := range there {
		if n > newest {
			p.found("checkpoints", "rows", fmt.Sprintf("checkpoint %d", n), false, "there", "missing")
		}
	}
	return nil
}
