package experiments

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/statistics"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/uitest"
)

// fakeDesk knows some experiments and records orders.
type fakeDesk struct {
	mu       sync.Mutex
	entries  []Entry
	details  map[string]*Details
	tables   map[string]*findings.Table
	outside  []engine.Destination // not allowed yet
	err      error                // of orders
	readErr  error
	orders   []string
	changes  atomic.Uint64
	listings atomic.Int64
}

// set changes the desk, and says so.
func (d *fakeDesk) set(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
	d.changes.Add(1)
}

// order records an order.
func (d *fakeDesk) order(format string, args ...any) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.orders = append(d.orders, fmt.Sprintf(format, args...))
	d.changes.Add(1)
	return d.err
}

// ordered returns the orders so far, and forgets them.
func (d *fakeDesk) ordered() (all []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all, d.orders = d.orders, nil
	return all
}

func (d *fakeDesk) List(context.Context) ([]Entry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.listings.Add(1)
	return slices.Clone(d.entries), d.readErr
}

func (d *fakeDesk) Open(_ context.Context, path string) (*Details, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	path = filepath.Clean(path)
	if found, ok := d.details[path]; ok {
		if !slices.ContainsFunc(d.entries, func(e Entry) bool { return e.Path == path }) {
			d.entries = append(d.entries, Entry{Path: path, Title: found.Title})
		}
		return found, nil
	}
	return nil, fmt.Errorf("open %s: %w", path, engine.ErrNotFound)
}

func (d *fakeDesk) Findings(_ context.Context, path string) (*findings.Table, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.tables[filepath.Clean(path)], nil
}

func (d *fakeDesk) Working() []Work { return nil }

func (d *fakeDesk) Changed() uint64 { return d.changes.Load() }

func (d *fakeDesk) Unallowed(context.Context, string) ([]engine.Destination, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.outside, nil
}

func (d *fakeDesk) Run(_ context.Context, path string, allow []string) error {
	return d.order("run %s %s", path, strings.Join(allow, ","))
}
func (d *fakeDesk) Pause(_ context.Context, path string) error { return d.order("pause %s", path) }
func (d *fakeDesk) Continue(_ context.Context, path string) error {
	return d.order("continue %s", path)
}
func (d *fakeDesk) Stop(_ context.Context, path string) error { return d.order("stop %s", path) }

func (d *fakeDesk) MoreSeeds(_ context.Context, path string, n int) error {
	return d.order("seeds %s %d", path, n)
}

func (d *fakeDesk) Skip(_ context.Context, path, run string, undo bool) error {
	return d.order("skip %s %s %v", path, run, undo)
}

func (d *fakeDesk) First(_ context.Context, path, run string) error {
	return d.order("first %s %s", path, run)
}

func (d *fakeDesk) Report(_ context.Context, path, to string) error {
	return d.order("report %s %s", path, to)
}

func (d *fakeDesk) Export(_ context.Context, path, dir string) (string, error) {
	return dir + "/prices", d.order("export %s %s", path, dir)
}

func (d *fakeDesk) Forget(_ context.Context, path string) error {
	d.mu.Lock()
	d.entries = slices.DeleteFunc(d.entries, func(e Entry) bool { return e.Path == path })
	d.mu.Unlock()
	return d.order("forget %s", path)
}

// prices is a grid of three levels of eagerness and two models with ten seeds. The first done runs have values, seed by seed. The real data is
// nearest to the point with eagerness 1 and the large model in spend, and as far from all points in home.
func prices(done int) *findings.Table {
	t := &findings.Table{
		Title: "Does eagerness pay?", Design: "grid", Seed: 1, Baseline: 2,
		Factors: []findings.Factor{{Name: "params.eagerness", Levels: []string{"0.5", "1", "2"}}, {Name: "service.model.model", Levels: []string{"small", "large"}}},
		Measures: []findings.Measure{
			{Name: "acted", Kind: statistics.Share}, {Name: "events.order", Kind: statistics.Number}, {Name: "request_p95", Kind: statistics.Timing, Unit: "s"},
		},
	}
	t.Real = &findings.RealData{File: "real.csv", Columns: []findings.RealColumn{{Name: "spend", Figure: "events.order.total.sum", Numbers: true}, {Name: "home", Figure: "agent.home"}}}
	for seed := range 10 {
		t.Seeds = append(t.Seeds, uint64(seed+1))
	}
	for i, eagerness := range []float64{0.5, 1, 2} {
		for k, model := range []string{"small", "large"} {
			text := fmt.Sprint(eagerness)
			t.Points = append(t.Points, findings.Point{
				Label: "params.eagerness=" + text + ", service.model.model=" + model,
				Values: []findings.Value{
					{Text: text, Number: eagerness, Level: i, Unit: float64(i) / 2},
					{Text: model, Number: math.NaN(), Level: k, Unit: float64(k)},
				},
			})
			row := make([]findings.Run, len(t.Seeds))
			for seed := range row {
				row[seed] = findings.Run{Identity: fmt.Sprintf("%d%d-%d", i, k, seed), State: findings.Waiting}
				if order := seed*6 + i*2 + k; order < done {
					luck := math.Sin(float64(7*seed+3)) * 0.02
					own := math.Sin(float64(11*order)) * 0.004
					row[seed].State, row[seed].ID = findings.Done, fmt.Sprintf("r-%d", order)
					row[seed].Distances = []findings.Distance{
						{Total: 0.08 + 0.1*math.Abs(float64(i-1)) + 0.05*float64(1-k) + luck + own, Differs: i != 1},
						{Total: 0.2 + 4*own},
					}
					row[seed].Values = []float64{0.3 + 0.1*eagerness + luck + own, 120 + 40*eagerness*float64(1+k) + 300*(luck+own), 0.24 + own}
				}
			}
			t.Runs = append(t.Runs, row)
		}
	}
	return t
}

// details describe [prices].
func details(path string) *Details {
	return &Details{
		Path: path, Title: "Does eagerness pay?", Scenario: "shopping", Design: "grid: 6 points", Replicates: "10 seeds, 1 to 10", Budget: "$20, 8 h",
		Factors:  []Factor{{"params.eagerness", "0.5, 1, 2"}, {"service.model.model", "small, large"}},
		Pairing:  []string{"The prompt of ask_model contains params.eagerness, so models answer differently at each point."},
		Forecast: "60 runs take about 12 min and cost about $1.40, by the newest run of this scenario.",
		Command:  "throngctl experiment run " + path,
	}
}

const (
	pricesFile = "/experiments/prices.experiment.yaml"
	otherFile  = "/experiments/other.experiment.yaml"
	brokenFile = "/experiments/broken.experiment.yaml"
)

// three are an experiment in progress, a complete one, and one with mistakes.
func three() *fakeDesk {
	d := &fakeDesk{
		entries: []Entry{
			{Path: pricesFile, Title: "Does eagerness pay?", State: Running, Done: 34, Total: 60, Failed: 1, Left: 12 * time.Minute},
			{Path: otherFile, Title: "Which model answers best, and at what price?", State: Complete, Done: 60, Total: 60},
			{Path: brokenFile, Title: "broken.experiment.yaml", State: Broken, Problem: "The file has mistakes."},
		},
		details: map[string]*Details{pricesFile: details(pricesFile), otherFile: details(otherFile), brokenFile: {
			Path: brokenFile, Title: "broken.experiment.yaml", Mistakes: []view.Problem{
				{Line: 4, Col: 3, Text: "no parameter is called eagernes", Hint: "did you mean eagerness?", Meant: "eagerness"},
				{Line: 9, Col: 1, Text: "the measure cost is always 0 without a model", Warning: true},
			},
		}},
		tables: map[string]*findings.Table{pricesFile: prices(34), otherFile: prices(60)},
	}
	t := d.tables[pricesFile]
	t.Runs[4][5].State, t.Runs[5][5].State, t.Runs[3][4].State = findings.Running, findings.Skipped, findings.Failed
	t.Runs[3][4].Why, t.Runs[3][4].Values = "all sessions failed: connection refused", nil
	return d
}

// start shows a screen of a window's size.
func start(t *testing.T, d *fakeDesk) (*uitest.Queue, *Screen, *went) {
	t.Helper()
	q := uitest.Start(t)
	w := &went{}
	win := test.NewTempWindow(t, nil)
	s := New(d, win, Ways{Results: func(run engine.RunID) { w.results = run }, Create: func() { w.created++ }, Edit: func(path string) { w.edited = path }, Text: func(path string) { w.text = path }})
	win.SetContent(s.Content())
	win.Resize(fyne.NewSize(1130, 780))
	s.Show()
	return q, s, w
}

// went is where the screen led.
type went struct {
	results engine.RunID
	edited  string
	text    string // the file that was opened as text
	created int
}

// reads waits until the screen shows all that the desk has.
func reads(q *uitest.Queue, s *Screen, d *fakeDesk) {
	q.Until("the experiments are read", func() bool {
		s.Tick()
		return !s.reading && !s.again && s.changed == d.Changed() && s.ordered == ""
	})
}
