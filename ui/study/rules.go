package study

import (
	"strconv"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/agreement"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/plot"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Rules is the tab that shows how often models and the rules that can replace them answer the same.
type Rules struct {
	tab
	result *agreement.Result
}

// NewRules returns the tab.
func NewRules(desk Desk, win fyne.Window) *Rules {
	v := &Rules{}
	v.build(desk, win, func() { v.save("rules", v.result.Sheet()) }, nil)
	return v
}

// Show shows a run. It reads the answers again after the end of the run.
func (v *Rules) Show(r *engine.RunRecord) {
	if once(&v.tab, r, v.desk.Agreement, v.draw) {
		v.result = nil
	}
}

// how says how a run gets answers of both.
const how = "A step with share and otherwise asks the model for some agents only. With shadow: 20 it is also asked about 20 others in each cycle, without an effect on them."

func (v *Rules) draw(found *agreement.Result) {
	v.result = found
	var rows [][]string
	var parts []fyne.CanvasObject
	for i := range found.Steps {
		s := &found.Steps[i]
		if s.Pairs == 0 && len(s.Unanswered) == 0 {
			continue
		}
		rows = append(rows, s.Rows()...)
		if p := v.step(s); p != nil {
			parts = append(parts, p)
		}
	}
	if len(rows) == 0 {
		v.tell("No step of this run asked both a model and a rule.", how, plain)
		return
	}
	enable(v.export, true)
	v.tell(found.Verdict(), "Brackets are 95% intervals. Kappa is 0 for agreement as by chance, and 1 if all answers are the same.", plain)
	v.put(append([]fyne.CanvasObject{widgets.NewPanel("Model and rule", newSheet(agreement.Head(), rows, "Same answer"))}, parts...)...)
}

// step shows what is known of a step beyond its row; nil if nothing is.
func (v *Rules) step(s *agreement.Step) fyne.CanvasObject {
	body := form.NewStack()
	for _, remark := range s.Remarks() {
		body.Add(textNote(remark, false))
	}
	var sides []fyne.CanvasObject
	if len(s.Cycles) > 1 {
		c := plot.NewCurves()
		c.Keep(v.keep())
		c.Set(overCycles(s))
		sides = append(sides, form.NewStack(widgets.NewHeading("Same answer, by cycle"), c))
	}
	for _, c := range s.Crossed() {
		sides = append(sides, form.NewStack(widgets.NewHeading(c.Title), newSheet(c.Head, c.Rows)))
	}
	if len(sides) > 0 {
		body.Add(form.NewColumns(partEms, sides...))
	}
	if len(body.Objects) == 0 {
		return nil
	}
	return widgets.NewPanel("Step "+s.Step, body)
}

// overCycles is the plot of the agreement over cycles, in percent.
func overCycles(s *agreement.Step) findings.CurvePlot {
	line := findings.CurveLine{}
	for _, c := range s.Cycles {
		line.Dots = append(line.Dots, findings.CurveDot{
			X: float64(c.Cycle), Text: strconv.Itoa(c.Cycle), Mean: 100 * c.Share.Share, Low: 100 * c.Low, High: 100 * c.High, Runs: c.Of,
		})
	}
	return findings.CurvePlot{Measure: "same answer", Unit: "%", Factor: "cycle", Numbers: true, Counts: "pairs", Lines: []findings.CurveLine{line}}
}
