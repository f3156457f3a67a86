package report

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/agreement"
	"github.com/throng-sim/throng/engine/decision"
	"github.com/throng-sim/throng/engine/view"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// hostile is a text that contains markup.
const hostile = `<script>alert("x")</script> & '=cmd()' </style></svg>`

// source is a store with one run in memory.
type source struct {
	record   engine.RunRecord
	sessions []engine.SessionRow
	metrics  []engine.MetricsRow
	changes  []engine.ChangeRow
	doubts   engine.UnconfirmedList
	barriers []engine.BarrierRow
	errs     [][]engine.ErrorNote
	gone     error // error for the parent
}

func (s *source) Barriers(context.Context, engine.RunID) ([]engine.BarrierRow, error) {
	return s.barriers, nil
}

func (s *source) Run(_ context.Context, run engine.RunID) (engine.RunRecord, error) {
	if run == s.record.Parent && run != "" {
		return engine.RunRecord{ID: run, Title: "Yesterday"}, s.gone
	}
	return s.record, nil
}

func (s *source) Totals(context.Context, engine.RunID) (t engine.Totals, err error) {
	for i := range s.sessions {
		t.Add(&s.sessions[i])
	}
	t.Peaks = engine.Peaks{
		Memory: 123_000_000, Connections: 7, ServerConnections: 12, Cycle: 2500 * time.Millisecond, Elapsed: time.Minute, Lag: time.Second,
		Overhead: engine.Overhead{
			Span: time.Minute, Cores: 2 * time.Minute, Machine: time.Minute, Process: 30 * time.Second, Requests: 3,
			Times: engine.Times{engine.ForServices: 3 * time.Second, engine.ForRefusals: time.Second, engine.ForEngine: 60 * time.Millisecond},
		},
	}
	return t, nil
}

func (s *source) Sessions(context.Context, engine.RunID, int, int) iter.Seq2[*engine.SessionRow, error] {
	return func(yield func(*engine.SessionRow, error) bool) {
		for i := range s.sessions {
			if row := s.sessions[i]; !yield(&row, nil) {
				return
			}
		}
	}
}

func (s *source) Metrics(context.Context, engine.RunID, time.Time) iter.Seq2[*engine.MetricsRow, error] {
	return func(yield func(*engine.MetricsRow, error) bool) {
		for i := range s.metrics {
			if row := s.metrics[i]; !yield(&row, nil) {
				return
			}
		}
	}
}

func (s *source) Memory(context.Context, engine.RunID) (map[int]*engine.Memory, error) {
	return nil, nil
}

func (s *source) Changes(context.Context, engine.RunID) ([]engine.ChangeRow, error) {
	return s.changes, nil
}

func (s *source) Unconfirmed(_ context.Context, _ engine.RunID, most int) (engine.UnconfirmedList, error) {
	u := s.doubts
	u.First = u.First[:min(most, len(u.First))]
	return u, nil
}

func (s *source) LatestErrors(_ context.Context, _ engine.RunID, most int) (all [][]engine.ErrorNote, err error) {
	for _, notes := range s.errs {
		all = append(all, notes[:min(most, len(notes))])
	}
	return all, nil
}

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// second returns the metrics of one second.
func second(at time.Time, n int) engine.MetricsRow {
	wave := 1 + math.Sin(float64(n)/40)
	return engine.MetricsRow{
		At:          at,
		Phase:       engine.Running,
		Ended:       int64(4 * n),
		Limit:       20 + n/100,
		InFlight:    int(10 * wave),
		SecondRates: engine.SecondRates{SessionsPerSec: 4 * wave, RequestsPerSec: 12 * wave},
		SecondTimes: engine.SecondTimes{Total: engine.Quantiles{Count: 4, P50: time.Duration(40*wave) * time.Millisecond, P95: time.Duration(90*wave) * time.Millisecond, P99: time.Duration(200*wave) * time.Millisecond}},
		Counters:    engine.Counters{RateLimited: int64(n / 10), Retries: int64(n / 20), Usage: engine.Usage{Calls: int64(n), Cost: 21_300 * int64(n)}},
		Host:        engine.HostMetrics{CPU: 30 * wave, ProcessCPU: 40 * wave, Cores: 4, Memory: 100_000_000 + 100_000*uint64(n%300), Available: 8e9, DiskFree: 1e12},
		DatabaseUse: engine.DatabaseUse{Connections: 3, ServerConnections: 9, ServerMax: 60, Unsent: -1},
	}
}

// day returns a run with content in all parts of a report.
func day() *source {
	settings := engine.DefaultSettings()
	settings.Seed, settings.Cycles = 42, 2
	settings.Services = map[string]string{"shop": "https://user:secret@shop.example:8080/api?key=secret"}
	s := &source{
		record: engine.RunRecord{
			ID: "0192f6a4", Title: "Shoppers " + hostile, Settings: settings, Created: epoch, Ended: epoch.Add(time.Hour), Ending: engine.EndFinished,
			Cycle: 2, Cycles: 2, Done: 4, Total: 4, Ancestry: engine.Ancestry{Parent: "0192f000", ForkCycle: 1, Kept: 12}, Limit: 20, Marks: engine.Marks{Note: "a note\n" + hostile},
			Source: engine.Source{
				Name: "shop.yaml", Hash: "ab12", Files: map[string][]byte{"shop.yaml": []byte("a: <b> # " + hostile), "logo.png": {0xff, 0xd8}, "people.csv": bytes.Repeat([]byte("a"), shownFile+1)},
				Parameters: map[string]string{"shops": "3", "greeting": fmt.Sprintf("%q", hostile)},
			},
			Verdict: []engine.Judgment{
				{Criterion: engine.Criterion{Metric: "error_rate", Text: "< 5%"}, Value: 0.25, Shown: "25%"},
				{Criterion: engine.Criterion{Metric: "duration", Text: "< 2m"}, Value: 60, Shown: "1 min", Passed: true},
				{Criterion: engine.Criterion{Metric: "memory", Text: "< 12GB"}, Shown: "not known", Unknown: true},
			},
			Forecast: &engine.Forecast{Sessions: engine.Exactly(4, engine.FromFile), Length: engine.Exactly(90, engine.Guessed), Server: -1, ServerMax: -1},
		},
		barriers: []engine.BarrierRow{
			{Cycle: 1, At: epoch.Add(time.Minute), Active: 4, Took: 2 * time.Second, Work: engine.CycleWork{OK: 3, Failed: 1, Busy: 7 * time.Second, Flow: engine.Flow{Parallel: 8, Sequential: 4, Failed: 1}}},
			{Cycle: 2, At: epoch.Add(2 * time.Minute), Took: 3 * time.Second},
		},
		changes: []engine.ChangeRow{
			{At: epoch.Add(9 * time.Second), What: engine.LimitSetting, Old: "20", New: "15", Who: "resources", Why: "CPU 95%"},
			{At: epoch.Add(30 * time.Second), Cycle: 1, What: engine.LimitSetting, Old: "15", New: "30", Who: "terminal (me@1)", Why: hostile},
			{At: epoch.Add(200 * time.Second), Cycle: 1, What: engine.InjectChange, Old: "all", New: `{"cycle":2,"said":{"text":"<b>sale</b>","data":null}}`, Who: hostile, Inexact: &engine.Inexact{Cycle: 1}},
		},
		errs: [][]engine.ErrorNote{{
			{Class: engine.ServerError, Count: 7, Cycle: 1, Agent: 1, Path: "pay", Message: "status 500: " + hostile}, {Class: engine.ServerError, Count: 7, Agent: 0, Path: "pay", Message: "before"},
		}},
	}
	for i, o := range []engine.Outcome{engine.OK, engine.Stopped, engine.Failed, engine.OK, engine.OK} {
		row := engine.SessionRow{
			Place: engine.Place{Agent: i}, Outcome: o, Total: time.Duration(i+1) * 30 * time.Millisecond, Service: 20 * time.Millisecond, Acted: i%2 == 0,
			Steps: []engine.StepRecord{{Path: "open", Service: time.Millisecond}, {Path: "pay", Attempts: 2, Statuses: []int{503, 200}, Service: 19 * time.Millisecond, Usage: &engine.Usage{Calls: 1, Input: 120, Output: 30, Cost: 5_000_000}}},
		}
		if o == engine.Failed {
			row.Class, row.Path, row.Error = engine.BadAnswer, "pay", hostile
		}
		s.sessions = append(s.sessions, row)
	}
	for n := range 400 {
		at := epoch.Add(time.Duration(n) * time.Second)
		if n >= 300 { // interrupted, and resumed an hour later
			at = at.Add(time.Hour)
		}
		s.metrics = append(s.metrics, second(at, n))
	}
	s.doubts = engine.UnconfirmedList{All: 3, First: []engine.UnconfirmedRow{
		{Place: engine.Place{Cycle: 1, Agent: 2}, At: epoch.Add(time.Minute), Path: "pay[1].order", Request: "POST /orders/" + hostile},
	}}
	return s
}

// extras returns all content that is not in the store.
func extras() Extras {
	other := day()
	other.record.ID = "0192f000"
	totals, _ := other.Totals(context.Background(), "")
	var c agreement.Collector
	for i := range 12 {
		p := &decision.Pair{Model: []byte(`{"shop":true}`), Rule: []byte(`{"shop":true}`), Used: decision.Rule}
		if i%4 == 0 {
			p.Rule = []byte(`{"shop":false}`)
		}
		c.Add(&engine.SessionRow{Place: engine.Place{Cycle: i / 6}, Steps: []engine.StepRecord{{Path: hostile, Decision: p}}})
	}
	return Extras{
		Agreement: c.Result(),
		Version:   "1.2.3", Agent: func(index int) (string, error) { return fmt.Sprintf("%s-%d", hostile, index), nil },
		Calls: map[string]view.StepCall{"pay": {Service: "shop", Endpoint: "POST /pay"}}, Audit: &Audit{"12 figures recomputed, all equal", true},
		Against: &Comparison{
			Run: other.record, Totals: totals, From: 1, To: 2, Differences: []string{"parameter shops 2 → 3", hostile}, Method: "paired",
			Rows: []ComparedRow{{"per session", hostile, "1 (0.5 to 1.5)", "2 (1.5 to 2.5)", "+1 (+0.5 to +1.5)", "< 0.001", true}},
		},
	}
}

func written(t *testing.T, s *source, b Extras) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(t.Context(), &out, s, "r", b); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestGolden checks that the same run produces the same bytes.
func TestGolden(t *testing.T) { golden(t, "report.html", written(t, day(), extras())) }

// golden compares a page with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		a, b := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("line %d: got\n%.500s\nwant\n%.500s", i+1, a[i], b[i])
			}
		}
		t.Fatalf("%d lines, want %d", len(a), len(b))
	}
}

// TestNothingStrange checks that a report loads nothing, runs nothing, and shows no secret, whatever texts it contains.
func TestNothingStrange(t *testing.T) {
	got := written(t, day(), extras())
	inert(t, got)
	if n := strings.Count(got, "&lt;script&gt;alert"); n < 9 {
		t.Errorf("the report has the hostile text %d times: something is left out", n)
	}
	if n := strings.Count(got, "http"); n != strings.Count(got, "http-equiv")+strings.Count(got, "https://shop.example:8080/api") {
		t.Errorf("there are other addresses: %d", n)
	}
}

// inert checks that a page loads nothing and runs nothing.
func inert(t *testing.T, got string) {
	t.Helper()
	for _, bad := range []string{"<script", "secret", "src=", "@import", "url(", "http-equiv=\"refresh", "</style></svg>", "onload", "javascript:"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q is in the report", bad)
		}
	}
}

// TestContent checks the most important content.
func TestContent(t *testing.T) {
	got := written(t, day(), extras())
	for _, want := range []string{
		`1 of 3 criteria missed, 1 unknown (error_rate was 25%, wanted &lt; 5%);`, `<span class="badge bad">FAIL</span></td><td>error_rate</td><td>&lt; 5%</td><td class="bad">25%</td>`,
		`Continues Yesterday (run 0192f000) from the start of cycle 1; 12 sessions are kept.`, `Audit: 12 figures recomputed, all equal`,
		`$0.0250`, `<td>shop</td><td>1</td><td>5</td>`, `told all: &lt;b&gt;sale&lt;/b&gt;`, `inexact from here on`, `interrupted for 1 h`,
		`people.csv (66 kB)`, `https://shop.example:8080/api`, `Comparison with run 0192f000`, `<tr class="clear">`, `Throng 1.2.3.`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	short := day()
	short.record.Verdict, short.record.Ending = short.record.Verdict[1:2], engine.EndStopped
	if got := written(t, short, Extras{}); !strings.Contains(got, "The run was stopped: the success criterion is met;") {
		t.Error("a run that was stopped has met its criteria")
	}
	before := day()
	before.gone = fmt.Errorf("run 0192f000: %w", engine.ErrNotFound)
	if got := written(t, before, Extras{}); !strings.Contains(got, "Continues run 0192f000 from the start of cycle 1; 12 sessions are kept.") || !strings.Contains(got, "agent 1, step pay") {
		t.Error("the origin is wrong without the parent")
	}
}

// TestEmptyRun checks a run that was stopped before it did anything.
func TestEmptyRun(t *testing.T) {
	got := written(t, &source{record: engine.RunRecord{ID: "r", Title: "Nothing", Created: epoch, Settings: engine.DefaultSettings(), Ending: engine.EndStopped, Reason: "by hand"}}, Extras{})
	for _, want := range []string{"There are no metrics", "No session failed.", "Nothing was changed during the run.", "The run was stopped: no success criteria;", "0 sessions, 1 min; by hand."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, bad := range []string{"NaN", "Inf", "<no value>", "Session times", "%!"} {
		if strings.Contains(got, bad) {
			t.Errorf("got %q", bad)
		}
	}
}

// TestLongRun checks a run of 8 hours with many changes by a governor: the report stays small, and extremes are drawn.
func TestLongRun(t *testing.T) {
	s := day()
	s.metrics, s.changes = nil, nil
	const seconds = 8 * 3600
	for n := range seconds {
		m := second(epoch.Add(time.Duration(n)*time.Second), n)
		if m.InFlight = 10; n == 20_001 {
			m.InFlight = 77 // for one second
		}
		s.metrics = append(s.metrics, m)
		if n%30 == 0 {
			s.changes = append(s.changes, engine.ChangeRow{At: m.At, What: engine.LimitSetting, Old: "20", New: "21", Who: "latency"})
		}
	}
	got := written(t, s, Extras{})
	if len(got) > 1<<19 {
		t.Errorf("the report has %d bytes", len(got))
	}
	if !strings.Contains(got, "in flight <i>77</i>") {
		t.Error("the largest value is missing")
	}
	if !strings.Contains(got, "960 automatic changes") {
		t.Error("the automatic changes are not counted")
	}
}

// TestMostLinesStay checks that the line of a short run has all values.
func TestMostLinesStay(t *testing.T) {
	x := &axis{}
	for n := range 100 {
		x.see(epoch.Add(time.Duration(n) * time.Second))
	}
	l := newLine(x)
	for n := range 100 {
		l.add(time.Duration(n)*time.Second, float64(n*n%17))
	}
	pieces := l.pieces()
	if len(pieces) != 1 || len(pieces[0]) != 100 {
		t.Fatalf("%d pieces", len(pieces))
	}
	for n, p := range pieces[0] {
		if p.v != float64(n*n%17) || p.at != time.Duration(n)*time.Second {
			t.Errorf("point %d is %v", n, p)
		}
	}
}

func TestAxisLeavesOutInterruptions(t *testing.T) {
	x := &axis{}
	for _, s := range []int{0, 1, 2, 3602, 3603} {
		x.see(epoch.Add(time.Duration(s) * time.Second))
	}
	if x.length() != 4*time.Second || len(x.cuts) != 1 {
		t.Fatalf("the duration is %v with %d cuts", x.length(), len(x.cuts))
	}
	for at, want := range map[int]time.Duration{0: 0, 2: 2 * time.Second, 1800: 2 * time.Second, 3602: 3 * time.Second, 3603: 4 * time.Second, 3610: 4 * time.Second} {
		if got, ok := x.since(epoch.Add(time.Duration(at) * time.Second)); !ok || got != want {
			t.Errorf("second %d is at %v, want %v", at, got, want)
		}
	}
	if _, ok := x.since(epoch.Add(5000 * time.Second)); ok {
		t.Error("a time long after the axis is drawn")
	}
}

func TestScales(t *testing.T) {
	for _, c := range []struct {
		most float64
		unit unit
		want string
	}{
		{0, counts, "0 0.5 1"},
		{7, wholes, "0 2 4 6 8"},
		{2, wholes, "0 1 2"},
		{100, percents, "0% 50% 100%"},
		{0.35, durations, "0 100 ms 200 ms 300 ms 400 ms"},
		{11.7, durations, "0 5 s 10 s 15 s"},
		{200, durations, "0 1 min 2 min 3 min 4 min"},
		{123e6, sizes, "0 50 MB 100 MB 150 MB"},
		{0.0087, dollars, "$0 $0.005 $0.0100"},
	} {
		_, ticks := scale(c.most, c.unit.steps)
		var texts []string
		for _, v := range ticks {
			texts = append(texts, c.unit.text(v))
		}
		if got := strings.Join(texts, " "); got != c.want {
			t.Errorf("%g: got %s, want %s", c.most, got, c.want)
		}
	}
}

// broken is a writer that fails.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriteFails(t *testing.T) {
	if err := Write(t.Context(), broken{}, day(), "r", Extras{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v", err)
	}
	gone := errors.New("no such agent")
	if err := Write(t.Context(), io.Discard, day(), "r", Extras{Agent: func(int) (string, error) { return "", gone }}); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}
