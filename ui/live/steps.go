package live

import (
	"cmp"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// stepColumn is a column of the table of steps: its value, as text and for sorting.
type stepColumn struct {
	widgets.Column
	text  func(r *stepRow) string
	order func(a, b *stepRow) int
}

// stepRow is a row of the table of steps.
type stepRow struct {
	*engine.StepFigures
	step *engine.GraphStep
	rate float64 // executions per second, over the run
}

const end = fyne.TextAlignTrailing

// stepColumns are the columns of the table of steps.
var stepColumns = []stepColumn{
	{widgets.Column{Title: "Step", Sample: "fill_cart.add_cart", Weight: 2}, func(r *stepRow) string { return r.Path }, func(a, b *stepRow) int { return strings.Compare(a.Path, b.Path) }},
	{widgets.Column{Title: "Service", Sample: "shop-service", Weight: 1, Drop: 4}, func(r *stepRow) string { return orDash(r.step.Service) }, func(a, b *stepRow) int {
		return strings.Compare(a.step.Service, b.step.Service)
	}},
	{widgets.Column{Title: "Executions", Sample: "1,000,000", Align: end, Drop: 2}, func(r *stepRow) string { return short(r.Ran()) }, func(a, b *stepRow) int { return cmp.Compare(a.Ran(), b.Ran()) }},
	{widgets.Column{Title: "Rate", Sample: "10,000/s", Align: end}, func(r *stepRow) string { return view.FormatPerSecond(r.rate) }, func(a, b *stepRow) int { return cmp.Compare(a.rate, b.rate) }},
	{widgets.Column{Title: "p50", Sample: "1m30s", Align: end, Drop: 3}, quantile(func(q *engine.Quantiles) int64 { return int64(q.P50) }), byQuantile(func(q *engine.Quantiles) int64 { return int64(q.P50) })},
	{widgets.Column{Title: "p95", Sample: "1m30s", Align: end}, quantile(func(q *engine.Quantiles) int64 { return int64(q.P95) }), byQuantile(func(q *engine.Quantiles) int64 { return int64(q.P95) })},
	{widgets.Column{Title: "p99", Sample: "1m30s", Align: end}, quantile(func(q *engine.Quantiles) int64 { return int64(q.P99) }), byQuantile(func(q *engine.Quantiles) int64 { return int64(q.P99) })},
	{widgets.Column{Title: "Failures", Sample: "100,000", Align: end}, func(r *stepRow) string { return short(r.Errors()) }, func(a, b *stepRow) int { return cmp.Compare(a.Errors(), b.Errors()) }},
	{widgets.Column{Title: "Requests", Sample: "1,000,000", Align: end, Drop: 1}, func(r *stepRow) string { return short(r.Requests) }, func(a, b *stepRow) int { return cmp.Compare(a.Requests, b.Requests) }},
	{widgets.Column{Title: "429s", Sample: "100,000", Align: end, Drop: 5}, func(r *stepRow) string { return short(r.RateLimited) }, func(a, b *stepRow) int { return cmp.Compare(a.RateLimited, b.RateLimited) }},
}

func quantile(of func(q *engine.Quantiles) int64) func(r *stepRow) string {
	return func(r *stepRow) string {
		if r.Service.Count == 0 {
			return "–"
		}
		return engine.FormatDuration(rough(timeOf(of(&r.Service))))
	}
}

func byQuantile(of func(q *engine.Quantiles) int64) func(a, b *stepRow) int {
	return func(a, b *stepRow) int { return cmp.Compare(of(&a.Service), of(&b.Service)) }
}

// steps shows the steps of the chain as a table or as a graph.
type steps struct {
	content    fyne.CanvasObject
	chain      *chain
	table      *widgets.Table
	way        *widgets.Segments
	feed       *feed
	column     int
	descending bool
}

// The ways to show the steps.
const (
	stepTable = iota
	stepGraph
)

// slowest is the column that the table is sorted by at first: p95.
const slowest = 5

func newSteps(c *chain) *steps {
	s := &steps{chain: c, column: slowest, descending: true}
	var columns []widgets.Column
	for i := range stepColumns {
		columns = append(columns, stepColumns[i].Column)
	}
	s.table = widgets.NewTable(columns, "First figures in a few seconds", leastRows)
	s.table.OnSort = s.sort
	s.table.SetSort(s.column, s.descending)
	s.way = widgets.NewSegments([]string{"Table", "Graph"}, func(int) { s.turn() })
	body := container.NewStack(widgets.NewPanel("", s.table), c.panel)
	s.content = container.NewBorder(container.NewHBox(s.way), nil, nil, nil, body)
	s.turn()
	return s
}

// turn shows the table or the graph.
func (s *steps) turn() {
	graph := s.way.Chosen() == stepGraph
	see(s.chain.panel, graph)
	see(s.table, !graph)
	if s.feed != nil {
		s.draw(s.feed)
	}
}

// sort sorts by a column; again, in the other order. Figures begin with the largest.
func (s *steps) sort(column int) {
	if s.column == column {
		s.descending = !s.descending
	} else {
		s.column, s.descending = column, stepColumns[column].Align == end
	}
	s.table.SetSort(s.column, s.descending)
	if s.feed != nil {
		s.draw(s.feed)
	}
}

func (s *steps) draw(f *feed) {
	s.feed = f
	if s.way.Chosen() == stepGraph {
		s.chain.draw(f)
		return
	}
	if f.past { // nothing may show another moment
		s.table.SetEmpty("The history has no figures of steps. Return to Live to see those of the run.")
		s.table.SetRows(nil)
		return
	}
	s.table.SetEmpty("First figures in a few seconds")
	s.table.SetRows(s.rows(f))
}

// rows returns the rows of the table, sorted.
func (s *steps) rows(f *feed) []widgets.Row {
	var all []stepRow
	seconds := f.snap.Elapsed.Seconds()
	if s.chain.of != nil {
		s.chain.of.Walk(func(step *engine.GraphStep) {
			i, ok := slices.BinarySearchFunc(f.snap.Steps, step.Path, func(f engine.StepFigures, path string) int { return strings.Compare(f.Path, path) })
			if !ok {
				return
			}
			r := stepRow{StepFigures: &f.snap.Steps[i], step: step}
			if seconds > 0 {
				r.rate = float64(r.Ran()) / seconds
			}
			all = append(all, r)
		})
	}
	slices.SortStableFunc(all, func(a, b stepRow) int {
		by := stepColumns[s.column].order(&a, &b)
		if s.descending {
			return -by
		}
		return by
	})
	rows := make([]widgets.Row, len(all))
	for i := range all {
		rows[i].Key = all[i].Path
		for k := range stepColumns {
			rows[i].Cells = append(rows[i].Cells, widgets.Cell{Text: stepColumns[k].text(&all[i])})
		}
		if all[i].Errors() > 0 {
			rows[i].Cells[7].Tone = widgets.Bad
		}
	}
	return rows
}
