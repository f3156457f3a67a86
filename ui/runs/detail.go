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
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// detail is the lower half of the screen: the chosen run.
type detail struct {
	screen  *Screen
	content fyne.CanvasObject
	body    fyne.CanvasObject // hidden without a run
	head    fyne.CanvasObject // what stands above facts and checkpoints
	high    float32           // of head, when body was laid out

	title       *widget.Label
	badge       *widgets.Badge
	facts       *widgets.Sheet
	checkpoints *widgets.Table
	why         *widgets.Notice // it ended, and is not exact
	hint        *widgets.Notice // what Resume would do, and why what is disabled is
	said        *widgets.Notice // what came of the last thing that was done

	limit   *widget.Entry
	limitOf engine.RunID      // whose limit was filled in
	filled  string            // what was filled in
	bound   *widget.Entry     // of a run that ran out of its budget
	bounded fyne.CanvasObject // with the words around it; hidden for other runs
	counts  *widgets.Text
	boundOf engine.RunID
	resume  *widget.Button
	results *widget.Button
	export  *widget.Button
	send    *widget.Button
	remove  *widget.Button
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
		counts: widgets.NewCaption(""),
		facts:  widgets.NewSheet([]widgets.Column{{Sample: "Parameters"}, {Sample: "1,000,000 at the start; 1 to 1,000", Weight: 1}}, "", nil),
	}
	d.title.Truncation = fyne.TextTruncateEllipsis
	d.checkpoints = widgets.NewTable(checkpointColumns, "", 2)
	d.checkpoints.OnSelected = s.chooseCheckpoint
	d.limit.Validator = func(text string) error {
		_, err := parseLimit(text)
		return err
	}
	d.resume = &widget.Button{Text: "Resume", Icon: theme.MediaPlayIcon(), Importance: widget.HighImportance, OnTapped: s.resume}
	d.results = widget.NewButtonWithIcon("Results", theme.ListIcon(), func() { s.toResults(s.chosen) })
	d.export = widget.NewButtonWithIcon("Export CSV…", theme.DownloadIcon(), s.export)
	d.send = widget.NewButtonWithIcon("Send to Postgres", theme.UploadIcon(), s.send)
	d.remove = &widget.Button{Text: "Delete…", Icon: theme.DeleteIcon(), Importance: widget.DangerImportance, OnTapped: s.askDelete}
	d.layOut()
	return d
}

func (d *detail) layOut() {
	wide := fyne.MeasureText("1,000,000", theme.TextSize(), fyne.TextStyle{}).Width + 4*theme.InnerPadding()
	limit := container.NewGridWrap(fyne.NewSize(wide, d.limit.MinSize().Height), d.limit)
	bound := container.NewGridWrap(fyne.NewSize(wide, d.bound.MinSize().Height), d.bound)
	d.bounded = container.NewHBox(container.NewCenter(widgets.NewCaption("and a budget of")), bound, container.NewCenter(d.counts))
	d.bounded.Hide()
	actions := container.NewHBox(
		d.resume, container.NewCenter(widgets.NewCaption("with a limit of")), limit, d.bounded,
		layout.NewSpacer(), d.results, d.export, d.send, d.remove,
	)
	name := container.NewBorder(nil, nil, d.badge, nil, d.title)
	d.head = container.NewVBox(name, d.why, actions, d.hint, d.said)
	facts := container.NewVScroll(d.facts)
	facts.SetMinSize(fyne.NewSize(d.facts.MinSize().Width, 0))
	d.body = container.NewBorder(d.head, nil, facts, nil, d.checkpoints)
	d.content = widgets.NewPanel("", d.body)
	d.body.Hide()
}

// draw shows the chosen run; what has not changed is not drawn again.
func (d *detail) draw() {
	s := d.screen
	r := s.run()
	if r == nil {
		d.body.Hide()
		return
	}
	if d.title.Text != r.Title {
		d.title.SetText(r.Title)
	}
	d.badge.Set(words.State(r))
	d.why.Say(because(r), widgets.Quiet)
	d.drawFacts(r)
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

// arrange makes room for as many lines as stand above the rest now.
func (d *detail) arrange() {
	if high := d.head.MinSize().Height; d.high != high {
		d.high = high
		d.body.Refresh()
	}
}

// fillLimit follows the run's limit, unless a person wrote another one.
func (d *detail) fillLimit(r *engine.RunRecord) {
	text := strconv.Itoa(r.Limit)
	if d.limitOf != r.ID || d.filled != text && d.limit.Text == d.filled {
		d.limit.SetText(text)
	}
	d.limitOf, d.filled = r.ID, text
}

// fillBound offers a larger bound for a run that ran out of one.
func (d *detail) fillBound(r *engine.RunRecord) {
	setting, unit, larger := r.OutOf()
	if setting == "" {
		d.boundOf = ""
		d.bounded.Hide()
		return
	}
	if d.boundOf == r.ID {
		return
	}
	d.boundOf = r.ID
	d.bound.SetText(larger)
	d.counts.SetText(unit)
	d.bounded.Show()
}

// largerBound is what a person wrote of that; "" for other runs.
func (d *detail) largerBound(r *engine.RunRecord) string {
	if d.boundOf != r.ID {
		return ""
	}
	return strings.ReplaceAll(strings.TrimSpace(d.bound.Text), ",", "")
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
	empty := "No checkpoint yet."
	if len(s.checkpoints) > 0 {
		empty = ""
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
	enable(d.resume, possible && working == "")
	enable(d.limit, possible && working == "")
	enable(d.bound, possible && working == "")
	enable(d.export, working == "")
	enable(d.send, working == "")
	enable(d.remove, keep == "" && working == "")
	if working != "" {
		d.note(working, widgets.Accent)
	}
	if (s.desk.Remote() != "") != d.send.Visible() {
		d.send.Hidden = !d.send.Hidden
		d.body.Refresh()
	}
}

func enable(o fyne.Disableable, enabled bool) {
	switch {
	case enabled && o.Disabled():
		o.Enable()
	case !enabled && !o.Disabled():
		o.Disable()
	}
}

// note says what came of something.
func (d *detail) note(text string, tone widgets.Tone) {
	d.said.Say(text, tone)
	d.arrange()
}

var errLimit = errors.New("The limit is a whole number from 1 to " + engine.FormatCount(engine.MaxLimit) + ".")

// parseLimit reads the limit to resume with; 0, which is the run's own, where nothing is written.
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

// exported says where results are, and which.
func exported(path string) string {
	return fmt.Sprintf("Exported to %s: metrics.csv, sessions.csv, events.csv, timings.csv and run.json", path)
}
