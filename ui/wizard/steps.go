package wizard

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/graph"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

const (
	leastSteps = 2   // rows of the table
	leastChain = 100 // minimum height of the drawing
	groupKey   = "\x00group "
)

// steps is the page with the journey.
type steps struct {
	wizard  *Wizard
	journey journey
	about   *form.Note
	partial *form.Note
	details *widget.Button
	second  *widgets.Hint // the button for a second recording
	words   *form.Entry
	asked   *form.Row // of words
	only    *widget.Check
	up      *widget.Button
	down    *widget.Button
	table   *widgets.Table
	note    *form.Note
	graph   *graph.Graph
	chain   *form.Note // why the chain is not drawn
	object  fyne.CanvasObject

	drawn   *engine.Graph // the shown chain; nil before the first
	drawing bool          // a chain is being read
	stale   bool          // the journey has changed since
}

func newSteps(w *Wizard) *steps {
	s := &steps{wizard: w, journey: journey{&importer.Draft{}}, about: form.NewNote(""), partial: form.NewNote(""), note: form.NewNote(""), chain: form.NewNote("")}
	s.about.Lines, s.partial.Lines, s.note.Lines = 2, 2, 2
	s.words = form.NewEntry()
	s.words.SetPlaceHolder("login, search, add to cart, order")
	apply := widget.NewButton("Apply", s.apply)
	s.asked = form.NewRow("Journey in words", container.NewBorder(nil, nil, nil, apply, s.words)).Marking(s.words)
	s.words.OnChanged = func(string) { s.asked.Changed() }
	s.details = widget.NewButton("Details…", s.showDetails)
	s.second = widgets.NewHint(widget.NewButtonWithIcon("Add a second recording…", theme.ContentAddIcon(), func() { w.source.add() }),
		"A second recording of the same visit shows which values change, so that they are not sent as they were recorded.")
	s.table = widgets.NewTable([]widgets.Column{
		{Title: "", Sample: "[x]"},
		{Title: "Step", Sample: "add_to_cart", Weight: 2},
		{Title: "Request", Sample: "POST /api/cart", Weight: 3},
		{Title: "Takes values from", Sample: "login", Weight: 2, Clip: true},
	}, "No step is in the journey.", leastSteps)
	s.table.OnSelected = func(string) { s.explain() }
	s.table.OnCell = func(key string, column int) bool {
		if column == 0 {
			s.toggle(key)
		}
		return column == 0
	}
	s.table.OnDoubled = s.toggle
	s.table.OnKey = s.typed
	s.up = widget.NewButtonWithIcon("Up", theme.MoveUpIcon(), func() { s.move(-1) })
	s.down = widget.NewButtonWithIcon("Down", theme.MoveDownIcon(), func() { s.move(+1) })
	s.only = widget.NewCheck("Only chosen", func(bool) { s.draw() })
	bar := container.New(&form.Flow{}, s.up, s.down, widget.NewButton("All", func() { s.useAll(true) }), widget.NewButton("None", func() { s.useAll(false) }), s.only)
	left := container.NewBorder(bar, container.New(reserved(2), s.note), nil, nil, s.table)
	s.graph = graph.New(leastChain)
	s.chain.Hide()
	split := container.NewHSplit(left, container.New(layout.NewCustomPaddedLayout(0, 0, 2*theme.Padding(), 0), container.NewStack(s.graph, s.chain)))
	split.Offset = 0.6
	links := container.NewHBox(s.details, s.second)
	found := container.NewBorder(nil, nil, nil, container.NewVBox(links), form.NewStack(s.about, s.partial))
	s.object = form.NewHeaded(form.NewStack(found, s.asked), split)
	return s
}

func (s *steps) content() fyne.CanvasObject { return s.object }

func (s *steps) title() string {
	return "Step 2 of 3: Journey. Choose what each agent does, and in which order."
}

func (s *steps) first() fyne.Focusable { return s.words }

func (s *steps) next() (string, bool) { return "Next", s.journey.used() > 0 }

func (s *steps) forward() {
	if !s.words.Proposed() { // words that were typed and not applied
		if s.apply(); s.asked.Problem() != "" {
			return
		}
	}
	s.wizard.finish.fill()
	s.wizard.show(s.wizard.finish)
}

func (s *steps) back() func() {
	return func() { s.wizard.show(s.wizard.source) }
}

// submit applies the journey in words.
func (s *steps) submit(focused fyne.Focusable) bool {
	if focused != fyne.Focusable(s.words) || strings.TrimSpace(s.words.Text) == "" || s.words.Proposed() {
		return false
	}
	s.apply()
	return true
}

func (s *steps) tick() {}

// fill shows a draft.
func (s *steps) fill(f *Found) {
	s.journey = journey{f.Draft}
	s.words.Put("")
	s.asked.SetHelp("Names the requests that agents send, in order. Throng adds the ones that they need before.")
	s.only.SetChecked(s.journey.used() > 0 && s.journey.used() < len(f.Steps))
	s.second.Hidden = !f.Recorded || s.wizard.request.Second != nil
	s.details.Hidden = details(f.Draft) == ""
	s.partial.Hidden = f.Partial == ""
	if f.Partial != "" {
		s.partial.SetWarning("Only a part was read: " + f.Partial)
	}
	s.table.Select("")
	s.changed()
}

// apply makes the journey that is described in words.
func (s *steps) apply() {
	text := strings.TrimSpace(s.words.Text)
	if text == "" {
		return
	}
	if err := s.journey.draft.Follow(text); err != nil {
		s.tell(words.Sentence(err.Error()))
		return
	}
	s.words.Put(text)
	s.asked.Changed()
	s.only.SetChecked(true)
	s.changed()
}

// tell shows a problem of the journey in words.
func (s *steps) tell(problem string) {
	var f form.Form
	f.Add(s.asked, "journey")
	_ = f.Tell(&engine.FieldError{Field: "journey", Problem: problem}) // the row takes it
}

// toggle puts a step or a group into the journey, or takes it out.
func (s *steps) toggle(key string) {
	if first, ok := strings.CutPrefix(key, groupKey); ok {
		s.journey.useGroup(first)
	} else {
		s.journey.toggle(key)
	}
	s.changed()
}

func (s *steps) useAll(use bool) {
	s.journey.useAll(use)
	s.changed()
}

// move moves the selected step.
func (s *steps) move(by int) {
	if s.journey.move(s.table.Selected(), by, s.only.Checked) {
		s.changed()
	}
}

// typed handles a key in the table.
func (s *steps) typed(key fyne.KeyName, held fyne.KeyModifier) bool {
	switch {
	case key == fyne.KeySpace && s.table.Selected() != "":
		s.toggle(s.table.Selected())
	case key == fyne.KeyUp && held == fyne.KeyModifierAlt:
		s.move(-1)
	case key == fyne.KeyDown && held == fyne.KeyModifierAlt:
		s.move(+1)
	default:
		return false
	}
	return true
}

// changed draws the journey after a change.
func (s *steps) changed() {
	s.draw()
	s.drawChain()
	s.wizard.follow()
}

// draw shows the steps.
func (s *steps) draw() {
	j := s.journey
	s.about.Say(summary(j.draft, j.used()))
	var rows []widgets.Row
	group := ""
	for i := range j.draft.Steps {
		step := &j.draft.Steps[i]
		if s.only.Checked && !step.Use {
			continue
		}
		if step.Group != group && step.Group != "" && s.grouped(i) {
			rows = append(rows, s.groupRow(step))
		}
		group = step.Group
		rows = append(rows, s.stepRow(i))
	}
	s.table.SetRows(rows)
	s.explain()
}

// grouped reports whether a step begins a group of several steps that are shown.
func (s *steps) grouped(first int) bool {
	all := s.journey.draft.Steps
	for i := first + 1; i < len(all) && all[i].Group == all[first].Group; i++ {
		if all[i].Use || !s.only.Checked {
			return true
		}
	}
	return false
}

// groupRow is the row above the steps of a group.
func (s *steps) groupRow(first *importer.Step) widgets.Row {
	from, to := s.journey.group(first.ID)
	n := s.journey.chosen(from, to)
	return widgets.Row{Key: groupKey + first.ID, Cells: []widgets.Cell{
		tick(n == to-from, n > 0), {Text: first.Group, Tone: widgets.Accent}, {Text: fmt.Sprintf("%d of %d", n, to-from), Tone: widgets.Quiet},
	}}
}

// stepRow is the row of a step.
func (s *steps) stepRow(i int) widgets.Row {
	step := &s.journey.draft.Steps[i]
	name := widgets.Cell{Text: step.Name, Tip: step.Title}
	sent := widgets.Cell{Text: request(step), Tone: widgets.Quiet}
	from := widgets.Cell{Text: strings.Join(s.journey.sources(i), ", "), Tone: widgets.Quiet}
	switch lacks := s.journey.lacks(i); {
	case !step.Use:
		name.Tone = widgets.Quiet
	case len(lacks) > 0:
		name.Icon, name.Tone = theme.WarningIcon(), widgets.Warning
		from = widgets.Cell{Text: strings.Join(lacks, "; "), Tone: widgets.Warning}
	}
	return widgets.Row{Key: step.ID, Cells: []widgets.Cell{tick(step.Use, false), name, sent, from}}
}

// tick is a box with a check mark. partly is for groups.
func tick(on, partly bool) widgets.Cell {
	switch {
	case on:
		return widgets.Cell{Icon: theme.CheckButtonCheckedIcon(), Tone: widgets.Accent}
	case partly:
		return widgets.Cell{Icon: theme.Icon(theme.IconNameCheckButtonPartial), Tone: widgets.Accent}
	}
	return widgets.Cell{Icon: theme.CheckButtonIcon(), Tone: widgets.Quiet}
}

// explain describes the selected step, or which steps lack values.
func (s *steps) explain() {
	i := s.journey.index(s.table.Selected())
	enable(s.up, i >= 0)
	enable(s.down, i >= 0)
	if i >= 0 {
		s.describe(i)
		return
	}
	switch names := s.journey.incomplete(); len(names) {
	case 0:
		s.note.SetText("Select a step to move it with Up and Down, or with Alt and the arrow keys. Space chooses it.")
	case 1:
		s.note.SetWarning("The step " + names[0] + " needs a value or a step that is not before it. Its row says which one.")
	default:
		s.note.SetWarning("These steps need values or steps that are not before them: " + strings.Join(names, ", ") + ". Their rows say which ones.")
	}
}

// describe describes a step.
func (s *steps) describe(i int) {
	step := &s.journey.draft.Steps[i]
	if lacks := s.journey.lacks(i); len(lacks) > 0 {
		advice := "Choose or move that step, or fill the value in later."
		if len(s.journey.draft.Undecided(i)) > 0 {
			advice = "The file marks what to fill in."
		}
		s.note.SetWarning("It needs a value: " + strings.Join(lacks, "; ") + ". " + advice)
		return
	}
	text := request(step)
	if step.Title != "" && !strings.HasPrefix(step.ID, step.Title) {
		text = step.Title + ": " + text
	}
	if notes := step.Notes; step.Against != "" && !step.Use {
		text += ". " + strings.Join(append([]string{step.Against}, notes...), " ")
	} else if len(notes) > 0 {
		text += ". " + strings.Join(notes, " ")
	}
	s.note.SetText(text)
}

// drawChain reads the chain of the journey. It reads one at a time.
func (s *steps) drawChain() {
	if s.drawing {
		s.stale = true
		return
	}
	s.drawing = true
	on, draft := s.wizard.dialog, s.journey.snapshot()
	async.Work(func() (engine.Graph, error) {
		return s.wizard.desk.Chain(context.Background(), draft.Write().Text, draft.Files)
	}, func(g engine.Graph, err error) {
		s.drawing = false
		if s.wizard.dialog != on {
			return
		}
		if s.stale {
			s.stale = false
			s.drawChain()
			return
		}
		s.showChain(g, err)
	})
}

// showChain draws the chain, or shows why it cannot be drawn.
func (s *steps) showChain(g engine.Graph, err error) {
	s.chain.Hidden, s.graph.Hidden = err == nil, err != nil
	if err != nil {
		s.drawn = nil
		s.chain.SetWarning("The chain cannot be drawn: " + words.Trouble(err))
		s.chain.Show()
		return
	}
	if s.drawn == nil || !reflect.DeepEqual(*s.drawn, g) {
		s.drawn = &g
		s.graph.Set(g)
	}
	s.graph.Show()
}

// showDetails shows what was left out, and the notes.
func (s *steps) showDetails() {
	text := widget.NewLabel(details(s.journey.draft))
	text.Wrapping, text.Selectable, text.SizeName = fyne.TextWrapWord, true, theme.SizeNameCaptionText
	room := s.wizard.win.Canvas().Size()
	widgets.Tell(s.wizard.win, "What was left out", container.NewGridWrap(fyne.NewSize(room.Width*0.7, room.Height*0.6), container.NewVScroll(text)))
}
