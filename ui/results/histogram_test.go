package results

import (
	"fmt"
	"math"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

func TestSpreadHoldsAllSessions(t *testing.T) {
	var totals engine.Totals
	if d := spread(&totals); len(d.Bins)+len(d.Marks) > 0 {
		t.Errorf("nothing has %d bars and %d marks", len(d.Bins), len(d.Marks))
	}
	for i := range 1000 {
		totals.Total.Record(time.Duration(i+1) * time.Millisecond)
	}
	totals.Total.Record(0)
	totals.Total.Record(20 * time.Hour)
	d := spread(&totals)
	sum, before := 0.0, d.Bins[0].From
	for _, b := range d.Bins {
		if math.Abs(b.From/before-1) > 1e-9 || b.To <= b.From {
			t.Fatalf("a bar from %v to %v follows one up to %v", b.From, b.To, before)
		}
		sum, before = sum+b.Count, b.To
	}
	if sum != 1002 {
		t.Errorf("the bars hold %v sessions of 1002", sum)
	}
	between := 0.0
	for _, b := range d.Bins {
		if b.From > 0.099 && b.To < 1.01 {
			between += b.Count
		}
	}
	if math.Abs(between-900) > 10 {
		t.Errorf("%v sessions took from 100 ms to 1 s, want 900", between)
	}
	if m := d.Marks; len(m) != 3 || m[0].Name != "p50" || math.Abs(m[0].At-0.5) > 0.01 || math.Abs(m[1].At-0.95) > 0.01 {
		t.Errorf("the marks are %+v", m)
	}
}

func TestBarsOfErrorsAndSteps(t *testing.T) {
	bars := errorBars([]engine.ErrorNote{{Class: engine.Timeout, Count: 3}, {Class: engine.ServerError, Count: 1200}})
	if got := fmt.Sprint(bars[0].Label, bars[0].Value, bars[1].Key); got != "server_error1,200timeout" {
		t.Errorf("the errors are %s", got)
	}
	steps := stepBars([]engine.StepFigures{
		{Path: "login", Service: engine.Quantiles{Count: 10, Mean: time.Second}},
		{Path: "think"},
		{Path: "buy", Service: engine.Quantiles{Count: 100, Mean: time.Second}},
	})
	if len(steps) != 2 || steps[0].Key != "buy" || steps[0].Amount != 100 || steps[0].Value != "1 min 40 s" || steps[1].Key != "login" {
		t.Errorf("the steps are %+v", steps)
	}
}

// TestGraphsOfARun follows the figures of a run from the store to the graphs, and a selected error class to its last
// error.
func TestGraphsOfARun(t *testing.T) {
	uitest.Start(t)
	var opened string
	g := newGraphs(func(class string) { opened = class })
	w := test.NewTempWindow(t, g.content)
	w.Resize(fyne.NewSize(900, 400))
	f := &figures{errors: []engine.ErrorNote{{Class: engine.ServerError, Count: 7}}}
	for range 100 {
		f.totals.Total.Record(200 * time.Millisecond)
	}
	g.show("a", f)
	for _, want := range []string{"Session duration", "p50 201 ms", "server_error", "No steps called a service."} {
		if !uitest.Shows(g.content, want) {
			t.Errorf("nowhere %q in %q", want, uitest.Texts(g.content))
		}
	}
	w.Canvas().Focus(g.errors)
	g.errors.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if opened != "server_error" {
		t.Errorf("opened %q", opened)
	}
	f.totals.Total.Record(3 * time.Second) // the run continues
	f.errors = append(f.errors, engine.ErrorNote{Class: engine.Timeout, Count: 1})
	g.show("a", f)
	if !uitest.Shows(g.content, "timeout") || !uitest.Shows(g.content, "3 s") {
		t.Errorf("the next figures are not drawn: %q", uitest.Texts(g.content))
	}
	g.show("b", &figures{})
	if !uitest.Shows(g.content, "No sessions failed.") || !uitest.Shows(g.content, "nothing measured yet") {
		t.Errorf("a run without figures shows %q", uitest.Texts(g.content))
	}
}
