package study

import (
	"context"
	"fmt"
	"math"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/survey"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/plot"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Surveys is the tab with the surveys among the agents of a run, and the answers to one of them.
type Surveys struct {
	tab
	pick     *widget.Select
	by       *widget.Select
	picks    fyne.CanvasObject // both
	ask      *widget.Button
	progress *widgets.Progress
	stop     *widget.Button
	asking   *fyne.Container // both, while a survey is in progress
	filling  bool            // the program sets the selections
	reading  bool

	run    *engine.RunRecord // shown in Results
	all    []engine.RunRecord
	chosen engine.RunID // one of all; "" if there are none
	result *survey.Result
}

// allAgents is the choice of no segment.
const allAgents = "all agents"

// NewSurveys returns the tab; ask opens the dialog for a survey among the agents of a run.
func NewSurveys(desk Desk, win fyne.Window, ask func(engine.RunID)) *Surveys {
	v := &Surveys{progress: widgets.NewProgress()}
	v.pick = widget.NewSelect(nil, func(string) {
		if i := v.pick.SelectedIndex(); !v.filling && i >= 0 {
			v.chosen, v.result = v.all[i].ID, nil
			v.readAnswers()
		}
	})
	v.by = widget.NewSelect(nil, func(string) {
		if !v.filling {
			v.draw()
		}
	})
	v.stop = widget.NewButtonWithIcon("Stop", theme.MediaStopIcon(), v.stopSurvey)
	v.asking = container.NewBorder(nil, nil, nil, v.stop, v.progress)
	v.ask = widget.NewButtonWithIcon("Ask agents…", theme.QuestionIcon(), func() { ask(v.of.run) })
	field := func(title string, o fyne.CanvasObject) fyne.CanvasObject {
		return container.NewBorder(nil, nil, container.NewCenter(widgets.NewCaption(title)), nil, form.NewFrame(o))
	}
	v.picks = form.NewColumns(pickEms, field("Survey", widgets.NewWhole(v.pick)), field("By", widgets.NewWhole(v.by)))
	v.build(desk, win, func() { v.save("answers", v.result.Sheet()) }, form.NewStack(v.picks, v.asking), v.ask)
	v.asking.Hide()
	return v
}

// Offer shows or hides the button that asks agents.
func (v *Surveys) Offer(offered bool) { v.ask.Hidden = !offered }

// pickEms is the minimum width of a selection, in text heights.
const pickEms = 20

// Show shows a run: itself, if it is a survey, or the newest survey among its agents.
func (v *Surveys) Show(r *engine.RunRecord) {
	now := state{r.ID, !r.InProgress, r.Done}
	if v.of == now || v.reading && v.of.run == r.ID {
		return
	}
	if v.of.run != r.ID {
		v.all, v.result, v.chosen = nil, nil, ""
		v.wait("Reading the surveys…")
		v.asking.Hide()
		v.fill()
	}
	v.of, v.run, v.reading = now, r, true
	read(&v.tab, func(ctx context.Context) ([]engine.RunRecord, error) { return v.desk.Surveys(ctx, r.ID) }, func(all []engine.RunRecord, err error) {
		v.reading = false
		if err != nil {
			v.fail("Cannot read the surveys.", err)
			return
		}
		v.all = all
		at := slices.IndexFunc(all, func(s engine.RunRecord) bool { return s.ID == r.ID })
		if at < 0 {
			at = slices.IndexFunc(all, func(s engine.RunRecord) bool { return s.ID == v.chosen })
		}
		switch {
		case len(all) == 0:
			v.chosen = ""
			v.tell("No surveys among these agents yet.", "Ask agents… asks copies of them, with the memory that they had at a moment. The run stays as it is.", plain)
		default:
			v.chosen = all[max(at, 0)].ID
			v.readAnswers()
		}
		v.fill()
	})
}

// survey returns the chosen survey; nil if there is none.
func (v *Surveys) survey() *engine.RunRecord {
	for i := range v.all {
		if v.all[i].ID == v.chosen {
			return &v.all[i]
		}
	}
	return nil
}

// fill sets the choices of surveys and segments.
func (v *Surveys) fill() {
	v.filling = true
	defer func() { v.filling = false }()
	var options []string
	selected := ""
	for i := range v.all {
		s := &v.all[i]
		text := s.DisplayName() + ", " + words.Stamp(s.Created)
		if options = append(options, text); s.ID == v.chosen {
			selected = text
		}
	}
	if len(v.all) == 0 {
		v.picks.Hide()
	} else {
		v.picks.Show()
	}
	v.pick.Options, v.pick.Selected = options, selected
	v.pick.Refresh()
	v.by.Options = []string{allAgents}
	if v.result != nil {
		v.by.Options = append(v.by.Options, v.result.Segments()...)
		if !slices.Contains(v.by.Options, v.by.Selected) {
			v.by.Selected = v.by.Options[min(1, len(v.by.Options)-1)]
		}
	}
	v.by.Refresh()
}

// readAnswers counts the answers to the chosen survey.
func (v *Surveys) readAnswers() {
	s := v.survey()
	if v.result == nil {
		v.wait("Counting the answers…")
	}
	read(&v.tab, func(ctx context.Context) (*survey.Result, error) { return v.desk.Answers(ctx, s.ID) }, func(r *survey.Result, err error) {
		if err != nil {
			v.fail("Cannot read the answers.", err)
			return
		}
		v.result = r
		v.count(s)
		v.fill()
		v.draw()
	})
}

// count says how far the survey is.
func (v *Surveys) count(s *engine.RunRecord) {
	answered := v.result.Answered()
	text := fmt.Sprintf("%s of %s answered.", engine.FormatCount(int64(answered)), engine.Counted(max(s.Total, int64(v.result.Asked)), "agent", "agents"))
	is := good
	switch {
	case s.InProgress:
		is = plain
	case answered < v.result.Asked || s.Ending != engine.EndFinished:
		is = doubtful
	}
	state, _ := words.State(s)
	v.tell(text, fmt.Sprintf("%s, run %s: %s.", s.DisplayName(), s.ID, state), is)
	v.asking.Hidden = !s.InProgress
	enable(v.stop, true)
	if s.InProgress && s.Total > 0 {
		v.progress.Set("Asking…", "", float64(s.Done)/float64(s.Total))
	}
}

// stopSurvey stops the chosen survey, if it is in progress in this window.
func (v *Surveys) stopSurvey() {
	s := v.survey()
	if s == nil {
		return
	}
	enable(v.stop, false)
	async.Work(func() (struct{}, error) { return struct{}{}, v.desk.StopSurvey(context.Background(), s.ID) }, func(_ struct{}, err error) {
		if err != nil {
			enable(v.stop, true)
			v.said.Say("Not stopped. "+words.Trouble(err), widgets.Bad)
			return
		}
		v.said.Say("The survey stops when the agents who are being asked have answered. It can be resumed in Runs.", widgets.Neutral)
	})
}

// draw shows the answers to all questions, by the chosen segment.
func (v *Surveys) draw() {
	if v.result == nil {
		return
	}
	enable(v.export, true)
	questions := form.NewPacked(partEms)
	parts := []fyne.CanvasObject{questions}
	for i := range v.result.Questions {
		a := &v.result.Questions[i]
		if len(a.Head()) > mostColumns {
			parts = append(parts, v.question(a))
		} else {
			questions.Add(v.question(a))
		}
	}
	questions.Hidden = len(questions.Objects) == 0
	v.put(append(parts, widgets.NewPanel("", form.NewNote(survey.Method)))...)
}

// mostColumns is how many columns a table has that stands next to another one; wider ones have the whole width.
const mostColumns = 5

// question shows the answers to a question.
func (v *Surveys) question(a *survey.Answers) fyne.CanvasObject {
	body := form.NewStack(textNote(a.Ask, false))
	groups := a.By(v.by.Selected)
	if all, unit := estimates(a, groups); len(all) > 0 {
		p := plot.NewRows()
		p.Keep(v.keep())
		p.SetEstimates(a.Name, all, unit)
		body.Add(p)
	}
	rows := make([][]string, len(groups))
	for i := range groups {
		rows[i] = a.Cells(&groups[i])
	}
	body.Add(newSheet(a.Head(), rows, "Answered", "Mean"))
	for i := range groups {
		for _, said := range groups[i].Texts {
			text := "“" + said + "”"
			if groups[i].Segment != "" {
				text = groups[i].Value + ": " + text
			}
			body.Add(form.NewNote(text))
		}
	}
	return widgets.NewPanel(a.Name, body)
}

// estimates returns the rows of a plot: the shares of options in percent, each of all groups, or the means of numbers.
func estimates(a *survey.Answers, groups []survey.Group) (all []plot.Estimate, unit string) {
	add := func(name, text string, series int, g *survey.Group, times float64, v, low, high *float64) {
		tip := fmt.Sprintf("%s\n%s, %d of %d answered", name, text, g.Answered, g.Asked)
		all = append(all, plot.Estimate{Name: name, Text: text, Tip: tip, Value: known(v, times), Low: known(low, times), High: known(high, times), Series: series})
	}
	if a.Kind == survey.Number {
		for i := range groups {
			g := &groups[i]
			cells := a.Cells(g)
			add(g.Name(), cells[len(cells)-1], i, g, 1, g.Mean, g.Low, g.High)
		}
		return all, ""
	}
	for k := range groups[0].Options {
		for i := range groups {
			o := &groups[i].Options[k]
			name := o.Option
			if i > 0 {
				name += ", " + groups[i].Value
			}
			add(name, o.Text(), i, &groups[i], 100, o.Share, o.Low, o.High)
		}
	}
	return all, "%"
}

// known returns a multiple of a figure; NaN if it is unknown.
func known(v *float64, times float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return times * *v
}
