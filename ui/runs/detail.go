package runs

import (
	"errors"
	"fmt"
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

// detail is the lower half of the screen: the chosen run.
type detail struct {
	screen  *Screen
	content fyne.CanvasObject
	body    fyne.CanvasObject // hidden without a run
	head    fyne.CanvasObject // the part above facts and checkpoints
	high    float32           // height of head at the last layout

	title       *widget.Label
	badge       *widgets.Badge
	facts       *widgets.Sheet
	checkpoints *widgets.Table
	why         *widgets.Notice // why the run ended, and why it is inexact
	hint        *widgets.Notice // what Resume would do, and why buttons are disabled
	said        *widgets.Notice // result of the last operation
	note        *note.Editor

	limit   *widget.Entry
	limitOf engine.RunID      // the run whose limit is in the field
	filled  string            // the text that was filled in
	bound   *widget.Entry     // of a run that used up its budget or its length
	bounded fyne.CanvasObject // the field with its words; hidden for other runs
	until   *widgets.Text
	counts  *widgets.Text
	boundOf engine.RunID
	offered string // the text that was filled in
	resume  *widget.Button
	fork    *widget.Button
	actions *widgets.Bar // all buttons except these two
	replay  *widget.Button
	results *widget.Button
	compare *widget.Button
	export  *widget.Button
	send    *widget.Button
	remove  *widget.Button

	removePoint *widget.Button
}

func newDetail(s *Screen) *detail {
	d := &detail{
		screen: s,
		title:  widget.NewLabelWithStyle("", fyne.TextAlignLeading, fyne.TextStyle{Bold: true}),
		badge:  widgets.NewBadge("", widgets.Neutral),
		why:    widgets.NewNotice(),
		hint:   widgets.NewNotice(),
		said:   widgets.NewNotice(),
		limit:  widget.NewEntry(),
		bound:  widget.NewEntry(),
		until:  widgets.NewCaption(""),
		counts: widgets.NewCaption(""),
		facts:  widgets.NewSheet([]widgets.Column{{Sample: "Forked from"}, {Sample: "1,000,000 at the start; 1 to 1,000", Weight: 1}}, "", nil),
	}
	d.title.Truncation = fyne.TextTruncateEllipsis
	d.checkpoints = widgets.NewTable(checkpointColumns, "", 2)
	d.checkpoints.OnSelected = s.chooseCheckpoint
	d.limit.Validator = func(text string) error {
		_, err := parseLimit(text)
		return err
	}
	d.bound.OnChanged = func(string) {
		if r := s.run(); r != nil && r.ID == d.boundOf {
			d.drawActions(r)
		}
	}
	d.resume = &widget.Button{Text: "Resume", Icon: theme.MediaPlayIcon(), Importance: widget.HighImportance, OnTapped: s.resume}
	d.fork = widget.NewButtonWithIcon("Fork…", theme.ContentCopyIcon(), s.fork)
	d.results = widget.NewButtonWithIcon("Results", theme.ListIcon(), func() { s.toResults(s.chosen) })
	d.replay = widget.NewButtonWithIcon("History", theme.MediaReplayIcon(), func() { s.toReplay(s.chosen) })
	d.compare = widget.NewButtonWithIcon("Compare…", theme.GridIcon(), func() { s.toCompare(s.chosen) })
	d.export = widget.NewButtonWithIcon("Export CSV…", theme.DownloadIcon(), s.export)
	d.send = widget.NewButtonWithIcon("Send to Postgres", theme.UploadIcon(), s.send)
	d.remove = widget.NewButtonWithIcon("Delete…", theme.DeleteIcon(), s.askDelete)
	d.removePoint = widget.NewButtonWithIcon("Delete checkpoint", theme.DeleteIcon(), s.deleteCheckpoint)
	d.actions = widgets.NewBar(d.results, d.replay, d.compare, d.export, d.send, d.remove)
	d.note = note.NewEditor(2, s.desk.Note, s.noted)
	d.layOut()
	d.disable()
	return d
}

// disable disables all buttons. Shortcuts also reach hidden buttons.
func (d *detail) disable() {
	for _, b := range []*widget.Button{d.resume, d.fork, d.results, d.replay, d.compare, d.export, d.send, d.remove, d.removePoint} {
		enable(b, false)
	}
}

func (d *detail) layOut() {
	limit, bound := form.NewSized("1,000,000", d.limit), form.NewSized("1,000,000", d.bound)
	d.bounded = container.NewHBox(container.NewCenter(d.until), bound, container.NewCenter(d.counts))
	d.bounded.Hide()
	first := container.NewHBox(d.resume, container.NewCenter(widgets.NewCaption("with a limit of")), limit, d.fork)
	actions := container.NewBorder(nil, nil, first, nil, d.actions)
	name := container.NewBorder(nil, nil, d.badge, nil, d.title)
	d.head = form.NewStack(name, d.why, actions, d.bounded, d.hint, d.said)
	facts := container.NewVScroll(d.facts)
	facts.SetMinSize(fyne.NewSize(d.facts.MinSize().Width, leastFacts*d.resume.MinSize().Height))
	below := container.NewHBox(layout.NewSpacer(), d.removePoint)
	side := container.NewBorder(nil, d.note, nil, nil, facts)
	scroll := container.NewVScroll(nil)
	lower := container.New(&sides{changed: scroll.Refresh}, side, container.NewBorder(nil, below, nil, nil, d.checkpoints))
	d.body = form.NewHeaded(d.head, lower)
	scroll.Content = d.body
	d.content = widgets.NewPanel("", scroll)
	d.body.Hide()
}

// leastFacts is the minimum visible height of the facts, in heights of a button.
const leastFacts = 2

// draw shows the chosen run. Unchanged parts are not drawn again.
func (d *detail) draw() {
	s := d.screen
	r := s.run()
	if r == nil {
		d.body.Hide()
		d.disable()
		return
	}
	if d.title.Text != r.Title {
		d.title.SetText(r.Title)
	}
	d.badge.Set(words.State(r))
	d.why.Say(because(r), widgets.Quiet)
	d.drawFacts(r)
	d.note.Open(r.ID, r.Note)
	if s.of == r.ID {
		d.drawCheckpoints()
	}
	d.fillLimit(r)
	d.fillBound(r)
	d.drawActions(r)
	if !d.body.Visible() {
		d.body.Show()
	}
	d.arrange()
}

// arrange adjusts the layout to the height of the head.
func (d *detail) arrange() {
	if high := d.head.MinSize().Height; d.high != high {
		d.high = high
		d.body.Refresh()
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

// fillBound suggests a larger budget for a run that used it up, or a new length for a complete run.
func (d *detail) fillBound(r *engine.RunRecord) {
	setting, unit, offer := r.Bound()
	if setting == "" || r.InProgress || r.Fetched != nil {
		d.boundOf = ""
		d.bounded.Hide()
		return
	}
	if d.boundOf == r.ID && d.offered == offer {
		return
	}
	d.boundOf, d.offered = r.ID, offer
	d.bound.SetText(offer)
	if r.AllDone() {
		d.until.SetText("New length")
	} else {
		d.until.SetText("New budget")
	}
	d.counts.SetText(unit)
	d.bounded.Show()
}

// largerBound returns the budget or length that the user entered; "" for other runs.
func (d *detail) largerBound(r *engine.RunRecord) string {
	if d.boundOf != r.ID {
		return ""
	}
	return strings.ReplaceAll(strings.TrimSpace(d.bound.Text), ",", "")
}

// longEnough reports whether the chosen run has something left to do. A complete run needs a new length.
func (d *detail) longEnough(r *engine.RunRecord) bool {
	return !r.AllDone() || d.boundOf == r.ID && d.largerBound(r) != d.offered
}

func (d *detail) drawFacts(r *engine.RunRecord) {
	all := facts(r)
	rows := make([]widgets.Row, len(all))
	for i, f := range all {
		rows[i] = widgets.Row{Key: strconv.Itoa(i), Cells: []widgets.Cell{{Text: f.name, Tone: widgets.Quiet}, {Text: f.value, Tone: f.tone}}}
	}
	d.facts.SetRows(rows)
}

func (d *detail) drawCheckpoints() {
	s := d.screen
	empty := "No checkpoints yet."
	if r := s.run(); len(s.checkpoints) > 0 {
		empty = ""
	} else if r.AllDone() {
		empty = "No checkpoints: the run finished before the first one was due."
	}
	d.checkpoints.SetEmpty(empty)
	d.checkpoints.SetRows(checkpointRows(s.checkpoints))
	selected := ""
	if c := s.checkpoint(); c != nil {
		selected = strconv.Itoa(c.Number)
	}
	d.checkpoints.Select(selected)
}

func (d *detail) drawActions(r *engine.RunRecord) {
	s := d.screen
	text, possible := resuming(r, s.checkpoint(), s.busy)
	keep := undeletable(r, s.busy)
	d.hint.Say(strings.TrimSpace(text+" "+keep), widgets.Quiet)
	working := s.working[r.ID]
	enable(d.resume, possible && working == "" && d.longEnough(r))
	enable(d.limit, possible && working == "")
	enable(d.bound, possible && working == "")
	enable(d.fork, s.checkpoint() != nil && working == "")
	here := r.Fetched == nil // the results are on this machine
	enable(d.results, here)
	enable(d.replay, here)
	d.actions.Offer(d.replay, s.toReplay != nil)
	enable(d.compare, here)
	enable(d.export, here && working == "")
	enable(d.send, here && working == "")
	enable(d.remove, keep == "" && working == "")
	c := s.checkpoint()
	enable(d.removePoint, keep == "" && working == "" && c != nil && !c.Newest)
	if working != "" {
		d.say(working, widgets.Accent)
	}
	d.actions.Offer(d.send, s.desk.Remote() != "")
}

func enable(o fyne.Disableable, enabled bool) {
	switch {
	case enabled && o.Disabled():
		o.Enable()
	case !enabled && !o.Disabled():
		o.Disable()
	}
}

// say shows the result of an operation.
func (d *detail) say(text string, tone widgets.Tone) {
	d.said.Say(text, tone)
	d.arrange()
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

// exported describes the exported files.
func exported(path string) string {
	return fmt.Sprintf("Exported to %s: metrics.csv, cycles.csv, sessions.csv, events.csv, timings.csv and run.json", path)
}
