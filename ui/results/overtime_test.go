package results

import (
	"math"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/chart"
)

// TestChartsShowOutages checks that lines break where Throng was not running, and that changes and the resumption are marked.
func TestChartsShowOutages(t *testing.T) {
	c := view.Chart{Title: "Throughput", Lines: []string{"sessions/s"}, Values: [][]float64{nil}}
	for i := range 20 {
		at := float64(began.Unix() + int64(i))
		if i >= 10 {
			at += 300
		}
		c.Times, c.Values[0] = append(c.Times, at), append(c.Values[0], 5)
	}
	all, marks := broken([]view.Chart{c})
	if len(all[0].Times) != 21 || !math.IsNaN(all[0].Values[0][10]) || len(c.Times) != 20 {
		t.Errorf("%d points, at the break %v", len(all[0].Times), all[0].Values[0][10])
	}
	if len(marks) != 1 || marks[0].Kind != chart.Resumed || marks[0].Text != "resumed after 5 min 1 s" {
		t.Errorf("marks: %+v", marks)
	}
	g := newGallery(chart.Keep{})
	g.set([]view.Chart{c})
	g.mark([]engine.ChangeRow{
		{At: began, What: engine.LimitSetting, Old: "50", New: "20", Who: "user"}, {At: began, What: engine.LimitChange, Old: "20", New: "19", Who: "resources"},
	})
	if len(g.marks) != 1 || g.marks[0].Kind != chart.Lowered || len(g.outages) != 1 {
		t.Errorf("marks of changes: %+v", g.marks)
	}
}
