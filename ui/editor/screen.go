package editor

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario/complete"
	"github.com/throng-sim/throng/ui/internal/action"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// checkAfter is the pause in typing before the text is checked.
const checkAfter = 300 * time.Millisecond

// Ways open other screens.
type Ways struct {
	Leave func()            // opens Setup
	Saved func(name string) // called when a scenario was saved, with its name
	// Import makes a new scenario of the user's own backend; nil if that is not possible.
	Import func()
	// Order returns what Setup would launch of a scenario; ok is false if it shows another one.
	Order func(name string) (given map[string]string, settings *engine.Settings, ok bool)
}

// Screen is the editor. Call its methods on the UI goroutine.
type Screen struct {
	desk Desk
	win  fyne.Window
	ways Ways

	doc     *Document
	sheets  []*sheet
	shown   *sheet
	tabbed  *Document // the document of the tabs
	found   Findings
	fixes   fixes    // of the problems found
	fields  []string // of agents, when the scenario had no errors last
	asked   int      // number of the newest check; results of older ones are dropped
	opening int      // number of the newest call of Open, likewise
	timer   *time.Timer
	pause   time.Duration // the pause in typing before a check
	cancel  context.CancelFunc
	looking bool // a read of the files on disk is in progress
	saving  bool
	later   func() // called after that
	beats   int
	kept    bool // a draft is stored
	asking  bool // a dialog asks about unsaved edits
	agreed  bool // the user agreed to keep the edits as a draft, and has not typed since
	drafts  drafts
	visible bool

	title   *form.Note
	state   *form.Note
	bar     *bar
	tabs    *fyne.Container
	notice  *notice
	find    *find
	page    *fyne.Container // of the shown sheet
	editing *fyne.Container // the page and its surroundings
	status  *form.Note
	side    *side
	list    *problems
	help    *help
	trial   *trial
	content fyne.CanvasObject
}

// New returns the screen.
func New(desk Desk, win fyne.Window, ways Ways) *Screen {
	s := &Screen{desk: desk, win: win, ways: ways, cancel: func() {}, pause: checkAfter}
	s.title, s.state, s.status = form.NewNote(""), form.NewNote(""), form.NewNote("")
	s.title.TextSize, s.title.Lines, s.state.Lines, s.status.Lines = theme.SizeNameSubHeadingText, 1, 1, 2
	s.bar = newBar(s)
	s.tabs = container.NewHBox()
	s.notice = newNotice(func() { s.editing.Refresh() })
	s.find = newFind(s)
	s.page = container.NewStack()
	s.list = newProblems(s.show, s.fix)
	s.help = newHelp()
	s.trial = newTrial(s)
	s.side = newSide([]part{{"Try one agent", s.trial.object}, {"Problems", s.list.object}, {"Help", s.help.object}}, func() {
		if s.shown != nil {
			s.moved(s.shown)
		}
	})
	head := container.NewBorder(nil, nil, nil, s.bar.object, form.NewStack(s.title, s.state))
	s.editing = newPage(3, s.tabs, s.notice.object, s.find.object, s.page, s.status)
	split := container.NewHSplit(widgets.NewPanel("", s.editing), s.side.object)
	split.Offset = 0.58
	s.content = container.NewBorder(widgets.NewPanel("", head), nil, nil, nil, split)
	s.title.Say("No scenario is open")
	s.state.SetText("Choose a scenario in Setup and press “Edit scenario…”.")
	s.follow()
	return s
}

// Content returns the screen's content.
func (s *Screen) Content() fyne.CanvasObject { return s.content }

// Show is called when the screen becomes visible.
func (s *Screen) Show() {
	s.visible = true
	s.look()
	if s.shown != nil {
		s.shown.editor.Focus(s.win.Canvas())
	}
}

// Hide is called when the screen becomes hidden.
func (s *Screen) Hide() { s.visible = false }

// lookEvery is how many ticks are between two reads of the files on disk.
const lookEvery = 7

// Tick reads the files on disk from time to time.
func (s *Screen) Tick() {
	s.trial.tick()
	if s.beats++; s.beats%lookEvery == 0 {
		s.look()
	}
}

// Chosen returns the name of the scenario; "" if none is open, or if it has no file.
func (s *Screen) Chosen() string {
	if s.doc == nil || s.doc.New {
		return ""
	}
	return s.doc.Name
}

// Edited reports whether there are unsaved edits.
func (s *Screen) Edited() bool { return slices.ContainsFunc(s.sheets, (*sheet).edited) }

// Open opens the files of a scenario, then calls then if that is set. If the scenario is open, it stays as it is.
func (s *Screen) Open(name string, then func()) {
	if then == nil {
		then = func() {}
	}
	if s.doc != nil && s.doc.Name == name {
		then()
		return
	}
	s.leave("open another scenario", func() { s.load(name, then) })
}

func (s *Screen) load(name string, then func()) {
	s.stop()
	s.opening++
	this := s.opening
	s.title.Say(base(name))
	s.state.SetText("Loading…")
	async.Work(func() (*Document, error) { return s.desk.Open(context.Background(), name) }, func(d *Document, err error) {
		if this != s.opening {
			return
		}
		if err != nil {
			s.state.SetProblem("Cannot open it: " + err.Error())
			return
		}
		s.fill(d)
		then()
	})
}

// fill shows a document, with the edits of its draft.
func (s *Screen) fill(d *Document) {
	s.doc, s.sheets, s.shown, s.found, s.fixes, s.fields = d, nil, nil, Findings{}, nil, nil
	s.notice.hide()
	s.find.close()
	s.trial.forget()
	for _, f := range d.Files {
		s.add(f)
	}
	if d.Draft != nil {
		s.restore(d.Draft)
	}
	s.choose(s.sheets[0])
	s.check()
}

// add adds a sheet for a file.
func (s *Screen) add(f File) *sheet {
	sh := newSheet(f)
	s.sheets = append(s.sheets, sh)
	sh.editor.OnChanged = s.changed
	sh.editor.OnMoved = func(line, col int) { s.moved(sh) }
	sh.editor.OnShortcut = s.shortcut
	sh.editor.Completions = func(asked bool) complete.Result { return s.completions(sh, asked) }
	return sh
}

// choose shows a sheet.
func (s *Screen) choose(sh *sheet) {
	s.shown = sh
	s.page.Objects = []fyne.CanvasObject{sh.editor}
	s.page.Refresh()
	s.follow()
	s.moved(sh)
	if s.visible {
		sh.editor.Focus(s.win.Canvas())
	}
}

// sheet returns the sheet of a file, or nil.
func (s *Screen) sheet(name string) *sheet {
	if i := slices.IndexFunc(s.sheets, func(sh *sheet) bool { return sh.Name == name }); i >= 0 {
		return s.sheets[i]
	}
	return nil
}

// order returns the scenario as edited.
func (s *Screen) order() Order {
	o := Order{Name: s.doc.Name, Texts: map[string][]byte{}}
	for _, sh := range s.sheets {
		if sh.edited() {
			o.Texts[sh.Name] = sh.text()
		}
	}
	if given, _, ok := s.ways.Order(s.doc.Name); ok {
		o.Given = given
	}
	return o
}

// changed handles an edit.
func (s *Screen) changed() {
	s.agreed = false
	s.trial.stale()
	s.follow()
	s.stop()
	s.timer = time.AfterFunc(s.pause, func() { async.Do(s.due) })
}

func (s *Screen) due() {
	if s.timer != nil {
		s.check()
	}
}

func (s *Screen) stop() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

// moved handles a move of the cursor.
func (s *Screen) moved(sh *sheet) {
	if sh != s.shown {
		return
	}
	line, col := sh.editor.Cursor()
	if s.side.shows(helpPart) {
		s.help.about(sh, line, col)
	}
	was := s.status.MinSize().Height
	s.say(sh, line, col)
	if s.status.MinSize().Height != was {
		s.editing.Refresh()
	}
}

// say shows the problem at a position, or the position.
func (s *Screen) say(sh *sheet, line, col int) {
	for _, p := range s.marked(sh) {
		if p.Line == line {
			s.status.SetProblem(p.String())
			if p.Warning {
				s.status.SetWarning(p.String())
			}
			return
		}
	}
	s.status.SetText(fmt.Sprintf("line %d, column %d", line, col))
}

// follow shows the state of the files and updates the toolbar.
func (s *Screen) follow() {
	s.bar.follow()
	if s.doc == nil {
		return
	}
	s.title.Say(s.named())
	s.state.SetText(s.states())
	s.name()
}

// name updates the titles of the tabs.
func (s *Screen) name() {
	var tabs []fyne.CanvasObject
	same := len(s.tabs.Objects) == len(s.sheets)
	for i, sh := range s.sheets {
		text := sh.Name
		if sh.edited() {
			text += " (edited)"
		}
		b := widget.NewButton(text, func() { s.choose(sh) })
		if b.Importance = widget.LowImportance; sh == s.shown {
			b.Importance = widget.HighImportance
		}
		tabs = append(tabs, b)
		if same {
			was := s.tabs.Objects[i].(*widget.Button)
			same = was.Text == b.Text && was.Importance == b.Importance
		}
	}
	if same && s.tabbed == s.doc {
		return
	}
	s.tabs.Objects, s.tabbed = tabs, s.doc
	s.tabs.Hidden = len(s.sheets) < 2
	s.editing.Refresh()
}

// states describes where the files are, and whether they are saved.
func (s *Screen) states() string {
	place := s.doc.Name
	switch {
	case s.doc.New:
		place = "from the template " + strings.TrimSuffix(base(s.doc.Name), filepath.Ext(s.doc.Name))
	case s.doc.BuiltIn:
		place = "built in; changes are saved as a copy"
	}
	switch {
	case s.Edited() && s.kept:
		return place + " · not saved; a draft is kept"
	case s.unsaved():
		return place + " · not saved"
	case s.doc.BuiltIn:
		return place
	}
	return place + " · saved"
}

// unsaved reports whether there is something to save: edits, or a new scenario.
func (s *Screen) unsaved() bool { return s.doc != nil && (s.doc.New || s.Edited()) }

// named returns the title of the document.
func (s *Screen) named() string {
	if s.doc.New {
		return "New scenario"
	}
	return base(s.doc.Name)
}

// base returns the file name of a scenario.
func base(name string) string { return filepath.Base(name) }

// Actions returns the actions on the scenario, for the menus and shortcuts.
func (s *Screen) Actions() []action.Action {
	open := func() bool { return s.visible && s.doc != nil }
	unsaved := func() bool { return open() && s.unsaved() }
	mod := fyne.KeyModifierShortcutDefault
	return []action.Action{
		{Name: "Save scenario", Menu: "File", Key: fyne.KeyS, Modifier: mod, Do: s.Save, Enabled: unsaved},
		{Name: "Save scenario as…", Menu: "File", Key: fyne.KeyS, Modifier: mod | fyne.KeyModifierShift, Do: func() { s.saveAs(nil) }, Enabled: open},
		{Name: "Find…", Menu: "Edit", Key: fyne.KeyF, Modifier: mod, Do: s.find.open, Enabled: open},
		{Name: "Complete", Menu: "Edit", Key: completeKey, Modifier: completeModifier, Do: s.completeHere, Enabled: open},
		{Name: "Insert step…", Menu: "Edit", Key: fyne.KeySpace, Modifier: mod | fyne.KeyModifierShift, Do: s.insertStep, Enabled: open},
		{Name: "Fix problem", Menu: "Edit", Key: fyne.KeyF7, Do: s.fixHere, Enabled: open},
		{Name: "Next problem", Menu: "View", Key: fyne.KeyF8, Do: s.next, Enabled: open},
		{Name: "Try one agent", Menu: "Run", Key: fyne.KeyF5, Do: s.trial.press, Enabled: open},
	}
}

// The keys for completion. macOS changes the keyboard layout with Ctrl+Space; its own text fields complete with Option+Esc.
var completeKey, completeModifier = keysOfComplete(runtime.GOOS)

func keysOfComplete(system string) (fyne.KeyName, fyne.KeyModifier) {
	if system == "darwin" {
		return fyne.KeyEscape, fyne.KeyModifierAlt
	}
	return fyne.KeySpace, fyne.KeyModifierControl
}

// shortcut performs the action of a shortcut that was typed in the text.
func (s *Screen) shortcut(typed fyne.Shortcut) bool {
	c, ok := typed.(*desktop.CustomShortcut)
	if !ok {
		return false
	}
	for _, a := range s.Actions() {
		if a.Key == c.KeyName && a.Modifier == c.Modifier {
			if a.Enabled() {
				a.Do()
			}
			return true
		}
	}
	return false
}

// several formats a count and its noun.
func several(n int, one string) string {
	if n != 1 {
		one += "s"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s", engine.FormatCount(int64(n)), one))
}
