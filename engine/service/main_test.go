package service

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// program is the session of a test.
type program func(s *engine.Session)

func (p program) Session(s *engine.Session) { p(s) }

// stage runs one session of one agent around the calls of a test.
type stage struct {
	journal *enginetest.Journal
	resume  *engine.Resumption
	ctx     context.Context // the session is cut when it ends; nil is the test's context
	change  func(*engine.Settings)
	tracer  engine.Tracer
	after   func(*run.Run) // called with the run after its end
}

// play runs a session in which f makes calls, and returns its row; nil if it was cut.
func (st stage) play(t *testing.T, f program) *engine.SessionRow {
	t.Helper()
	if st.journal == nil {
		st.journal = &enginetest.Journal{}
	}
	if st.ctx == nil {
		st.ctx = t.Context()
	}
	settings := engine.DefaultSettings()
	settings.Metrics, settings.CheckpointEvery = false, 0
	if st.change != nil {
		st.change(&settings)
	}
	run, err := run.Start(st.ctx, run.Config{
		ID: "run", Program: f, Agents: 1, Settings: settings, Journal: st.journal, Resume: st.resume, Hooks: run.Hooks{Tracer: st.tracer},
		Clock: engine.Clock{Start: time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC), Cycle: time.Hour},
	})
	if err != nil {
		t.Fatal(err)
	}
	run.Wait()
	if st.after != nil {
		st.after(run)
	}
	if rows := st.journal.Sessions(); len(rows) > 0 {
		return &rows[0]
	}
	return nil
}

// end ends a test's session with the result of a call.
func end(s *engine.Session, call *Call, err error) {
	s.Row.Steps = append(s.Row.Steps, call.Record)
	s.Row.Throttled, s.Row.Service = call.Record.Throttled, call.Record.Service
	if err != nil {
		s.Row.Fail(call.Path, err)
		return
	}
	s.Row.Outcome = engine.OK
}

// callOf returns a call of a session with the run's retries.
func callOf(s *engine.Session, path string) *Call {
	return &Call{Session: s, Clock: s.Clock(), Path: path, Retry: s.Settings().Retry}
}

// client returns an HTTP client with a fake transport.
func client(t *testing.T, rt http.RoundTripper, limits Limits) *HTTP {
	t.Helper()
	h, err := NewHTTP("shop", "http://shop.example/base", limits, false)
	if err != nil {
		t.Fatal(err)
	}
	h.transport.base = rt
	return h
}

// must parses a path.
func must(t *testing.T, path string) Target {
	t.Helper()
	target, err := ParseTarget(path)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// script is a fake service: each request gets the next answer, further requests the last one.
type script struct {
	answers []reply

	mu   sync.Mutex
	seen []seen
}

type seen struct {
	at     time.Time
	method string
	url    string
	header http.Header
	body   string
}

// reply is one answer: a status with a body, or an error; after a delay, or never.
type reply struct {
	status int
	body   string
	header map[string]string
	err    error
	after  time.Duration
	hangs  bool
}

func (f *script) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		data, _ := io.ReadAll(r.Body)
		body = string(data)
	}
	f.mu.Lock()
	n := len(f.seen)
	f.seen = append(f.seen, seen{time.Now(), r.Method, r.URL.String(), r.Header.Clone(), body})
	a := f.answers[min(n, len(f.answers)-1)]
	f.mu.Unlock()
	if a.hangs {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	if a.after > 0 {
		select {
		case <-time.After(a.after):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	if a.err != nil {
		return nil, a.err
	}
	h := http.Header{}
	for name, value := range a.header {
		h.Set(name, value)
	}
	return &http.Response{
		StatusCode: a.status, Header: h, Body: io.NopCloser(strings.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: r,
	}, nil
}

func (f *script) requests() []seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen
}

// waits returns the times between the requests.
func (f *script) waits() []time.Duration {
	var d []time.Duration
	all := f.requests()
	for i := 1; i < len(all); i++ {
		d = append(d, all[i].at.Sub(all[i-1].at))
	}
	return d
}
