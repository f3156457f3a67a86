package report

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestReportAndDetailsHaveTheSame checks that the report shows the outcomes that the screen Results gets.
func TestReportAndDetailsHaveTheSame(t *testing.T) {
	s := day()
	s.sessions = nil
	for cycle := range 3 {
		for agent := range 4 {
			s.sessions = append(s.sessions, engine.SessionRow{
				Place: engine.Place{Cycle: cycle, Agent: agent}, Acted: agent == 0, Steps: []engine.StepRecord{{Path: "pay"}},
				Events: []engine.Event{{Name: "order <b>", Data: fmt.Appendf(nil, `{"total":%d,"mood":"%s"}`, 10*cycle, []string{"happy", "sad"}[agent%2])}},
			})
		}
	}
	extras := Extras{Acted: "order <b>", Persona: func(agent int) ([]engine.Fact, error) {
		return []engine.Fact{{Name: "loyal", Value: fmt.Sprint(agent == 0)}}, nil
	}}
	d, err := Details(t.Context(), s, "r", extras)
	if err != nil {
		t.Fatal(err)
	}
	if o := d.Outcomes; o.Sessions != 12 || len(o.Events) != 1 || o.Events[0].Count != 12 || len(o.Groups) != 1 {
		t.Errorf("got %+v", o)
	}
	if len(d.Charts) < 5 || len(d.Steps) != 1 || len(d.Settings) < 10 || len(d.Files) == 0 {
		t.Errorf("%d charts, %d steps, %d settings, %d files", len(d.Charts), len(d.Steps), len(d.Settings), len(d.Files))
	}
	page := written(t, s, extras)
	for _, want := range []string{
		"<h2>Outcomes</h2>", "<td>order &lt;b&gt;</td><td>12</td>", "<polyline", "<td>total</td><td>12</td><td>10</td><td>0</td><td>20</td><td>120</td>",
		"order &lt;b&gt; by mood", "6 of 12 (50%)", "Sessions with order &lt;b&gt; by loyal", "3 of 3 (100%)",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the report does not contain %q", want)
		}
	}
	for _, c := range d.Charts {
		if !strings.Contains(page, "<b>"+c.Title+"</b>") {
			t.Errorf("the report has no chart %s", c.Title)
		}
	}
}

// TestChartsOfALongRun checks that rows are merged, and that the highest value stays.
func TestChartsOfALongRun(t *testing.T) {
	var o overTime
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const rows = 3*mostRows + 7
	for i := range rows {
		m := engine.MetricsRow{At: at.Add(time.Duration(i) * time.Second), InFlight: 5, Limit: 10}
		if i == rows/2 {
			m.InFlight = 99
		}
		o.see(&m)
	}
	c := o.shown()[0]
	most := 0.0
	for _, v := range c.Values[0] {
		most = math.Max(most, v)
	}
	if len(c.Times) > mostRows || len(c.Times) != len(c.Values[0]) || most != 99 || c.Times[len(c.Times)-1] < float64(at.Unix()+rows-8) {
		t.Errorf("%d times, %d values, most %v, last %v", len(c.Times), len(c.Values[0]), most, c.Times[len(c.Times)-1])
	}
}
