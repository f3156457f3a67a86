package results

import (
	"cmp"
	"math"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/picture"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// graphs are the charts of a run: the histogram of session times, errors by class, and time by step.
type graphs struct {
	content fyne.CanvasObject
	latency *chart.Histogram
	errors  *chart.Bars
	steps   *chart.Bars
	said    *widgets.Notice
	run     engine.RunID
	drawn   drawing
}

// drawing identifies what was drawn, to detect changes.
type drawing struct {
	run   engine.RunID
	ended int64
	spent time.Duration // of its sessions
	steps int64
	bad   int // errors of all classes
}

const (
	graphEms = 15 // height of the histogram, in text heights

	// bars per decade of durations
	binsPerDecade = 10
)

// newGraphs makes the charts; open is called with the error class that the user chooses.
func newGraphs(open func(class string)) *graphs {
	g := &graphs{said: widgets.NewNotice()}
	keep := picture.Keep(func() string { return string(g.run) }, g.said.Say)
	g.latency = chart.NewHistogram("Session duration", "service time and waiting time, all attempts", "sessions", keep)
	g.errors = chart.NewBars("Errors by class", "No sessions failed.", keep)
	g.errors.OnChosen = open
	g.steps = chart.NewBars("Time by step", "No steps called a service.", keep)
	right := container.NewVBox(
		widgets.NewHeading("Time by step, all sessions"), g.steps,
		widgets.NewHeading("Failed sessions by class"), g.errors)
	panels := container.NewGridWithColumns(2, widgets.NewPanel("", container.NewStack(tall(graphEms), g.latency)), widgets.NewPanel("", right))
	g.content = container.NewVBox(panels, g.said)
	return g
}

// show draws a run's figures if they have changed.
func (g *graphs) show(run engine.RunID, f *figures) {
	if g.run != run {
		g.said.Say("", widgets.Neutral)
	}
	now := drawing{run, f.totals.Total.Count(), f.totals.Total.Sum(), f.totals.Steps, len(f.errors)}
	if g.drawn == now {
		return
	}
	g.run, g.drawn = run, now
	g.latency.Set(spread(&f.totals))
	g.errors.Set(errorBars(f.errors))
	g.steps.Set(stepBars(f.totals.ByStep.Figures()))
}

// ranges is a distribution.
type ranges interface {
	histogram
	Each(f func(from, to time.Duration, n int64))
}

// spread returns the histogram of session times.
func spread(t *engine.Totals) chart.HistogramData { return trashed(t.Latency()) }

func trashed(h ranges) (d chart.HistogramData) {
	if h.Count() == 0 {
		return d
	}
	first, counts := 0, []float64(nil)
	h.Each(func(from, to time.Duration, n int64) {
		middle := max((from+to).Seconds()/2, 1e-6)
		at := int(math.Floor(math.Log10(middle) * binsPerDecade))
		if counts == nil {
			first = at
		}
		for len(counts) <= at-first {
			counts = append(counts, 0)
		}
		counts[at-first] += float64(n)
	})
	edge := func(i int) float64 { return math.Pow(10, float64(i)/binsPerDecade) }
	for i, n := range counts {
		d.Bins = append(d.Bins, chart.Bucket{From: edge(first + i), To: edge(first + i + 1), Count: n})
	}
	for _, m := range []struct {
		name string
		q    float64
	}{{"p50", 0.50}, {"p95", 0.95}, {"p99", 0.99}} {
		d.Marks = append(d.Marks, chart.Mark{At: h.Quantile(m.q).Seconds(), Name: m.name})
	}
	return d
}

// errorBars returns the classes of errors, the most frequent first.
func errorBars(notes []engine.ErrorNote) []chart.Bar {
	bars := make([]chart.Bar, len(notes))
	for i := range notes {
		n := &notes[i]
		bars[i] = chart.Bar{
			Key: n.Class.String(), Label: n.Class.String(), Value: engine.FormatCount(n.Count), Amount: float64(n.Count), Color: chart.ColorLimit,
		}
	}
	sortBars(bars)
	return bars
}

// stepBars returns the steps by time, the longest first.
func stepBars(steps []engine.StepFigures) (bars []chart.Bar) {
	for i := range steps {
		s := &steps[i]
		if spent := time.Duration(s.Service.Count) * s.Service.Mean; spent > 0 {
			bars = append(bars, chart.Bar{Key: s.Path, Label: s.Path, Value: engine.FormatDuration(spent), Amount: spent.Seconds()})
		}
	}
	sortBars(bars)
	return bars
}

func sortBars(bars []chart.Bar) {
	slices.SortStableFunc(bars, func(a, b chart.Bar) int { return cmp.Compare(b.Amount, a.Amount) })
}
