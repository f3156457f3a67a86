package study

import (
	"fmt"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/voices"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Voices is the tab that shows how different the answers of agents are.
type Voices struct {
	tab
	crowd *voices.Crowd
}

// NewVoices returns the tab.
func NewVoices(desk Desk, win fyne.Window) *Voices {
	v := &Voices{}
	v.build(desk, win, func() { v.save("voices", v.crowd.Sheet()) }, nil)
	return v
}

// Show shows a run. It reads the answers again after the end of the run.
func (v *Voices) Show(r *engine.RunRecord) {
	if once(&v.tab, r, v.desk.Voices, v.draw) {
		v.crowd = nil
	}
}

func (v *Voices) draw(c *voices.Crowd) {
	v.crowd = c
	if len(c.Steps) == 0 {
		v.tell(voices.NoAnswers, c.Note, plain)
		return
	}
	enable(v.export, true)
	is := plain
	switch {
	case c.Warned():
		is = doubtful
	case c.Judged():
		is = good
	}
	v.tell(c.Verdict(), c.Note, is)
	rows := make([][]string, len(c.Steps))
	for i := range c.Steps {
		rows[i] = c.Steps[i].Cells()
	}
	parts := []fyne.CanvasObject{widgets.NewPanel("Answers by step", form.NewStack(newSheet(voices.Head(), rows), form.NewNote(voices.Method)))}
	for i := range c.Steps {
		if p := v.step(&c.Steps[i]); p != nil {
			parts = append(parts, p)
		}
	}
	v.put(parts...)
}

// step shows what stands out in a step; nil if nothing does.
func (v *Voices) step(s *voices.Voice) fyne.CanvasObject {
	var sides []fyne.CanvasObject
	if len(s.Phrases) > 0 {
		b := chart.NewBars("Repeated phrases", "", v.keep())
		b.Rates = true
		var bars []chart.Bar
		for _, p := range s.Phrases {
			bars = append(bars, chart.Bar{Key: p.Text, Label: "“" + p.Text + "”", Value: fmt.Sprintf("%.0f%%", 100*p.Share), Amount: 100 * p.Share})
		}
		b.Set(bars)
		sides = append(sides, form.NewStack(widgets.NewHeading("Repeated phrases, share of agents"), b))
	}
	if len(s.Segments) > 0 {
		var rows [][]string
		for _, a := range s.Segments {
			rows = append(rows, []string{a.Attribute, fmt.Sprint(a.Values), fmt.Sprintf("%.2f", a.Between), fmt.Sprintf("%.2f", a.Within)})
		}
		sides = append(sides, form.NewStack(widgets.NewHeading("Mean distance by attribute"), newSheet([]string{"Attribute", "Values", "Between values", "Within a value"}, rows)))
	}
	if len(sides) == 0 && s.Warning == "" {
		return nil
	}
	body := form.NewStack()
	if s.Warning != "" {
		body.Add(textNote(s.Warning, true))
	}
	body.Add(form.NewColumns(partEms, sides...))
	return widgets.NewPanel("Step "+s.Step, body)
}
