package runs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// ofOne begins the choice of an experiment, in the selection of tags.
const ofOne = "Experiment: "

// Choices of the filters that filter nothing.
const (
	anyState = "All states"
	anyTag   = "All tags"
)

// list is the upper half of the screen: the filters, the table, and the actions on the marked runs.
type list struct {
	screen *Screen
	panel  *widgets.Panel

	search     *widget.Entry
	state, tag *widget.Select
	starred    *widget.Check
	table      *widgets.Table
	empty      *emptiness
	sorted     int
	descending bool
	shown      []engine.RunRecord // in the order of the table
	loaded     bool               // the runs were read

	status  *form.Note // messages, or the number of runs; two lines are reserved
	message string
	trouble string // why the runs cannot be read; "" if they can
	compare *widget.Button
	export  *widget.Button
	reveal  *widget.Button // opens the folder of the last export, while the message about it is shown
	saved   string         // that folder, or the file of a report
	remove  *widget.Button
	more    *widget.Button
	menu    *moreMenu
}

func newList(s *Screen) *list {
	l := &list{screen: s, sorted: columnWhen, descending: true, search: widget.NewEntry(), status: form.NewNote("")}
	l.status.Lines = 2
	l.search.SetPlaceHolder("Search names, tags, notes, changes")
	l.search.ActionItem = widget.NewIcon(theme.SearchIcon())
	l.search.OnChanged = func(string) { l.filter() }
	l.state = widget.NewSelect([]string{anyState}, func(string) { l.filter() })
	l.tag = widget.NewSelect([]string{anyTag}, func(string) { l.filter() })
	l.starred = widget.NewCheck("Starred", func(bool) { l.filter() })
	l.table = widgets.NewTable(runColumns, "", 3)
	l.table.OnSelected = func(key string) { s.choose(engine.RunID(key)) }
	l.table.OnDoubled = func(string) {
		if open := s.detail.results; !open.Disabled() {
			open.OnTapped()
		}
	}
	l.table.OnMarked = l.drawActions
	l.table.OnSort = l.sortBy
	l.table.OnCell = func(key string, column int) bool {
		if column == columnStar {
			s.star(engine.RunID(key))
		}
		return column == columnStar
	}
	l.table.SetSort(l.sorted, l.descending)
	l.empty = newEmptiness(l.table)
	l.empty.say("Loading runs…", "", nil)
	l.compare = widget.NewButtonWithIcon("Compare", theme.GridIcon(), l.compareMarked)
	l.export = widget.NewButtonWithIcon("Export…", theme.DownloadIcon(), l.openExports)
	l.reveal = widget.NewButtonWithIcon("Open folder", theme.FolderOpenIcon(), l.showSaved)
	l.reveal.Hide()
	l.remove = widget.NewButtonWithIcon("Delete…", theme.DeleteIcon(), l.deleteMarked)
	l.menu = newMoreMenu(s)
	l.more = widget.NewButtonWithIcon("More", theme.MenuDropDownIcon(), func() { l.menu.open(l.more) })
	l.more.IconPlacement = widget.ButtonIconTrailingText
	for _, b := range []*widget.Button{l.compare, l.export, l.remove} {
		enable(b, false)
	}
	filters := container.NewHBox(l.state, l.tag, l.starred)
	head := container.NewBorder(nil, nil, nil, filters, l.search)
	status := container.NewVBox(layout.NewSpacer(), newReserved(2, l.status), layout.NewSpacer())
	foot := container.NewBorder(nil, nil, nil, container.NewHBox(s.undo.button, l.reveal, l.compare, l.export, l.remove, l.more), status)
	l.panel = widgets.NewPanel("", container.NewBorder(head, foot, nil, nil, l.empty.content))
	l.state.Selected, l.tag.Selected = anyState, anyTag
	return l
}

// filter shows the runs that the user wants to see.
func (l *list) filter() {
	l.draw()
	s := l.screen
	if r := s.run(); r != nil && !l.wants(r) && len(l.shown) > 0 {
		s.choose(l.shown[0].ID)
	}
}

// showAll removes all filters.
func (l *list) showAll() {
	l.search.SetText("")
	l.state.SetSelected(anyState)
	l.tag.SetSelected(anyTag)
	l.starred.SetChecked(false)
}

// wants reports whether the filters let a run through.
func (l *list) wants(r *engine.RunRecord) bool {
	return (l.state.Selected == anyState || l.state.Selected == r.State()) && l.tagged(r) &&
		(r.Star || !l.starred.Checked) && view.Matches(r, l.search.Text)
}

// tagged reports whether a run has the chosen tag or belongs to the chosen experiment.
func (l *list) tagged(r *engine.RunRecord) bool {
	title, experiment := strings.CutPrefix(l.tag.Selected, ofOne)
	return l.tag.Selected == anyTag || slices.Contains(r.Tags, l.tag.Selected) || experiment && r.Experiment == title
}

// sortBy sorts by a column, or reverses the order.
func (l *list) sortBy(column int) {
	if l.sorted == column {
		l.descending = !l.descending
	} else {
		l.sorted, l.descending = column, column == columnWhen || column == columnSize || column == columnStar || column == columnProgress
	}
	l.table.SetSort(l.sorted, l.descending)
	l.draw()
}

// draw shows the runs. Unchanged parts are not drawn again.
func (l *list) draw() {
	s := l.screen
	l.offer()
	l.shown = l.shown[:0]
	for i := range s.runs {
		if l.wants(&s.runs[i]) {
			l.shown = append(l.shown, s.runs[i])
		}
	}
	order := orders[l.sorted]
	slices.SortStableFunc(l.shown, func(a, b engine.RunRecord) int {
		n := order(s, &a, &b)
		if l.descending {
			n = -n
		}
		return cmp.Or(n, b.Created.Compare(a.Created))
	})
	l.table.SetRows(runRows(l.shown, s.runs, s.sizes))
	l.table.Select(string(s.chosen))
	switch {
	case !l.loaded:
	case len(s.runs) == 0:
		l.empty.say("No runs yet.", "Set up a run", s.to.Setup)
	case len(l.shown) == 0:
		l.empty.say("No run matches.", "Show all runs", l.showAll)
	default:
		l.empty.hide()
	}
	l.drawActions()
}

// offer offers the states, tags and experiments of the runs.
func (l *list) offer() {
	states, tags := []string{anyState}, []string{anyTag}
	var experiments []string
	for i := range l.screen.runs {
		r := &l.screen.runs[i]
		if !slices.Contains(states, r.State()) {
			states = append(states, r.State())
		}
		for _, tag := range r.Tags {
			if !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
		if one := ofOne + r.Experiment; r.Experiment != "" && !slices.Contains(experiments, one) {
			experiments = append(experiments, one)
		}
	}
	slices.Sort(states[1:])
	slices.Sort(tags[1:])
	slices.Sort(experiments)
	tags = append(tags, experiments...)
	for pick, options := range map[*widget.Select][]string{l.state: states, l.tag: tags} {
		if !slices.Equal(pick.Options, options) {
			pick.SetOptions(options)
		}
		if !slices.Contains(options, pick.Selected) { // the last run with it is gone
			pick.Selected = options[0]
			pick.Refresh()
		}
	}
}

// marked returns the marked runs, in the order of the table.
func (l *list) marked() (all []*engine.RunRecord) {
	for _, key := range l.table.Marked() {
		if r := l.screen.record(engine.RunID(key)); r != nil {
			all = append(all, r)
		}
	}
	return all
}

// drawActions enables the actions on the marked runs. If one is disabled, the status says why.
func (l *list) drawActions() {
	s, marked := l.screen, l.marked()
	here, idle, free := len(marked) > 0, len(marked) > 0, len(marked) > 0
	for _, r := range marked {
		here = here && r.Fetched == nil && r.Damage == ""
		idle = idle && undeletable(r, s.busy) == ""
		free = free && s.working[r.ID] == ""
	}
	enable(l.compare, here)
	enable(l.export, here && free)
	enable(l.remove, idle && free)
	l.drawStatus(len(marked))
}

// drawStatus shows the newest message, or the number of runs.
func (l *list) drawStatus(marked int) {
	s := l.screen
	if l.message != "" || l.trouble != "" {
		return
	}
	text := ""
	if l.loaded && len(s.runs) > 0 {
		text = counted(len(l.shown), len(s.runs), marked)
		if r := s.run(); marked > 1 {
			text += l.reasons()
		} else if r != nil && s.working[r.ID] != "" {
			text = s.working[r.ID]
		}
	}
	l.status.SetText(text)
}

// reasons says why an action is not possible for several marked runs. For one, the detail says it.
func (l *list) reasons() string {
	var all []string
	for _, r := range l.marked() {
		switch {
		case r.Damage != "":
			all = append(all, r.DisplayName()+" is damaged")
		case r.Fetched != nil:
			all = append(all, "the results of "+r.DisplayName()+" are on another machine")
		case undeletable(r, l.screen.busy) != "":
			all = append(all, r.DisplayName()+" is in progress and cannot be deleted")
		}
	}
	if len(all) == 0 {
		return ""
	}
	return ". " + words.Sentence(strings.Join(all, "; "))
}

func counted(shown, all, marked int) string {
	text := count(int64(all), "run")
	if shown < all {
		text = fmt.Sprintf("%s of %s", engine.FormatCount(int64(shown)), text)
	}
	if marked > 1 {
		text += fmt.Sprintf(", %s selected", engine.FormatCount(int64(marked)))
	}
	return text
}

// say shows a message until the next one; "" shows the number of runs.
func (l *list) say(text string, tone widgets.Tone) {
	if text == l.message && text == "" {
		return
	}
	l.message = text
	l.reveal.Hide()
	switch {
	case l.trouble != "":
	case text == "":
		l.drawStatus(len(l.table.Marked()))
	case tone == widgets.Bad:
		l.status.SetProblem(text)
	case tone == widgets.Good:
		l.status.SetGood(text)
	default:
		l.status.Say(text)
	}
}

// unreadable shows that the runs cannot be read, or no longer.
func (l *list) unreadable(err error) {
	if err == nil {
		if l.trouble != "" {
			l.trouble, l.message = "", ""
			l.drawStatus(len(l.table.Marked()))
		}
		return
	}
	l.trouble = "Cannot read the store, trying again. The list may be out of date. " + words.Trouble(err)
	l.status.SetProblem(l.trouble)
}

// compareMarked compares the marked runs; with one, Compare asks for the other.
func (l *list) compareMarked() { l.screen.to.Compare(l.markedIDs()...) }

func (l *list) markedIDs() (all []engine.RunID) {
	for _, r := range l.marked() {
		all = append(all, r.ID)
	}
	return all
}

// newReserved returns an object with room for a number of lines of a caption, whatever it shows.
func newReserved(lines int, o fyne.CanvasObject) *fyne.Container {
	return container.New(reserved(lines), o)
}

type reserved int

// MinSize implements [fyne.Layout].
func (r reserved) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(10*theme.TextSize(), float32(r)*fyne.MeasureText("M", theme.CaptionTextSize(), fyne.TextStyle{}).Height)
}

// Layout implements [fyne.Layout].
func (r reserved) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Resize(size)
	}
}

// emptiness shows a text and a button over an empty list.
type emptiness struct {
	content *fyne.Container
	text    *widgets.Text
	button  *widget.Button
	box     *fyne.Container
}

func newEmptiness(over fyne.CanvasObject) *emptiness {
	e := &emptiness{text: widgets.NewCaption(""), button: widget.NewButton("", nil)}
	e.box = container.NewCenter(container.NewVBox(container.NewCenter(e.text), container.NewCenter(e.button)))
	e.content = container.NewStack(over, e.box)
	e.box.Hide()
	return e
}

// say shows a text, and a button unless do is nil.
func (e *emptiness) say(text, button string, do func()) {
	e.button.OnTapped = do
	if e.box.Visible() && e.text.Text() == text && e.button.Text == button {
		return
	}
	e.text.SetText(text)
	e.button.SetText(button)
	e.button.Hidden = do == nil
	e.box.Show()
	e.content.Refresh()
}

func (e *emptiness) hide() {
	if e.box.Visible() {
		e.box.Hide()
	}
}
