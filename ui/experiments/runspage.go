package experiments

import (
	"context"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/plot"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// runsPage shows all runs by point and seed, and what can be done with the chosen one.
type runsPage struct {
	screen                 *Screen
	of                     *shown
	chosen                 string // identity; "" if none
	matrix                 *plot.Matrix
	about, why             *widgets.Line
	open, next, skip, back *widget.Button
	content                fyne.CanvasObject
}

func newRunsPage(s *Screen) *runsPage {
	p := &runsPage{screen: s, matrix: plot.NewMatrix(), about: widgets.NewLine(theme.SizeNameText, widgets.Neutral), why: widgets.NewLine(theme.SizeNameCaptionText, widgets.Bad)}
	p.matrix.OnChosen = p.choose
	p.open = widget.NewButtonWithIcon("Open in Results", theme.ListIcon(), p.results)
	p.next = widget.NewButtonWithIcon("Run next", theme.MediaSkipNextIcon(), func() {
		p.order("It keeps its place.", func(ctx context.Context, path, run string) error { return s.desk.First(ctx, path, run) })
	})
	p.skip = widget.NewButtonWithIcon("Skip", theme.ContentRemoveIcon(), func() {
		p.order("Not skipped.", func(ctx context.Context, path, run string) error { return s.desk.Skip(ctx, path, run, false) })
	})
	p.back = widget.NewButtonWithIcon("Take back in", theme.ContentUndoIcon(), func() {
		p.order("It stays skipped.", func(ctx context.Context, path, run string) error { return s.desk.Skip(ctx, path, run, true) })
	})
	buttons := container.New(&form.Flow{}, p.open, p.next, p.skip, p.back)
	head := widgets.NewCaption("Each row is a point, each column a seed. Choose a run to see more.")
	p.content = widgets.NewPanel("", container.NewBorder(head, container.NewVBox(p.about, p.why, buttons), nil, nil, p.matrix))
	return p
}

func (p *runsPage) object() fyne.CanvasObject { return p.content }

func (p *runsPage) show(x *shown) {
	if p.of != x {
		p.of = x
		p.matrix.Set(x.comparison.Table)
	}
	p.draw()
}

func (p *runsPage) choose(place int) {
	point, replicate := p.matrix.Run(place)
	p.chosen = p.of.comparison.Table.Runs[point][replicate].Identity
	p.draw()
}

// find returns the chosen run with its point and seed; nil if none is chosen.
func (p *runsPage) find() (run *findings.Run, point string, seed uint64) {
	if p.of == nil || p.chosen == "" {
		return nil, "", 0
	}
	t := p.of.comparison.Table
	for i := range t.Runs {
		for k := range t.Runs[i] {
			if t.Runs[i][k].Identity == p.chosen {
				return &t.Runs[i][k], t.Points[i].Label, t.Seeds[k]
			}
		}
	}
	return nil, "", 0
}

// draw describes the chosen run.
func (p *runsPage) draw() {
	run, point, seed := p.find()
	text, why, tone := "No run is chosen.", "", widgets.Quiet
	state := findings.State("")
	if run != nil {
		state = run.State
		text = fmt.Sprintf("%s, seed %d: %s", findings.Brief(point), seed, run.State)
		if run.ID != "" {
			why = "Run " + run.ID
		}
		if run.Why != "" {
			why, tone = strings.TrimPrefix(why+". "+words.Sentence(run.Why), ". "), widgets.Bad
		}
	}
	p.about.Set(text, widgets.Neutral)
	p.why.Set(why, tone)
	e := p.screen.entry()
	free := e != nil && p.screen.ordered == ""
	enable(p.open, run != nil && run.ID != "")
	enable(p.next, free && (state == findings.Waiting || state == findings.Interrupted))
	enable(p.skip, free && (state == findings.Waiting || state == findings.Interrupted || state == findings.Running))
	enable(p.back, free && state == findings.Skipped)
}

func (p *runsPage) results() {
	if run, _, _ := p.find(); run != nil && run.ID != "" && p.screen.ways.Results != nil {
		p.screen.ways.Results(engine.RunID(run.ID))
	}
}

// order orders something about the chosen run.
func (p *runsPage) order(failed string, do func(ctx context.Context, path, run string) error) {
	run := p.chosen
	p.screen.order(failed, func(ctx context.Context, path string) error { return do(ctx, path, run) }, nil)
}
