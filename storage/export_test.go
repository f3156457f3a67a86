package storage

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
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
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/decision"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reader is a store with one run in memory.
type reader struct {
	record   engine.RunRecord
	sessions []engine.SessionRow
	metrics  []engine.MetricsRow
	memory   map[int]*engine.Memory
	broken   error // error after the sessions
	doubts   engine.UnconfirmedList
	barriers []engine.BarrierRow
	changes  []engine.ChangeRow
}

func (r *reader) Changes(context.Context, engine.RunID) ([]engine.ChangeRow, error) {
	return r.changes, nil
}

func (r *reader) Barriers(context.Context, engine.RunID) ([]engine.BarrierRow, error) {
	return r.barriers, nil
}

func (r *reader) Memory(context.Context, engine.RunID) (map[int]*engine.Memory, error) {
	return r.memory, nil
}

func (r *reader) Run(context.Context, engine.RunID) (engine.RunRecord, error) { return r.record, nil }

func (r *reader) Totals(context.Context, engine.RunID) (t engine.Totals, err error) {
	for i := range r.sessions {
		t.Add(&r.sessions[i])
	}
	t.Peaks = engine.Peaks{Memory: 123_000_000, Connections: 7, ServerConnections: 12, Cycle: 2500 * time.Millisecond, Elapsed: time.Minute}
	return t, nil
}

func (r *reader) Sessions(context.Context, engine.RunID, int, int) iter.Seq2[*engine.SessionRow, error] {
	return func(yield func(*engine.SessionRow, error) bool) {
		for i := range r.sessions {
			if row := r.sessions[i]; !yield(&row, nil) {
				return
			}
		}
		if r.broken != nil {
			yield(nil, r.broken)
		}
	}
}

func (r *reader) Unconfirmed(context.Context, engine.RunID, int) (engine.UnconfirmedList, error) {
	return r.doubts, nil
}

func (r *reader) Metrics(_ context.Context, _ engine.RunID, after time.Time) iter.Seq2[*engine.MetricsRow, error] {
	return func(yield func(*engine.MetricsRow, error) bool) {
		for i := range r.metrics {
			if row := r.metrics[i]; row.At.After(after) && !yield(&row, nil) {
				return
			}
		}
	}
}

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)

// crowd returns a run whose cells hold values of all kinds.
func crowd() *reader {
	steps := []engine.StepRecord{
		{Path: "open", Service: time.Millisecond, Decision: &decision.Pair{
			Model: []byte(`{"go":true,"price":3}`), Rule: []byte(`{"go":false,"price":3}`), Used: decision.Rule, Seen: []byte(`{"mood":"=good"}`),
		}},
		{Path: "shop[1].buy", Attempts: 2, Statuses: []int{429, 503, 201}, Label: engine.Replayed, Usage: &engine.Usage{Calls: 2, Input: 1200, Output: 34, Cost: 21_300, Hits: 1}},
		{Path: "pay", Attempts: 1, Size: 2048, Statuses: []int{200}, Label: engine.Unconfirmed},
	}
	settings := engine.DefaultSettings()
	settings.Seed, settings.Cycles = 42, 2
	settings.Services = map[string]string{"shop": "https://user:secret@shop.example:8080/api?key=secret", "db": "localhost:5432"}
	settings.Mock = engine.Mock{Profile: "remote", Faults: map[string]string{"shop": "5%"}, Scarcity: true}
	return &reader{
		barriers: []engine.BarrierRow{
			{Cycle: 0, At: epoch.Add(time.Minute), Active: 372, Took: 30 * time.Second, Lag: time.Second, Sessions: 372, Work: engine.CycleWork{
				OK: 370, Failed: 1, TimedOut: 1, Busy: 20 * time.Minute, Flow: engine.Flow{Parallel: 744, Sequential: 372, Failed: 2, TimedOut: 1},
			}},
			{Cycle: 1, At: epoch.Add(2 * time.Minute), Sessions: 372},
		},
		record: engine.RunRecord{
			ID: "0192f6a4", Title: "Shoppers, \"372\"", Settings: settings, Created: epoch, Ended: epoch.Add(time.Hour), Ending: engine.EndFinished,
			Cycle: 2, Cycles: 2, Done: 4, Total: 4, Ancestry: engine.Ancestry{Parent: "0192f000", ForkCycle: 1},
			Source: engine.Source{
				Name: "shop.yaml", Hash: "ab12", Files: map[string][]byte{"shop.yaml": []byte("a: <b> & \"c\"\n"), "logo.png": {0xff, 0xd8}},
				Parameters: map[string]string{"shops": "3", "names": `["a"]`, "odd": "not json"},
			},
			Inexact: &engine.Inexact{Cycle: 1, Agent: 3, Path: "pay", Why: "timed out"},
			Verdict: []engine.Judgment{
				{Criterion: engine.Criterion{Metric: "error_rate", Op: "<", Bound: 0.05, Text: "error_rate < 5%"}, Value: 0.25, Shown: "25%"},
				{Criterion: engine.Criterion{Metric: "memory", Op: "<", Bound: 12e9, Text: "memory < 12GB"}, Value: math.NaN(), Shown: "not known", Unknown: true},
			},
			Forecast: &engine.Forecast{
				Sessions: engine.Exactly(4, engine.FromFile), Cycle: engine.Between(20, 40, engine.FromProfile), Binds: "the concurrency limit, 2",
				Length: engine.Exactly(90, engine.Guessed), Requests: engine.Exactly(3, engine.FromFile), Memory: engine.Exactly(1e8, engine.Measured),
				Server: -1, ServerMax: -1, Run: "0192e000", At: epoch.Add(-time.Hour), Advice: []string{"Take <fewer> agents."},
			},
		},
		sessions: []engine.SessionRow{
			{
				Place: engine.Place{Cycle: 0, Agent: 0}, Outcome: engine.OK, Started: epoch, Queue: 1500 * time.Microsecond, Throttled: time.Second,
				Service: 20 * time.Millisecond, Total: 1021 * time.Millisecond, Acted: true, Steps: steps,
				Events: []engine.Event{{Path: "shop[1].buy", Name: "bought", Data: []byte(`{"items":3,"note":"a,b"}`)}, {Path: "pay", Name: "=paid", Data: []byte("-5")}},
			},
			{Place: engine.Place{Cycle: 0, Agent: 1}, Delta: engine.Delta{Said: []engine.Message{
				{To: []int{0, 2}, Body: []byte(`{"text":"=hello","data":null}`)}, {To: []int{3}, Body: []byte(`{"text":null,"data":{"price":3}}`)},
			}}, Outcome: engine.Stopped, Path: "open", Because: "+broke", Started: epoch, Events: []engine.Event{{Path: "open", Name: "left"}}},
			{Place: engine.Place{Cycle: 1, Agent: 0, Take: 2}, Outcome: engine.Failed, Class: engine.BadAnswer, Path: "pay", Error: "the text of the error"},
			{Place: engine.Place{Cycle: 1, Agent: 3}, Outcome: engine.TimedOut, Class: engine.Timeout, Path: "pay", Started: epoch.Add(time.Second)},
		},
		changes: []engine.ChangeRow{{At: epoch, Cycle: 1, What: engine.LimitSetting, Old: "25", New: "20", Who: "resources", Why: "CPU 91%"}},
		doubts: engine.UnconfirmedList{All: 1, First: []engine.UnconfirmedRow{
			{Place: engine.Place{Cycle: 0, Agent: 0}, At: epoch.Add(time.Minute), Path: "pay", Request: "POST /pay"},
		}},
		metrics: []engine.MetricsRow{
			{
				At:          epoch,
				Cycle:       0,
				Phase:       engine.Running,
				Ended:       2,
				Acted:       1,
				Limit:       50,
				InFlight:    3,
				SecondTimes: engine.SecondTimes{Total: engine.Quantiles{Count: 2, Mean: 510 * time.Millisecond, P50: time.Millisecond, P95: time.Second, P99: time.Second, Max: 1021 * time.Millisecond}, Service: engine.Quantiles{Count: 2, P50: time.Millisecond}, Throttled: engine.Quantiles{Count: 2}, Speedup: 12.3456, Queue: engine.Quantiles{Count: 2, P50: time.Millisecond, P95: 2 * time.Millisecond, P99: 3 * time.Millisecond, Max: 4 * time.Millisecond}},
				SecondRates: engine.SecondRates{SessionsPerSec: 2.0004, RequestsPerSec: 3.3333, WritesPerSec: 12.5},
				Counters: engine.Counters{RateLimited: 1, Retries: 1, Errors: engine.Errors{engine.Timeout: 4}, Usage: engine.Usage{Calls: 2, Input: 1200, Output: 34, Cost: 21_300, Hits: 1}, Flow: engine.Flow{Parallel: 10, Sequential: 3, Failed: 2, TimedOut: 1, Chains: 1, Busy: 5 * time.Second, Wall: time.Second}, Overhead: engine.Overhead{
					Span: time.Second, Writer: 250 * time.Millisecond, Window: 90 * time.Millisecond,
					Times: engine.Times{engine.ForServices: 3 * time.Second, engine.ForScripts: 4 * time.Millisecond, engine.ForJournal: 5 * time.Millisecond, engine.ForEngine: 60 * time.Millisecond},
				}, TimedOut: 1},
				Lag:         15 * time.Millisecond,
				DatabaseUse: engine.DatabaseUse{Connections: 7, ServerConnections: 12, ServerMax: 60, Unsent: 100, Pool: engine.Pool{Size: 8, InUse: 2, Idle: 5, Waiting: 1}},
				Host:        engine.HostMetrics{CPU: 12.345, ProcessCPU: 99.9, Memory: 123_456_789, Available: 4e9, NetIn: 1000, NetOut: 0, DiskFree: 10e9},
				Late:        engine.Late{Tick: 1500 * time.Microsecond, Core: 2 * time.Millisecond},
			},
			{
				At:          epoch.Add(time.Second),
				Cycle:       1,
				Phase:       engine.Paused,
				SecondRates: engine.SecondRates{WritesPerSec: math.NaN()},
				DatabaseUse: engine.DatabaseUse{Connections: -1, ServerConnections: -1, ServerMax: -1, Unsent: -1},
				Counters:    engine.Counters{Usage: engine.Usage{Calls: 3, Input: 1300, Output: 35, Cost: 21_300, Unpriced: 1}},
				Host:        engine.HostMetrics{CPU: math.NaN(), ProcessCPU: -1, NetIn: math.Inf(1)},
			},
		},
		memory: map[int]*engine.Memory{
			2: {Notes: [][]byte{[]byte(`"first"`), []byte(`{"second":2}`)}, ReadTo: 1},
			0: {
				Fields: []engine.Field{{Name: "week", Value: []byte("3")}, {Name: "a \"name\" <b>", Value: []byte(`["<&>"]`)}},
				Inbox:  []engine.Letter{{From: 1, Cycle: 0, Body: []byte(`"hello"`)}, {From: engine.Outside, Cycle: 1, Body: []byte(`null`)}},
			},
		},
	}
}

var names = Names{
	Agent: func(index int) (string, error) {
		return []string{"anna", "=cmd()", "@home", "böse, \"zitiert\"\n"}[index], nil
	},
	Session: func(cycle, agent int) string { return fmt.Sprintf("uuid-%d-%d", cycle, agent) },
	Clock:   engine.Clock{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Cycle: time.Hour},
	Acted:   "bought",
	People:  persons(),
	Steps: map[string]engine.GraphStep{
		"open": {Kind: "python"}, "shop.buy": {Kind: "http", Service: "shop", Endpoint: "POST /buy/{}"}, "pay": {Kind: "http", Service: "bank", Endpoint: "=POST /pay"},
	},
}

// persons have attributes of all kinds, some with the names of other columns.
func persons() *People {
	return &People{
		Attributes: []string{"age", "agent", "Agent_Index", "attribute_agent", "plan", "budget", "vip", "tags", "never"},
		Each: func(_ context.Context, next func(int, [][]byte) error) error {
			for agent, texts := range []string{`34 "=cmd()" 7 "a" "free" 10 true ["x",{"y":1}] -`, "", `- "b" null "c" "pro" 9.5 false {} -`, `51 "-1" 8 "d" "pro" 1e2 true [] -`} {
				if texts == "" {
					continue // an agent that is not in the run
				}
				var values [][]byte
				for text := range strings.FieldsSeq(texts) {
					value := []byte(text)
					if text == "-" {
						value = nil
					}
					values = append(values, value)
				}
				if err := next(agent, values); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// golden compares data with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func TestExportGoldens(t *testing.T) {
	r := crowd()
	for name, export := range map[string]func(w io.Writer) error{
		"metrics.csv":   func(w io.Writer) error { return Export(t.Context(), w, CSV, "metrics", r, "", names) },
		"cycles.csv":    func(w io.Writer) error { return Export(t.Context(), w, CSV, "cycles", r, "", names) },
		"sessions.csv":  func(w io.Writer) error { return ExportSessions(t.Context(), w, r, "", names) },
		"emitted.csv":   func(w io.Writer) error { return ExportEmitted(t.Context(), w, r, "", names) },
		"events.csv":    func(w io.Writer) error { return Export(t.Context(), w, CSV, "events", r, "", names) },
		"timings.csv":   func(w io.Writer) error { return Export(t.Context(), w, CSV, "timings", r, "", names) },
		"steps.csv":     func(w io.Writer) error { return Export(t.Context(), w, CSV, "steps", r, "", names) },
		"requests.csv":  func(w io.Writer) error { return Export(t.Context(), w, CSV, "requests", r, "", names) },
		"messages.csv":  func(w io.Writer) error { return Export(t.Context(), w, CSV, "messages", r, "", names) },
		"decisions.csv": func(w io.Writer) error { return Export(t.Context(), w, CSV, "decisions", r, "", names) },
		"agents.csv":    func(w io.Writer) error { return Export(t.Context(), w, CSV, "agents", r, "", names) },
		"changes.csv":   func(w io.Writer) error { return Export(t.Context(), w, CSV, "changes", r, "", names) },
		"memory.jsonl":  func(w io.Writer) error { return ExportMemory(t.Context(), w, r, "", names) },
		"run.json":      func(w io.Writer) error { return RunJSON(t.Context(), w, r, "", "1.2.3") },
	} {
		var out bytes.Buffer
		if err := export(&out); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		golden(t, name, out.Bytes())
		if strings.Contains(out.String(), "secret") || strings.Contains(out.String(), "the text of the error") {
			t.Errorf("%s shows a secret", name)
		}
		if strings.Contains(name, ".json") {
			for d := json.NewDecoder(&out); d.More(); {
				var value any
				if err := d.Decode(&value); err != nil {
					t.Errorf("%s is not valid JSON: %v", name, err)
					break
				}
			}
			continue
		}
		rows, err := csv.NewReader(&out).ReadAll() // all rows have as many cells as the first
		if err != nil || len(rows) < 2 {
			t.Errorf("%s: %d rows, %v", name, len(rows), err)
		}
	}
}

func TestCells(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{harmless(""), ""},
		{harmless("plain"), "plain"},
		{harmless("=1+1"), "'=1+1"},
		{harmless("+1"), "'+1"},
		{harmless("-1"), "'-1"},
		{harmless("@a"), "'@a"},
		{harmless("\ta"), "'\ta"},
		{harmless("\ra"), "'\ra"},
		{harmless("a=b"), "a=b"},
		{jsonCell([]byte(`{"a":1}`)), `{"a":1}`},
		{jsonCell([]byte(`-1.5e3`)), `-1.5e3`},
		{jsonCell([]byte(`-1+cmd()`)), `'-1+cmd()`},
		{jsonCell([]byte("\t1")), "'\t1"},
		{jsonCell(nil), ""},
		{number(0), "0"},
		{number(1.23456), "1.235"},
		{number(1e15), "1000000000000000"},
		{number(-1), ""},
		{number(math.NaN()), ""},
		{number(math.Inf(1)), ""},
		{stamp(time.Time{}), ""},
		{stamp(epoch.In(time.FixedZone("", 3600))), "2026-03-01T12:00:00.123456Z"},
		{millis(1234567), "1.235"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestManifestSaysWhatIsNotKnown checks costs without a price, and the requests of the run itself.
func TestManifestSaysWhatIsNotKnown(t *testing.T) {
	r := crowd()
	shared := engine.RequestCounts{Usage: engine.Usage{Calls: 3, Cost: 5}, Requests: 4, Retries: 2, RateLimited: 1, Labels: engine.Labels{engine.Replayed: 6}}
	all := newManifest(&r.record, &engine.Totals{RequestCounts: engine.RequestCounts{Requests: 1, Usage: engine.Usage{Calls: 1}}, Shared: shared}, "").Totals
	if all.Models.Calls != 4 || Dollars(&all.Models.Usage) != "0.000000005" || all.Requests != 5 || all.Retries != 2 || all.RateLimited != 1 || all.Labels["replayed"] != 6 {
		t.Errorf("the requests of the run itself are missing: %+v", all)
	}
	for want, u := range map[string]engine.Usage{
		`{"calls":0,"input_tokens":0,"output_tokens":0,"cost_usd":0,"cache_hits":0}`:                                           {},
		`{"calls":2,"input_tokens":0,"output_tokens":0,"cost_usd":1234.000000001,"cache_hits":0}`:                              {Calls: 2, Cost: 1_234_000_000_001},
		`{"calls":2,"input_tokens":3,"output_tokens":4,"cost_usd":null,"unpriced_calls":1,"estimated_calls":2,"cache_hits":5}`: {Calls: 2, Input: 3, Output: 4, Cost: 9, Unpriced: 1, Estimated: 2, Hits: 5},
	} {
		got, err := json.Marshal(newManifest(&r.record, &engine.Totals{RequestCounts: engine.RequestCounts{Usage: u}}, "").Totals.Models)
		if err != nil || string(got) != want {
			t.Errorf("%+v: %s, %v; want %s", u, got, err, want)
		}
	}
}

// TestManifestLeavesOutLargeFiles checks that run.json does not contain a population of a million rows.
func TestManifestLeavesOutLargeFiles(t *testing.T) {
	r := crowd()
	r.record.Source.Files = map[string][]byte{
		"people.csv": bytes.Repeat([]byte("a"), maxFile+1), "few.csv": bytes.Repeat([]byte("a"), maxFile), "odd.csv": {0xff},
	}
	files := newManifest(&r.record, &engine.Totals{}, "").Scenario.Files
	if len(files) != 1 || len(files["few.csv"]) != maxFile {
		t.Errorf("%d files, %d bytes of few.csv", len(files), len(files["few.csv"]))
	}
}

func TestExportAll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	r := crowd()
	if err := ExportAll(t.Context(), dir, r, "r", names, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	files := listFiles(t, dir)
	if got, want := strings.Join(files, " "), "README.md agents.csv changes.csv cycles.csv decisions.csv events.csv events__paid.csv events_bought.csv events_left.csv memory.jsonl messages.csv metrics.csv requests.csv run.json sessions.csv steps.csv timings.csv"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, name := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, got)
	}

	// An export that fails keeps the older files and leaves no partial ones.
	r.broken = errors.New("the store broke")
	r.sessions = r.sessions[:1]
	if err := ExportAll(t.Context(), dir, r, "r", names, "1.2.3"); !errors.Is(err, r.broken) {
		t.Errorf("got %v, want the store's error", err)
	}
	if got := listFiles(t, dir); len(got) != 17 {
		t.Errorf("got %v", got)
	}
	got, err := os.ReadFile(filepath.Join(dir, "sessions.csv"))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "sessions.csv", got)
}

func listFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestExportNamesFail(t *testing.T) {
	gone := errors.New("no such agent")
	failing := Names{Agent: func(int) (string, error) { return "", gone }, Session: names.Session}
	if err := ExportEmitted(t.Context(), io.Discard, crowd(), "r", failing); !errors.Is(err, gone) {
		t.Errorf("got %v, want the error of the names", err)
	}
}

// growing is a run that gets one more row each time it is read, and then ends.
type growing struct {
	*reader
	all   []engine.MetricsRow
	asked func()
}

func (g *growing) Run(context.Context, engine.RunID) (engine.RunRecord, error) {
	g.asked()
	if n := len(g.metrics); n < len(g.all) {
		g.metrics = g.all[:n+1]
	} else {
		g.record.Ending, g.record.InProgress = engine.EndFinished, false
	}
	return g.record, nil
}

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &growing{reader: crowd()}
		g.all, g.metrics, g.record.Ending, g.record.InProgress = g.metrics, nil, engine.NotEnded, true
		var out bytes.Buffer
		began, asked := time.Now(), 0
		g.asked = func() {
			if got := bytes.Count(out.Bytes(), []byte("\n")); asked > 0 && got != asked+1 || time.Since(began) != time.Duration(asked)*followInterval {
				t.Errorf("after %v: got %d lines, want %d", time.Since(began), got, asked+1)
			}
			asked++
		}
		if err := Follow(t.Context(), &out, CSV, g, "r", names); err != nil {
			t.Error(err)
		}
		golden(t, "metrics.csv", out.Bytes())

		endless := crowd()
		endless.record.Ending, endless.record.InProgress = engine.NotEnded, true
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := Follow(ctx, io.Discard, CSV, endless, "r", names); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
	})
}
