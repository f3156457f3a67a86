package runs

import (
	"errors"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/note"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// detail is the lower half of the screen: the chosen run, its timeline and its checkpoints.
type detail struct {
	screen  *Screen
	content fyne.CanvasObject
	body    fyne.CanvasObject // hidden without a run

	name, tags     *mark
	badge          *widgets.Badge
	checkpointLine *checkpointLine
	facts          *widgets.Sheet
	points         *widgets.Table
	noPoints       *emptiness
	hint           *form.Note // what Resume would do, and why buttons are disabled; two lines are reserved
	note           *note.Editor

	bound
	resume      *widget.Button
	fork        *widget.Button
	results     *widget.Button
	replay      *widget.Button
	ask         *widget.Button
	removePoint *widget.Button
	stays       *widgets.Text // why it is disabled
}

// bound are the limit to resume with, and the new budget or length of a run that used it up.
type bound struct {
	limit   *widget.Entry
	limitOf engine.RunID  // the run whose limit is in the field
	filled  string        // the text that was filled in
	entry   *widget.Entry // of a run that used up its budget or its length
	until   *widgets.Text
	counts  *widgets.Text
	of      engine.RunID
	offered string // the text that was filled in
}

func newDetail(s *Screen) *detail {
	d := &detail{
		screen: s,
		badge:  widgets.NewBadge("", widgets.Neutral),
		stays:  widgets.NewCaption(""),
		hint:   form.NewNote(""),
		bound:  bound{limit: widget.NewEntry(), entry: widget.NewEntry(), until: widgets.NewCaption(""), counts: widgets.NewCaption("")},
		facts:  widgets.NewSheet([]widgets.Column{{Sample: "Random seed"}, {Sample: "1,000,000 at the start; 1 to", Weight: 1}}, "", nil),
	}
	d.hint.Lines = 2
	d.name = newMark("Name", s.rename)
	d.tags = newMark("Tags, such as: prices b2b", s.tag)
	d.checkpointLine = newCheckpointLine(func(number int) { s.chooseCheckpoint(strconv.Itoa(number)) })
	d.points = widgets.NewTable(checkpointColumns, "", 3)
	d.points.OnSelected = s.chooseCheckpoint
	d.noPoints = newEmptiness(d.points)
	d.limit.Validator = func(text string) error {
		_, err := parseLimit(text)
		return err
	}
	d.entry.OnChanged = func(string) {
		if r := s.run(); r != nil && r.ID == d.of {
			d.drawActions(r)
		}
	}
	d.resume = &widget.Button{Text: resumeText, Icon: theme.MediaPlayIcon(), Importance: widget.HighImportance, OnTapped: s.resume}
	d.fork = widget.NewButtonWithIcon("Fork…", theme.ContentCopyIcon(), s.fork)
	d.results = widget.NewButtonWithIcon("Results", theme.ListIcon(), func() { s.to.Results(s.chosen) })
	d.replay = widget.NewButtonWithIcon("History", theme.MediaReplayIcon(), func() { s.to.Replay(s.chosen) })
	d.ask = widget.NewButtonWithIcon("Ask agents…", theme.QuestionIcon(), func() { s.to.Ask(s.chosen) })
	d.removePoint = widget.NewButtonWithIcon("Delete checkpoint", theme.DeleteIcon(), s.deleteCheckpoint)
	d.note = note.NewEditor(2, s.desk.Note, s.noted)
	d.layOut()
	d.disable()
	return d
}

// resumeText is the text of the primary button, unless an older checkpoint is chosen.
const resumeText = "Resume"

// disable disables all buttons. Shortcuts also reach hidden buttons.
func (d *detail) disable() {
	for _, b := range []*widget.Button{d.resume, d.fork, d.results, d.replay, d.ask, d.removePoint} {
		enable(b, false)
	}
}

func (d *detail) layOut() {
	limit, more := form.NewSized("1,000,000", d.limit), form.NewSized("1,000,000", d.entry)
	named := container.NewBorder(nil, nil, container.NewCenter(d.badge), nil, container.New(&shares{2, 1}, d.name, d.tags))
	bounded := container.NewHBox(container.NewCenter(d.until), more, container.NewCenter(d.counts))
	first := container.NewHBox(container.New(&steady{least: resumeText + " from 00:00:00…"}, d.resume), container.NewCenter(widgets.NewCaption("Limit")), limit, bounded)
	actions := container.NewBorder(nil, nil, first, nil, d.bar())
	head := container.NewVBox(named, actions, newReserved(2, d.hint), d.checkpointLine)
	facts := container.NewVScroll(d.facts)
	facts.SetMinSize(fyne.NewSize(d.facts.MinSize().Width, leastFacts*d.resume.MinSize().Height))
	below := container.NewHBox(layout.NewSpacer(), container.NewCenter(d.stays), d.removePoint)
	side := container.NewBorder(nil, d.note, nil, nil, facts)
	scroll := container.NewVScroll(nil)
	lower := container.New(&sides{changed: scroll.Refresh}, side, container.NewBorder(nil, below, nil, nil, d.noPoints.content))
	beside := theme.Size(theme.SizeNameScrollBarSmall) + 2*theme.Size(theme.SizeNameSeparatorThickness) // the scroll bar
	d.body = container.New(layout.NewCustomPaddedLayout(0, 0, 0, beside), form.NewHeaded(head, lower))
	scroll.Content = d.body
	d.content = widgets.NewPanel("", scroll)
	d.body.Hide()
	d.showBound(false)
}

// bar returns the buttons that open other screens.
func (d *detail) bar() *widgets.Bar {
	b := widgets.NewBar(d.fork, d.results, d.replay, d.ask)
	b.Offer(d.ask, d.screen.to.Ask != nil)
	return b
}

// leastFacts is the minimum visible height of the facts, in heights of a button. In a larger window they take the rest.
const leastFacts = 1

// draw shows the chosen run. Unchanged parts are not drawn again.
func (d *detail) draw() {
	s := d.screen
	r := s.run()
	s.list.menu.draw()
	if r == nil {
		d.body.Hide()
		d.disable()
		return
	}
	d.badge.Set(words.State(r))
	d.name.show(r.ID, r.DisplayName())
	d.tags.show(r.ID, strings.Join(r.Tags, " "))
	d.drawFacts(r)
	d.note.Open(r.ID, r.Note)
	if s.of == r.ID {
		d.drawCheckpoints(r)
	}
	d.fillLimit(r)
	d.fillBound(r)
	d.drawActions(r)
	if !d.body.Visible() {
		d.body.Show()
	}
}

// fillLimit fills in the run's limit, unless the user changed it.
func (d *detail) fillLimit(r *engine.RunRecord) {
	text := strconv.Itoa(r.Limit)
	if d.limitOf != r.ID || d.filled != text && d.limit.Text == d.filled {
		d.limit.SetText(text)
	}
	d.limitOf, d.filled = r.ID, text
}

// fillBound suggests a larger budget for a run that used it up, or a new length for a complete run. The field keeps its place for others.
func (d *detail) fillBound(r *engine.RunRecord) {
	setting, unit, offer := r.Bound()
	if setting == "" || r.InProgress || r.Fetched != nil {
		d.of = ""
		d.showBound(false)
		return
	}
	if d.of == r.ID && d.offered == offer {
		return
	}
	d.of, d.offered = r.ID, offer
	d.entry.SetText(offer)
	if r.AllDone() {
		d.until.SetText("New length")
	} else {
		d.until.SetText("New budget")
	}
	d.counts.SetText(unit)
	d.showBound(true)
}

func (d *detail) showBound(shown bool) {
	if d.entry.Visible() == shown {
		return
	}
	for _, o := range []fyne.CanvasObject{d.entry, d.until, d.counts} {
		if shown {
			o.Show()
		} else {
			o.Hide()
		}
	}
}

// larger returns the budget or length that the user entered; "" for other runs.
func (d *detail) larger(r *engine.RunRecord) string {
	if d.of != r.ID {
		return ""
	}
	return strings.ReplaceAll(strings.TrimSpace(d.entry.Text), ",", "")
}

// longer reports whether the user gave a complete run a new length.
func (d *detail) longer(r *engine.RunRecord) bool {
	return r.AllDone() && d.of == r.ID && d.larger(r) != d.offered
}

func (d *detail) drawFacts(r *engine.RunRecord) {
	all := facts(r, parentName(r, d.screen.runs))
	rows := make([]widgets.Row, len(all))
	for i, f := range all {
		rows[i] = widgets.Row{Key: strconv.Itoa(i), Cells: []widgets.Cell{{Text: f.name, Tone: widgets.Quiet}, {Text: f.value, Tone: f.tone, Tip: f.value}}}
	}
	d.facts.SetRows(rows)
}

func (d *detail) drawCheckpoints(r *engine.RunRecord) {
	s := d.screen
	switch {
	case len(s.checkpoints) > 0:
		d.noPoints.hide()
	case s.busy == r.ID:
		d.noPoints.say("No checkpoints yet. Live can take one.", "Open Live", s.to.Live)
	case r.AllDone():
		d.noPoints.say("No checkpoints: the run finished before the first one was due.", "Set up a run", s.to.Setup)
	default:
		d.noPoints.say("No checkpoints yet.", "", nil)
	}
	d.points.SetRows(checkpointRows(s.checkpoints, r.Kept))
	number := 0
	if c := s.checkpoint(); c != nil {
		number = c.Number
	}
	d.points.Select(strconv.Itoa(number))
	d.checkpointLine.show(r, s.checkpoints, number)
}

// drawActions enables what is possible with the chosen run and checkpoint. The hint says why the rest is not possible.
func (d *detail) drawActions(r *engine.RunRecord) {
	s, c := d.screen, d.screen.checkpoint()
	text, how := resuming(r, c, s.busy, d.longer(r))
	if own := s.ofExperiment(r); own != "" {
		text = own
	}
	keep := undeletable(r, s.busy)
	reasons := []string{text}
	if r.Fetched == nil && keep != "" {
		reasons = append(reasons, keep)
	}
	if c == nil && s.of == r.ID && r.Damage == "" && r.Fetched == nil {
		reasons = append(reasons, "A fork needs a checkpoint.")
	}
	working := s.working[r.ID]
	if working != "" {
		reasons = []string{working + " Wait until this is done."}
	}
	d.hint.SetText(strings.Join(reasons, " "))
	button := resumeText
	if how == fromBefore {
		button += " from " + s.at(c) + "…"
	}
	if d.resume.Text != button {
		d.resume.SetText(button)
	}
	enable(d.resume, how != cannot && working == "" && (how == fromBefore || !r.AllDone() || d.longer(r)))
	enable(d.limit, how != cannot && working == "")
	enable(d.entry, how != cannot && working == "")
	enable(d.fork, c != nil && working == "" && r.Damage == "")
	here := r.Fetched == nil && r.Damage == "" // the results are on this machine
	enable(d.results, here)
	enable(d.replay, here && s.to.Replay != nil)
	enable(d.ask, here && s.to.Ask != nil)
	why := ""
	if c == nil || c.Newest {
		why = "The newest checkpoint stays. Select an older one to delete it."
	}
	d.stays.SetText(why)
	enable(d.removePoint, keep == "" && working == "" && c != nil && !c.Newest)
}

func enable(o fyne.Disableable, enabled bool) {
	switch {
	case enabled && o.Disabled():
		o.Enable()
	case !enabled && !o.Disabled():
		o.Disable()
	}
}

var errLimit = errors.New("The limit must be a whole number from 1 to " + engine.FormatCount(engine.MaxLimit) + ".")

// parseLimit parses the limit to resume with; empty is 0, which keeps the run's limit.
func parseLimit(text string) (int, error) {
	text = strings.ReplaceAll(strings.TrimSpace(text), ",", "")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > engine.MaxLimit {
		return 0, errLimit
	}
	return n, nil
}
