package calibrate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/calibrate"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

const (
	mostRepeats = 100
	mostSeconds = 3600
)

// plan is the form and the progress of a calibration.
type plan struct {
	panel *widgets.Panel

	pick             *widget.Select
	choices          []Choice
	levels           *form.Entry
	max              *form.Number
	repeats, seconds *form.Number
	rows             form.Form
	start, stop      *widget.Button
	wait, anyway     *widget.Button // answers to other programs that use the CPU
	progress         *widgets.Progress
	said             *widgets.Notice
}

func newPlan(start func(Others), stop func()) *plan {
	p := &plan{
		pick: widget.NewSelect(nil, nil), levels: form.NewEntry(), max: form.NewWhole(1, engine.MaxLimit),
		repeats: form.NewWhole(1, mostRepeats), seconds: form.NewNumber(), progress: widgets.NewProgress(), said: widgets.NewNotice(),
	}
	p.pick.PlaceHolder = "Loading scenarios…"
	p.levels.PlaceHolder = "1, 2, 4, 8, …"
	p.max.PlaceHolder, p.repeats.PlaceHolder, p.seconds.PlaceHolder = "64", "3", "5"
	p.seconds.Min, p.seconds.Max = 0.1, mostSeconds
	p.start = widget.NewButtonWithIcon("Calibrate", theme.MediaPlayIcon(), func() { start(RefuseOthers) })
	p.start.Importance = widget.HighImportance
	p.start.Disable()
	p.stop = widget.NewButton("Cancel", stop)
	p.wait = widget.NewButton("Wait", func() { start(WaitForOthers) })
	p.wait.Importance = widget.HighImportance
	p.anyway = widget.NewButton("Start anyway", func() { start(DespiteOthers) })
	for _, b := range []*widget.Button{p.stop, p.wait, p.anyway} {
		b.Hide()
	}
	scenario := p.rows.Add(form.NewRow("Scenario", form.NewFrame(p.pick)), "scenario", "file")
	scenario.SetHelp("uses the values from Setup")
	levels := p.rows.Add(form.NewRow("Limits", p.levels), "levels")
	highest := p.rows.Add(form.NewRow("Maximum", p.max), "max")
	repeats := p.rows.Add(form.NewRow("Repeats", p.repeats), "repeats")
	seconds := p.rows.Add(form.NewRow("Seconds", p.seconds), "duration")
	p.levels.OnChanged = func(string) { levels.Changed() }
	p.max.OnChanged = func(string) { highest.Changed() }
	p.repeats.OnChanged = func(string) { repeats.Changed() }
	p.seconds.OnChanged = func(string) { seconds.Changed() }
	p.panel = widgets.NewPanel("Calibration", form.NewStack(
		scenario, levels, form.NewColumns(6, highest, repeats, seconds), p.start,
		container.New(withEnd{}, p.progress, p.stop), container.New(room{}, p.said, p.wait, p.anyway),
	))
	return p
}

func (p *plan) entries() []*form.Entry {
	return []*form.Entry{p.levels, &p.max.Entry, &p.repeats.Entry, &p.seconds.Entry}
}

// offer lists the scenarios. It chooses Setup's scenario if none is chosen.
func (p *plan) offer(all []Choice, shown string) {
	p.choices, p.pick.PlaceHolder = all, "Choose a scenario"
	chosen := p.chosen()
	var titles []string
	for _, c := range all {
		title := c.Title
		if slices.Contains(titles, title) { // a copy of another scenario
			title += " · " + c.Name
		}
		titles = append(titles, title)
	}
	if !slices.Equal(p.pick.Options, titles) {
		p.pick.SetOptions(titles)
	}
	if chosen == "" && len(all) > 0 {
		at := max(slices.IndexFunc(all, func(c Choice) bool { return c.Name == shown }), 0)
		p.pick.SetSelectedIndex(at)
	}
	if len(all) > 0 && !p.stop.Visible() {
		p.start.Enable()
	}
}

// chosen returns the scenario's name; "" if none.
func (p *plan) chosen() string {
	if i := p.pick.SelectedIndex(); i >= 0 && i < len(p.choices) {
		return p.choices[i].Name
	}
	return ""
}

// order returns the values of the fields, and shows their errors.
func (p *plan) order() (Order, error) {
	o := Order{Scenario: p.chosen()}
	var mistakes []error
	var err error
	wrong := func(field string, err error) {
		if err != nil {
			mistakes = append(mistakes, &engine.FieldError{Field: field, Problem: err.Error()})
		}
	}
	o.Levels, err = levelsIn(p.levels.Text)
	wrong("levels", err)
	if p.max.Text != "" {
		most, err := p.max.Value()
		wrong("max", err)
		o.Max = int(most)
	}
	repeats, err := p.repeats.Value()
	wrong("repeats", err)
	seconds, err := p.seconds.Value()
	wrong("duration", err)
	o.Repeats, o.Duration = int(repeats), time.Duration(seconds*float64(time.Second))
	err = errors.Join(mistakes...)
	_ = p.rows.Check(err) // every field has a row
	return o, err
}

// levelsIn parses numbers separated by commas or spaces.
func levelsIn(text string) (all []int, err error) {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' || r == ';' }) {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > engine.MaxLimit {
			return nil, fmt.Errorf("%q is not a limit: enter whole numbers of at least 1", part)
		}
		all = append(all, n)
	}
	return all, nil
}

// begin shows that a calibration is being started.
func (p *plan) begin() {
	_ = p.rows.Tell(nil)
	p.start.Disable()
	p.said.Say("", widgets.Neutral)
	p.ask(false)
}

// ask shows or hides the answers to other programs that use the CPU.
func (p *plan) ask(on bool) {
	for _, b := range []*widget.Button{p.wait, p.anyway} {
		if on {
			b.Show()
		} else {
			b.Hide()
		}
	}
}

// refuse shows why the calibration did not start. Errors of fields are shown at the fields.
func (p *plan) refuse(err error) {
	p.start.Enable()
	p.fail(p.rows.Tell(err))
}

// fail shows an error; nil clears it.
func (p *plan) fail(err error) {
	if err != nil {
		p.said.Say(err.Error(), widgets.Bad)
	}
}

func (p *plan) say(text string) { p.said.Say(text, widgets.Warning) }

// follow shows the progress of a calibration.
func (p *plan) follow(s *State) {
	p.ask(s.Foreign > 0 && !s.Running)
	if s.Running {
		p.start.Disable()
		p.stop.Show()
		said := ""
		if s.Foreign > 0 {
			said = fmt.Sprintf("%s The calibration starts when they use at most %.0f%%.", words.Sentence(calibrate.ForeignLoad(s.Foreign)), calibrate.CalmForeign)
		}
		p.said.Say(said, widgets.Warning)
		p.progress.Set(s.Doing, s.Left, s.Share)
		return
	}
	p.start.Enable()
	p.stop.Hide()
	p.progress.Set("", "", 0)
	switch {
	case s.Foreign > 0:
		p.said.Say(words.Sentence(calibrate.ForeignLoad(s.Foreign))+" Close them, or wait.", widgets.Warning)
	case s.Err != nil:
		p.said.Say("Ended early: "+s.Err.Error(), widgets.Warning)
	case s.Found != nil && s.Found.UnderLoad:
		p.said.Say("Done. Measured under load: saved, but not recommended.", widgets.Warning)
	default:
		p.said.Say("Done. Saved for this machine, scenario and services.", widgets.Good)
	}
}

// withEnd lays out an object with a button at its right end. The button keeps its place while it is hidden.
type withEnd struct{}

// Layout implements [fyne.Layout].
func (withEnd) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	end := objects[1].MinSize()
	first := objects[0].MinSize().Height
	objects[0].Move(fyne.NewPos(0, (size.Height-first)/2))
	objects[0].Resize(fyne.NewSize(max(size.Width-end.Width-2*theme.Padding(), 0), first))
	objects[1].Move(fyne.NewPos(size.Width-end.Width, 0))
	objects[1].Resize(fyne.NewSize(end.Width, size.Height))
}

// MinSize implements [fyne.Layout].
func (withEnd) MinSize(objects []fyne.CanvasObject) fyne.Size {
	first, end := objects[0].MinSize(), objects[1].MinSize()
	return fyne.NewSize(first.Width+2*theme.Padding()+end.Width, max(first.Height, end.Height))
}

// room lays out a notice above buttons. It keeps the height of three lines and the buttons, so that nothing below moves.
type room struct{}

const roomLines = 3

// Layout implements [fyne.Layout].
func (room) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	at := fyne.NewPos(0, form.Fit(objects[0], size.Width)+theme.Padding())
	for _, o := range objects[1:] {
		o.Move(at)
		o.Resize(o.MinSize())
		at.X += o.MinSize().Width + theme.Padding()
	}
}

// MinSize implements [fyne.Layout]. The height is for the width of the last layout.
func (room) MinSize(objects []fyne.CanvasObject) fyne.Size {
	line := fyne.MeasureText("M", theme.TextSize(), fyne.TextStyle{}).Height
	size := fyne.NewSize(0, roomLines*line+2*theme.Padding())
	if objects[0].Visible() {
		size = size.Max(objects[0].MinSize())
	}
	size.Height += theme.Padding() + objects[1].MinSize().Height
	return size
}
