package audit_test

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/arrivals"
	"github.com/throng-sim/throng/engine/audit"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recording is a run in memory, with the figures that a store records.
type recording struct {
	record           engine.RunRecord
	totals           engine.Totals
	rows             []engine.Row
	sessions, events int64
}

func (r *recording) Run(context.Context, engine.RunID) (engine.RunRecord, error) {
	return r.record, nil
}

func (r *recording) Totals(context.Context, engine.RunID) (engine.Totals, error) {
	return r.totals, nil
}

func (r *recording) Counters(context.Context, engine.RunID) (sessions, events int64, err error) {
	return r.sessions, r.events, nil
}

func (r *recording) Journaled(context.Context, engine.RunID) iter.Seq2[engine.Row, error] {
	return func(yield func(engine.Row, error) bool) {
		for _, row := range r.rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

func (r *recording) Checkpoints(context.Context, engine.RunID) (all []engine.CheckpointRecord, err error) {
	for _, row := range r.rows {
		if c, ok := row.(engine.CheckpointRow); ok {
			all = append(all, engine.CheckpointRecord{Number: len(all) + 1, At: c.At, Cycle: c.Cycle})
		}
	}
	return all, nil
}

// program is a crowd whose steps contribute to every figure.
type program struct{ *enginetest.Crowd }

func (p *program) Session(s *engine.Session) {
	p.Crowd.Session(s)
	for i := range s.Row.Steps {
		r := &s.Row.Steps[i]
		n := s.Agent + s.Cycle + i
		r.Throttled = time.Duration(n) * time.Millisecond
		r.Hold(engine.ThrottleCauses()[n%len(engine.ThrottleCauses())], time.Duration(n)*time.Microsecond)
		if r.Attempts > 0 && n%5 == 0 {
			r.Statuses = []int{429, 503, 200}
			r.Attempts = 2
		}
		r.Parallel = n%3 == 0
		r.Usage = &engine.Usage{Calls: 1, Input: int64(100 + n), Output: 20, Cost: int64(n) * 1000, Estimated: int64(n % 2), Hits: int64(n % 4 / 3), Again: int64(n % 5 / 4), Cached: int64(n % 7)}
		if n%7 == 0 {
			r.Status, r.Class = engine.StepFailed, engine.ServerError
		}
		if n%9 == 0 {
			r.Attempts, r.Statuses, r.Label = 0, nil, engine.Recorded
		}
	}
}

// record runs a crowd to its end, with a pause for a checkpoint and a session that is requeued by hand.
func record(t *testing.T) *recording {
	t.Helper()
	var out *recording
	synctest.Test(t, func(t *testing.T) {
		crowd := &enginetest.Crowd{Work: 2 * time.Second, Throttled: time.Second, Asks: 4, Shares: 3, Events: 3, Fail: 0.1, Stop: 0.1, Panic: 0.05, Hang: 0.02}
		j := &enginetest.Journal{Latency: time.Millisecond}
		cfg := enginetest.Config(30, &program{crowd}, j)
		cfg.Settings.Metrics, cfg.Settings.Cycles, cfg.Settings.Limit, cfg.Settings.Ceiling = true, 3, 10, 10
		cfg.Settings.SessionTimeout = 20 * time.Second
		cfg.Settings.TimeScale = 3600
		cfg.Clock.Arrivals = &arrivals.Plan{Poisson: true, Over: 8 * time.Second}
		cfg.Settings.Seed = 5
		cfg.Success = []engine.Criterion{
			{Metric: "agents_completed", Op: ">", Bound: 0.2, Text: "> 20%"},
			{Metric: "error_rate", Op: "<", Bound: 0.5, Text: "< 50%"},
			{Metric: "latency_p95", Op: "<", Bound: 60, Text: "< 60s"},
			{Metric: "cost", Op: "<", Bound: 1, Text: "< 1"},
			{Metric: "duration", Op: ">", Bound: 1, Text: "> 1s"},
			{Metric: "request_p50", Op: "<", Bound: 60, Text: "< 60s"},
			{Metric: "request_max", Op: "<", Bound: 60, Text: "< 60s"},
			{Metric: "request_error_rate", Op: "<", Bound: 0.9, Text: "< 90%"},
			{Metric: "request_rate", Op: ">", Bound: 0.01, Text: "0.01/s"},
			{Metric: "cycle_time", Op: "<", Bound: 1e6, Text: "< 1e6s"},
		}
		cfg.Probe.Host = func() engine.HostMetrics { return engine.HostMetrics{Memory: 1 << 20} }
		run, err := run.Start(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		requeued := false
		for run.Snapshot().Phase != engine.Ended {
			time.Sleep(700 * time.Millisecond)
			if !requeued && run.Snapshot().CycleFailed > 0 && run.Snapshot().Cycle > 0 {
				for agent := range 30 {
					requeued = requeued || run.Requeue(t.Context(), agent, "the test") == nil
				}
				if err := run.Checkpoint(t.Context(), "by hand"); err != nil {
					t.Fatal(err)
				}
			}
		}
		result := run.Wait()
		j.Close()
		if !requeued {
			t.Fatal("nothing was requeued")
		}
		end := enginetest.Of[engine.EndRow](j)[0]
		out = &recording{
			record: engine.RunRecord{
				ID: "test", Settings: cfg.Settings, Cycle: 3, Cycles: 3, Total: end.Total, Ended: end.At, Ending: end.Ending, Verdict: result.Verdict,
				Inexact: end.Totals.Inexact,
			},
			totals: end.Totals, rows: j.Rows(),
		}
		for _, s := range j.Sessions() {
			if s.Take == 0 {
				out.sessions++
			}
			out.events += int64(len(s.Events))
		}
		out.record.Done = out.sessions
	})
	return out
}

// differing returns the names of the figures that differ in an audit.
func differing(t *testing.T, r *recording) (names []string, report *audit.Report) {
	t.Helper()
	report, err := audit.Run(t.Context(), r, "test")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Figures {
		if f.Differ > 0 {
			names = append(names, fmt.Sprintf("%s: %s: recorded %s, recomputed %s %s", f.Group, f.Name, f.Recorded, f.Recomputed, f.Where))
		}
	}
	return names, report
}

func TestAllFiguresAreRecomputed(t *testing.T) {
	r := record(t)
	names, report := differing(t, r)
	if len(names) > 0 {
		t.Errorf("of an undisturbed run differ:\n%s", strings.Join(names, "\n"))
	}
	if recomputed, _, alone := report.Counts(); recomputed < 800 || alone == 0 {
		t.Errorf("%d figures recomputed, %d recorded only", recomputed, alone)
	}
	t.Log(report.Summary())
}

// recordedOnly are the numbers in totals, seconds and barriers that the journal does not contain otherwise.
var recordedOnly = regexp.MustCompile(`^barrier\.Mock$|^totals\.Peaks\.(CheckpointGap|Interrupted|Open|Overhead|Late)|` +
	`^second\.(Phase|Limit|InFlight|WritesPerSec|Host|Connections|ServerConnections|ServerMax|Pool|Unsent|Lag|Overhead|Late|Unrecorded|Stored)|^barrier\.Lag`)

// leaves calls f for each settable number in v, with its path.
func leaves(v reflect.Value, path string, f func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			switch field := v.Type().Field(i); {
			case field.Anonymous:
				leaves(v.Field(i), path, f)
			case field.IsExported():
				leaves(v.Field(i), path+"."+field.Name, f)
			}
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			leaves(v.Index(i), fmt.Sprintf("%s[%d]", path, i), f)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			leaves(v.Elem(), path, f)
		}
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64, reflect.Uint8:
		f(path, v)
	default:
	}
}

// damage changes a number by more than rounding, and returns a function that restores it.
func damage(v reflect.Value) (undo func()) {
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	switch {
	case v.CanInt():
		v.SetInt(v.Int() + max(v.Int()/10, 1) + int64(time.Second)*b2i(v.Type() == reflect.TypeFor[time.Duration]()))
	case v.CanUint():
		v.SetUint(v.Uint() ^ 1)
	default:
		v.SetFloat(v.Float()*1.5 + 1)
	}
	return func() { v.Set(old) }
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// TestDamageIsNamed changes each recorded number in turn, and checks that the audit finds it and reports little else.
func TestDamageIsNamed(t *testing.T) {
	r := record(t)
	n := 0
	try := func(path string, v reflect.Value, put func()) {
		if recordedOnly.MatchString(path) {
			return
		}
		undo := damage(v)
		put()
		names, _ := differing(t, r)
		undo()
		put()
		n++
		if path == "barrier.Cycle" { // each figure of the checkpoint at the start of the next cycle follows from it
			names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "checkpoint ") })
		}
		if len(names) == 0 || len(names) > mostNamed {
			t.Errorf("%s was changed, and these differ:\n%s", path, strings.Join(names, "\n"))
		}
	}
	leaves(reflect.ValueOf(&r.totals).Elem(), "totals", func(path string, v reflect.Value) { try(path, v, func() {}) })
	seconds, barriers := 0, 0
	for i, row := range r.rows {
		switch row := row.(type) {
		case engine.MetricsRow:
			if row.Total.Count < 3 || seconds > 0 {
				continue
			}
			seconds++
			leaves(reflect.ValueOf(&row).Elem(), "second", func(path string, v reflect.Value) { try(path, v, func() { r.rows[i] = row }) })
		case engine.BarrierRow:
			barriers++
			if barriers == 2 {
				leaves(reflect.ValueOf(&row).Elem(), "barrier", func(path string, v reflect.Value) { try(path, v, func() { r.rows[i] = row }) })
			}
		case engine.CheckpointRow:
			leaves(reflect.ValueOf(&row.State.Totals).Elem(), "checkpoint", func(path string, v reflect.Value) {
				if !strings.HasPrefix(path, "checkpoint.Peaks") && !strings.HasPrefix(path, "checkpoint.Shared") {
					try(path, v, func() { r.rows[i] = row })
				}
			})
		default:
		}
	}
	record := reflect.ValueOf(&r.record).Elem()
	for _, name := range []string{"Cycle", "Done", "Total"} {
		try("record."+name, record.FieldByName(name), func() {})
	}
	for i := range r.record.Verdict {
		try(fmt.Sprintf("verdict[%d]", i), reflect.ValueOf(&r.record.Verdict[i].Value).Elem(), func() {})
	}
	if n < 250 {
		t.Errorf("only %d figures were damaged", n)
	}
}

// mostNamed is the number of figures that one number may affect: a number of sessions is in totals, rates and sums.
const mostNamed = 6

// TestDamagedRows checks that the audit finds removed, duplicated and moved rows.
func TestDamagedRows(t *testing.T) {
	r := record(t)
	find := func(is func(row engine.Row) bool) int { return slices.IndexFunc(r.rows, is) }
	session := find(func(row engine.Row) bool { s, ok := row.(engine.SessionRows); return ok && s[0].Cycle == 1 })
	barrier := find(func(row engine.Row) bool { b, ok := row.(engine.BarrierRow); return ok && b.Cycle == 1 })
	answer := find(func(row engine.Row) bool { _, ok := row.(engine.IntentRow); return ok })
	for name, damaged := range map[string][]engine.Row{
		"a session is missing":       slices.Delete(slices.Clone(r.rows), session, session+1),
		"a session is there twice":   slices.Insert(slices.Clone(r.rows), session, r.rows[session]),
		"a barrier is missing":       slices.Delete(slices.Clone(r.rows), barrier, barrier+1),
		"an intent is missing":       slices.Delete(slices.Clone(r.rows), answer, answer+1),
		"a session after its cycle":  slices.Insert(slices.Delete(slices.Clone(r.rows), session, session+1), barrier, r.rows[session]),
		"a shared answer is missing": slices.DeleteFunc(slices.Clone(r.rows), func(row engine.Row) bool { _, ok := row.(engine.SharedRow); return ok }),
	} {
		other := *r
		other.rows = damaged
		if names, _ := differing(t, &other); len(names) == 0 {
			t.Errorf("%s: nothing differs", name)
		}
	}
}

// TestAnswersWithoutIntents checks that only a recording may contain answers of read-only requests.
func TestAnswersWithoutIntents(t *testing.T) {
	r := record(t)
	session := slices.IndexFunc(r.rows, func(row engine.Row) bool { _, ok := row.(engine.SessionRows); return ok })
	place := r.rows[session].(engine.SessionRows)[0].Place
	r.rows = slices.Insert(r.rows, session, engine.Row(engine.AnswerRow{Place: place, Entry: engine.Entry{Path: "browse", Attempts: 1}}))
	if names, _ := differing(t, r); len(names) != 1 {
		t.Errorf("of a run that does not record differ:\n%s", strings.Join(names, "\n"))
	}
	r.rows[session] = engine.AnswerRow{Place: place, Entry: engine.Entry{Path: "browse!cookies", Attempts: 1}}
	if names, _ := differing(t, r); len(names) != 1 {
		t.Errorf("cookies of an answer without an intent: %q", names)
	}
	r.record.Settings.Record = true
	if names, _ := differing(t, r); len(names) > 0 {
		t.Errorf("of a run that records differ:\n%s", strings.Join(names, "\n"))
	}
}
