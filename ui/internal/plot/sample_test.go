package plot

import (
	"fmt"
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/statistics"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/skin"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// effects are five differences, the third of them without an interval.
func effects() findings.EffectPlot {
	return findings.EffectPlot{Measure: "acted", Baseline: "params.eagerness=1", Bars: []findings.EffectBar{
		{Point: 0, Label: "params.eagerness=0.5", Runs: 10, Value: -0.12, Low: -0.15, High: -0.09, Clear: true},
		{Point: 2, Label: "params.eagerness=2", Runs: 10, Value: 0.2, Low: 0.17, High: 0.23, Clear: true},
		{Point: 3, Label: "params.eagerness=3, service.model.model=a-model-with-a-very-long-name", Runs: 1, Value: 0.1, Low: math.NaN(), High: math.NaN(), Note: "an interval needs at least two runs"},
		{Point: 4, Label: "service.model.model=small", Runs: 10, Value: 0.01, Low: -0.05, High: 0.07},
		{Point: 5, Label: "settings.max-concurrent=10", Runs: 10, Value: 0},
	}}
}

// curves are n lines over four levels of a factor.
func curves(n int, numbers bool) findings.CurvePlot {
	p := findings.CurvePlot{Measure: "acted", Unit: "s", Factor: "params.eagerness", Numbers: numbers}
	if n > 1 {
		p.By = "service.model.model"
	}
	for i := range n {
		l := findings.CurveLine{Label: fmt.Sprintf("model %d", i)}
		for k := range 4 {
			mean := 1 + 0.3*float64(k) + 0.2*float64(i)
			l.Dots = append(l.Dots, findings.CurveDot{X: float64(k), Text: fmt.Sprintf("level-%d", k), Runs: 10, Mean: mean, Low: mean - 0.15, High: mean + 0.2})
		}
		p.Lines = append(p.Lines, l)
	}
	return p
}

func known(low, high float64) statistics.Interval {
	return statistics.Interval{Low: low, High: high, Method: statistics.StudentT}
}

func alone(v float64) findings.Figure {
	return findings.Figure{Value: v, Interval: known(math.NaN(), math.NaN())}
}

// sensitivity is an analysis by a method, of three factors.
func sensitivity(method findings.SensitivityKind) *findings.Sensitivity {
	s := &findings.Sensitivity{Measure: "acted", Method: method}
	add := func(name string, figures ...findings.Figure) {
		s.Factors = append(s.Factors, findings.Influence{Name: name, Figures: figures})
	}
	switch method {
	case findings.Screening:
		s.Figures = []string{"µ* (mean size of the effect)", "µ (mean effect)", "σ (its deviation)"}
		add("params.eagerness", findings.Figure{Value: 2, Interval: known(1.6, 2.4)}, alone(1.9), alone(0.4))
		add("params.llm_share", findings.Figure{Value: 1.9, Interval: known(1.2, 2.2)}, alone(-0.2), alone(0.42))
		add("settings.max-concurrent", alone(0.1), alone(0), alone(0.1))
	case findings.Indices:
		s.Figures = []string{"first order (share of the variance)", "total (with its interactions)"}
		add("params.eagerness", findings.Figure{Value: 0.6, Interval: known(0.5, 0.7)}, findings.Figure{Value: 0.8, Interval: known(0.7, 0.9)})
		add("params.llm_share", findings.Figure{Value: 0.2, Interval: known(0.05, 0.3)}, findings.Figure{Value: 0.3, Interval: known(0.2, 0.4)})
		add("settings.max-concurrent", alone(-0.01), alone(0.02))
	case findings.Tornado:
		s.Figures = []string{"lowest difference", "highest difference"}
		add("params.eagerness", alone(-0.3), alone(0.5))
		add("params.llm_share", alone(-0.1), alone(0.15))
		add("settings.max-concurrent", alone(0), alone(0.02))
	case findings.Shares:
		s.Figures = []string{"share of the variance between points"}
		add("params.eagerness", alone(0.7))
		add("params.llm_share", alone(0.2))
		add("params.eagerness with params.llm_share", alone(0.1))
	}
	return s
}

// runs is a table with runs in all states.
func runs(points, seeds int) *findings.Table {
	t := &findings.Table{Title: "Does eagerness pay?", Factors: []findings.Factor{{Name: "params.eagerness"}, {Name: "service.model.model"}}}
	states := []findings.State{findings.Done, findings.Done, findings.Done, findings.Running, findings.Interrupted, findings.Failed, findings.Skipped, findings.Waiting, findings.Waiting}
	for i := range seeds {
		t.Seeds = append(t.Seeds, uint64(i+1))
	}
	for p := range points {
		t.Points = append(t.Points, findings.Point{
			Label:  fmt.Sprintf("params.eagerness=%d, service.model.model=small", p),
			Values: []findings.Value{{Text: fmt.Sprint(p)}, {Text: "small"}},
		})
		row := make([]findings.Run, seeds)
		for i := range row {
			row[i] = findings.Run{Identity: fmt.Sprintf("%d-%d", p, i), State: states[(p*3+i)%len(states)]}
		}
		t.Runs = append(t.Runs, row)
	}
	return t
}

// paper shows a plot in a window of a size and a scale.
func paper(t testing.TB, make func() fyne.CanvasObject, size fyne.Size, look string, scale float32) software.WindowlessCanvas {
	t.Helper()
	test.NewTempApp(t)
	fyne.CurrentApp().Settings().SetTheme(skin.New(look).Scaled(scale))
	o := make()
	c := software.NewCanvas()
	c.SetPadded(false)
	c.SetContent(container.NewStack(canvas.NewRectangle(chart.Ink(widgets.ColorSurface)), o))
	c.Resize(size.Max(o.MinSize()))
	return c
}

// sides are those of distributions.
var sides = [2]string{"real data", "run"}

// bins are those of two distributions, of numbers or of categories.
func bins(numbers bool) (all []Bin) {
	for i := range 4 {
		b := Bin{Label: fmt.Sprintf("a category with the number %d", i), Low: math.NaN(), High: math.NaN(), Shares: [2]float64{float64(20 + 5*i), float64(10 + 10*i)}}
		if numbers {
			b.Low, b.High = float64(10*i), float64(10*i+10)
			b.Label = fmt.Sprintf("%d to %d", 10*i, 10*i+10)
		}
		all = append(all, b)
	}
	return all
}

// estimates are shares with intervals, the last one without.
func estimates() []Estimate {
	return []Estimate{
		{Name: "good", Text: "60%", Value: 60, Low: 50, High: 70},
		{Name: "good, a region with a long name", Text: "100%", Value: 100, Low: 80, High: 100, Series: 1},
		{Name: "bad", Text: "-", Value: math.NaN(), Low: math.NaN(), High: math.NaN()},
	}
}
