package merged

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/throng-sim/throng/engine"
)

// fake is the client of a service.
type fake struct {
	state   engine.ServiceState
	moves   []engine.ChangeRow
	tuned   []string
	renewed int
	fields  string
}

func (f *fake) State(time.Time) engine.ServiceState { return f.state }
func (f *fake) Tunables() []engine.Tunable {
	return []engine.Tunable{{Name: "shop.timeout", Value: "10s"}}
}
func (f *fake) Renew() { f.renewed++ }

func (f *fake) Moves() []engine.ChangeRow {
	moves := f.moves
	f.moves = nil
	return moves
}

func (f *fake) Tune(name, value string) (string, error) {
	if value == "bad" {
		return "", &engine.FieldError{Field: name, Problem: "it is bad"}
	}
	f.tuned = append(f.tuned, name+"="+value)
	return "old", nil
}

func (f *fake) Teach(fields string) (old, now string) {
	if old = f.fields; !strings.Contains(old, fields) {
		f.fields += fields
	}
	return old, f.fields
}

// sent returns a report as it arrives from another process.
func sent(t *testing.T, r Report) Report {
	t.Helper()
	data, err := cbor.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got Report
	if err := cbor.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	got.At = r.At // the time of the default encoding has whole seconds
	return got
}

// TestState checks which parts of the state come from where.
func TestState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := &fake{state: engine.ServiceState{
			Name: "shop", Kind: "http", InFlight: 7, Bound: 9, LimiterState: engine.LimiterState{Waiting: 3, Rate: 5, RateWhy: "as set"},
		}}
		m := New(own, Hooks{})
		worker := func(inFlight int, ok int64, breaker engine.BreakerState) *fake {
			f := &fake{state: engine.ServiceState{
				Name: "shop", InFlight: inFlight, Failures: 2, Retries: 1, Breaker: breaker, BreakerWhy: "away",
				LimiterState: engine.LimiterState{Waiting: 10 * inFlight, Rate: 99, Refused: 4, RateWhy: "other"},
			}}
			f.state.Replies[engine.Reply2xx] = ok
			return f
		}
		now := time.Now()
		skewed := now.Add(-time.Hour)
		away := worker(2, 20, engine.BreakerOpen)
		away.state.NextProbe = skewed.Add(5 * time.Second)
		m.Put("b", sent(t, ReportOf(worker(1, 10, engine.BreakerHalfOpen), now)))
		m.Put("c", sent(t, ReportOf(away, skewed)))
		m.Put("a", sent(t, ReportOf(worker(4, 40, engine.BreakerClosed), now)))
		s := m.State(now)
		if s.InFlight != 7 || s.Waiting != 70 || s.Bound != 9 || s.Rate != 5 || s.RateWhy != "as set" {
			t.Errorf("%+v", s)
		}
		if s.Failures != 6 || s.Retries != 3 || s.Refused != 12 || s.Replies[engine.Reply2xx] != 70 {
			t.Errorf("%d failures, %d retries, %d refused, %v", s.Failures, s.Retries, s.Refused, s.Replies)
		}
		if s.Breaker != engine.BreakerOpen || s.BreakerWhy != "c: away (the same on 2 of 3 workers)" || s.NextProbe.Sub(now).Round(time.Second) != 5*time.Second {
			t.Errorf("%v: %s, next probe in %v", s.Breaker, s.BreakerWhy, s.NextProbe.Sub(now))
		}
		m.Forget("c")
		m.Put("a", sent(t, ReportOf(worker(1, 1, engine.BreakerClosed), now))) // it was started again
		s = m.State(now)
		if s.InFlight != 2 || s.Breaker != engine.BreakerHalfOpen || s.Failures != 8 || s.Replies[engine.Reply2xx] != 71 {
			t.Errorf("after a worker was lost: %+v, %v", s, s.Replies)
		}
	})
}

// TestPassedOn checks what is passed on to the workers.
func TestPassedOn(t *testing.T) {
	own := &fake{state: engine.ServiceState{Name: "shop", Kind: "postgres"}}
	var passed []string
	m := New(own, Hooks{
		Tune:  func(service, name, value string) { passed = append(passed, service+" "+name+"="+value) },
		Renew: func(service string) { passed = append(passed, service+" renewed") },
	})
	for i := range 3 {
		m.Put(fmt.Sprint("w", i), Report{At: time.Now()})
	}
	for _, tt := range []struct {
		name, value, problem string
	}{
		{"shop.timeout", "5s", ""},
		{"shop.timeout", "bad", "it is bad"},
		{"shop.connections", "2", "3 workers cannot share 2 connections"},
		{"shop.connections", "3", ""},
	} {
		old, err := m.Tune(tt.name, tt.value)
		if wrong, ok := errors.AsType[*engine.FieldError](err); ok != (tt.problem != "") || ok && wrong.Problem != tt.problem || !ok && old != "old" {
			t.Errorf("%s=%s: %v, old %q", tt.name, tt.value, err, old)
		}
	}
	m.Renew()
	if want := []string{"shop shop.timeout=5s", "shop shop.connections=3", "shop renewed"}; !reflect.DeepEqual(passed, want) || len(own.tuned) != 2 || own.renewed != 1 {
		t.Errorf("passed on %q, want %q", passed, want)
	}
}

// TestMoves checks that moves of workers name the worker, and that what one worker learned of a model is passed on once.
func TestMoves(t *testing.T) {
	own := &fake{state: engine.ServiceState{Name: "model"}, moves: []engine.ChangeRow{{What: "model rate"}}}
	var passed []string
	m := New(own, Hooks{Tune: func(_, name, value string) { passed = append(passed, name+"="+value) }})
	learned := func(field string) engine.ChangeRow {
		return engine.ChangeRow{What: "model.unsupported", New: field, Who: "model", Why: "it refuses " + field}
	}
	for _, w := range []string{"a", "b"} {
		f := &fake{state: engine.ServiceState{Name: "model"}, moves: []engine.ChangeRow{{What: "model breaker", Why: "away"}, learned("seed")}}
		m.Put(w, sent(t, ReportOf(f, time.Now())))
	}
	var got []string
	for _, row := range m.Moves() {
		got = append(got, row.What+"|"+row.New+"|"+row.Why)
	}
	want := []string{"model rate||", "model breaker||a: away", "model.unsupported|seed|a: it refuses seed", "model breaker||b: away"}
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(passed, []string{"model.unsupported=seed"}) {
		t.Errorf("%q, passed on %q", got, passed)
	}
	if more := m.Moves(); len(more) != 0 {
		t.Errorf("moves were returned twice: %v", more)
	}
}
