package report

import (
	"context"
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/outcomes"
	"github.com/throng-sim/throng/engine/view"
)

// outcomesView is what the sessions emitted.
type outcomesView struct {
	Events  []eventView
	Numbers table
	Shares  []sharesView
	Cut     bool
}

// eventView is an event with its number in each cycle.
type eventView struct {
	Name, Count string
	Picture     template.HTML // "" with one cycle
}

// sharesView are the shares of values, as bars.
type sharesView struct {
	Title string
	Rows  []shareView
}

type shareView struct {
	Name, Text string
	Percent    float64
}

func newOutcomes(o *outcomes.Outcomes) (v outcomesView) {
	v.Cut = o.Cut
	for i := range o.Events {
		e := &o.Events[i]
		v.Events = append(v.Events, eventView{e.Name, engine.FormatCount(e.Count), spark(e.PerCycle)})
		for k := range e.Numbers {
			n := &e.Numbers[k]
			v.Numbers.Rows = append(v.Numbers.Rows, []string{
				e.Name, n.Field, engine.FormatCount(n.Count), view.FormatNumber(n.Mean()), view.FormatNumber(n.Min), view.FormatNumber(n.Max), view.FormatNumber(n.Sum),
			})
		}
		for k := range e.Shares {
			s := &e.Shares[k]
			v.Shares = append(v.Shares, sharesView{e.ShareTitle(s), shareRows(s.Values)})
		}
	}
	if len(v.Numbers.Rows) > 0 {
		v.Numbers.Head = []string{"Event", "Field", "Values", "Mean", "Lowest", "Highest", "Sum"}
	}
	for i := range o.Groups {
		v.Shares = append(v.Shares, sharesView{o.GroupTitle(&o.Groups[i]), shareRows(o.Groups[i].Values)})
	}
	return v
}

func shareRows(values []outcomes.Value) (rows []shareView) {
	for _, value := range values {
		rows = append(rows, shareView{value.Text, value.Describe(), 100 * value.Share()})
	}
	return rows
}

// spark draws the number of events in each cycle as a small line.
func spark(values []float64) template.HTML {
	if len(values) < 2 {
		return ""
	}
	most := 0.0
	for _, v := range values {
		most = max(most, v)
	}
	const width, height = 240, 28
	var points strings.Builder
	for i, v := range values {
		fmt.Fprintf(&points, "%.1f,%.1f ", width*float64(i)/float64(len(values)-1), 2+(height-4)*(1-v/math.Max(most, 1)))
	}
	return template.HTML(fmt.Sprintf(`<svg class="spark" viewBox="0 0 %d %d" width="%d" height="%d" role="img"><title>up to %s in a cycle</title><polyline points="%s"/></svg>`, //nolint:gosec // numbers
		width, height, width, height, engine.FormatCount(int64(most)), strings.TrimSpace(points.String())))
}

// emittedOf reads the events of a run and shows their outcomes.
func emittedOf(ctx context.Context, src Source, run engine.RunID, extras *Extras) (outcomesView, error) {
	o, err := extras.outcomes(ctx, src, run)
	if err != nil {
		return outcomesView{}, err
	}
	return newOutcomes(o), nil
}
