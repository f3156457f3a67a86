package setup

import (
	"context"
	"errors"
	"maps"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/fleet"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// pause is the pause in typing before the scenario is read again.
const pause = 300 * time.Millisecond

// Screen is the setup of a run. Call its methods on the UI goroutine.
type Screen struct {
	desk Desk
	win  fyne.Window
	ways Ways

	subject  subject                       // the chosen scenario or fork; the zero value if none
	scenario *Scenario                     // the shown scenario; nil if none
	shown    subject                       // its subject when it was chosen
	kept     map[subject]map[string]string // last parameters, by subject
	chosen   map[subject]selection         // last active agents, by subject
	typing
	asked   int                // number of the newest read; results of older ones are dropped
	cancel  context.CancelFunc // cancels the newest read
	timer   *time.Timer        // until the next read; nil if none is scheduled
	filling bool               // the program changes the fields
	visible bool

	reading   bool                    // a read is in progress
	launching bool                    // a launch is in progress
	wanted    bool                    // a launch waits for the read
	writing   atomic.Pointer[written] // progress of writing personas; nil if none are written. The launch's goroutine stores it
	giveUp    context.CancelCauseFunc // cancels the launch; nil if there is none
	pending   *pending                // the scheduled launch; nil if none
	occupant  string                  // what is in progress; "" if nothing is
	awaiting  atomic.Bool             // the launch waits for the first worker. The launch's goroutine stores it
	queued    atomic.Bool             // the launch waits for the end of another run. The launch's goroutine stores it

	editing      Editing
	gallery      *gallery
	head         *head
	parameters   *parameters
	length       *length
	concurrency  *concurrency
	budget       *budget
	agentsPanel  *agentsPanel
	services     *services
	requirements *requirements
	forecast     *forecast
	preflight    *preflight
	remote       *remote
	chain        *chain
	workers      *fleet.Choice
	bar          *bar
	edits        edits

	given    form.Form // rows of the parameters
	settings form.Form // rows of the settings
	folds    []*form.Fold
	scroll   *container.Scroll
	form     *fyne.Container // the panels with fields
	page     *fyne.Container
	aside    *container.Scroll // the forecast and the checks
	content  fyne.CanvasObject
}

// Ways open other screens.
type Ways struct {
	Launched func() // called when a run has started
	Live     func() // opens the run in progress
	Settings func()
	Runs     func()            // opens the screen where runs and checkpoints can be deleted
	Open     func(path string) // opens a file that the user chose, which may be no scenario; nil is [Screen.Open]
}

// New returns the screen.
func New(desk Desk, win fyne.Window, ways Ways) *Screen {
	s := &Screen{desk: desk, win: win, ways: ways, kept: map[subject]map[string]string{}, chosen: map[subject]selection{}, typing: typing{memory: fyne.CurrentApp().Preferences(), written: map[subject]typed{}}, cancel: func() {}}
	s.gallery = newGallery(func(name string) { s.choose(subject{scenario: name}) }, s.favor, s.Choose, s.list)
	s.head = newHead(s.read, s.leave, s.abandon)
	s.length = newLength(s)
	s.parameters = newParameters(s)
	s.concurrency = newConcurrency(s)
	s.budget = newBudget(s)
	s.agentsPanel = newAgentsPanel(s)
	s.services = newServices(s)
	s.requirements = newRequirements(s)
	s.forecast = newForecast(s)
	s.preflight = newPreflight(s)
	s.remote = newRemote()
	s.workers = newWorkers(s)
	s.chain = newChain()
	s.bar = newBar(barActions{s.launch, s.startNow, s.giveUpLaunch, s.reveal, s.services.reveal, s.preflight.reveal, ways.Live})
	s.edits.screen = s
	s.build()
	return s
}

// build lays out the screen.
func (s *Screen) build() {
	s.folds = []*form.Fold{s.parameters.more, s.concurrency.panel, s.workers.Panel, s.length.panel, s.budget.panel, s.agentsPanel.panel, s.services.panel, s.remote.panel, s.chain.panel}
	s.form = form.NewPanels(s.parameters.panel)
	for _, f := range s.folds {
		f.OnToggled = func() { s.page.Refresh() }
		s.form.Add(f)
	}
	s.page = form.NewPanels(s.head.panel, s.form)
	s.scroll = container.NewVScroll(s.page)
	s.aside = container.NewVScroll(form.NewPanels(s.forecast.panel, s.preflight.panel))
	s.hideForm()
	s.content = container.New(sides{s.gallery}, s.gallery.panel, s.scroll, s.aside, s.bar.panel)
	for _, key := range []fyne.KeyName{fyne.KeyReturn, fyne.KeyEnter} {
		s.win.Canvas().AddShortcut(&desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierShortcutDefault}, func(fyne.Shortcut) {
			if s.visible && s.win.Canvas().Overlays().Top() == nil {
				s.launch()
			}
		})
	}
}

// hideForm hides everything that belongs to a scenario.
func (s *Screen) hideForm() {
	s.form.Hide()
	s.forecast.panel.Hide()
	s.preflight.panel.Hide()
}

// bring scrolls to an object of the form, and opens the panel that holds it.
func (s *Screen) bring(o fyne.CanvasObject) {
	for _, f := range s.folds {
		if f.Holds(o) {
			f.SetOpen(true)
		}
	}
	form.Reveal(s.scroll, o)
}

// Content returns the screen's content.
func (s *Screen) Content() fyne.CanvasObject { return s.content }

// Show is called when the screen becomes visible. It lists the scenarios and reads the chosen one, because files and saved settings may
// have changed.
func (s *Screen) Show() {
	s.visible = true
	s.occupied()
	s.remote.offer(s.desk.Remote())
	async.Work(func() (string, error) { return s.desk.Preset(context.Background()) }, s.concurrency.suit)
	s.list()
	if s.subject != (subject{}) {
		s.read()
	}
	s.requirements.again() // the secrets may have changed too
	s.forecast.again()
	s.preflight.forget()
}

// Hide is called when the screen becomes hidden. A fork that the user has not changed is abandoned.
func (s *Screen) Hide() {
	s.visible = false
	if s.subject.isFork() && !s.launching && s.untouched() {
		s.abandon()
	}
}

// Open chooses a file, for example one dropped on the window. The file that is shown is read again.
func (s *Screen) Open(path string) {
	if s.subject == (subject{scenario: path}) {
		s.read()
		return
	}
	s.choose(subject{scenario: path})
}

// Choose asks for a file.
func (s *Screen) Choose() {
	open := s.ways.Open
	if open == nil {
		open = s.Open
	}
	widgets.PickFile(s.win, "Open a scenario", "Open", []string{".yaml", ".yml", ".ai", ".json", ".har"}, open)
}

// list lists the scenarios. The first time it chooses the last used one, or else the first one.
func (s *Screen) list() {
	if last := remembered(); s.subject == (subject{}) && last.Scenario != "" { // it need not wait for the list
		s.recall(last)
	}
	async.Work(func() ([]Choice, error) { return s.desk.Choices(context.Background()) }, func(choices []Choice, err error) {
		s.gallery.set(choices, err)
		if s.subject != (subject{}) || err != nil {
			return
		}
		if len(choices) > 0 {
			s.recall(chosen{Scenario: choices[0].Name})
		}
	})
}

// recall chooses a scenario with what was typed for it.
func (s *Screen) recall(last chosen) {
	x := subject{scenario: last.Scenario}
	s.kept[x], s.chosen[x], s.written[x] = last.Given, last.selection, last.Typed
	s.choose(x)
}

// favor stores a favorite. If that fails, the next update of the list shows it.
func (s *Screen) favor(name string, star bool) {
	async.Work(func() (struct{}, error) { return struct{}{}, s.desk.Favor(context.Background(), name, star) }, func(_ struct{}, err error) {
		if err != nil {
			s.bar.say("Cannot save the favorite: " + err.Error())
		}
	})
}

// choose sets up another scenario.
func (s *Screen) choose(x subject) {
	if s.subject == x && s.scenario != nil {
		return
	}
	s.subject = x
	s.gallery.choose(x.scenario)
	s.bar.say("")
	s.head.hint(s.tourHint())
	s.read()
}

// read reads the chosen scenario with the current parameters.
func (s *Screen) read() {
	s.stop()
	s.asked++
	this, x, given := s.asked, s.subject, maps.Clone(s.kept[s.subject])
	s.cancel()
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel, s.reading = cancel, true
	async.Work(func() (*Scenario, error) {
		if x.isFork() {
			return s.desk.ForkFrom(ctx, x.fork, given)
		}
		return s.desk.Scenario(ctx, x.scenario, given)
	}, func(sc *Scenario, err error) {
		cancel()
		if this != s.asked {
			return
		}
		s.reading = false
		if err != nil {
			s.unread(given, err)
			return
		}
		s.fill(sc)
		s.note(given)
	})
}

// readSoon reads the scenario after a pause in typing.
func (s *Screen) readSoon() {
	s.stop()
	s.timer = time.AfterFunc(pause, func() { async.Do(s.due) })
}

// due reads the scenario if a read is scheduled.
func (s *Screen) due() {
	if s.timer != nil {
		s.read()
	}
}

// stop cancels the scheduled read.
func (s *Screen) stop() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

// fill shows a scenario. If the same scenario was shown before, it keeps text that the user typed.
func (s *Screen) fill(sc *Scenario) {
	another := s.scenario == nil || s.shown != s.subject
	s.scenario, s.shown = sc, s.subject
	s.inherit(sc)
	s.filling = true
	same := s.unpicked()
	s.gallery.name(s.subject.scenario, sc)
	s.head.show(s.subject, sc, s.gallery.builtIn(s.subject.scenario))
	s.parameters.fill(sc, s.kept[s.subject])
	s.length.fill(sc, another)
	s.concurrency.fill(sc, another)
	s.budget.fill(sc, another)
	s.agentsPanel.fill(s.chosen[s.subject], another)
	s.services.fill(sc, another)
	s.remote.fill(sc, another)
	s.form.Show()
	s.forecast.panel.Show()
	s.preflight.panel.Show()
	if s.chain.fill(sc) {
		s.page.Refresh()
	}
	if another {
		s.scroll.ScrollToTop()
		_ = s.settings.Tell(nil)
	}
	if another {
		s.restore(s.written[s.subject])
	} else {
		s.propose(same)
	}
	s.filling = false
	s.edits.filled(another)
	_ = s.given.Tell(nil)
	s.changed()
	if s.wanted {
		s.launch()
	}
}

// unread shows why the scenario could not be read. The form stays if it shows this scenario, because a parameter may be the reason.
// Parameters that were remembered for it are dropped first, because they may be from another version of the file.
func (s *Screen) unread(given map[string]string, err error) {
	_, mistake := errors.AsType[*engine.FieldError](err)
	wanted := s.wanted
	switch {
	case s.scenario != nil && s.shown == s.subject:
		s.head.fail(s.given.Tell(err))
	case len(given) > 0 && mistake:
		delete(s.kept, s.subject)
		s.read()
		return
	default:
		s.scenario = nil
		s.hideForm()
		s.head.begin(s.subject.title())
		s.head.forget()
		s.head.edit.of(s.subject)
		s.head.fail(err)
	}
	s.changed()
	if wanted {
		s.begin(false)
		s.bar.say("Not launched: the scenario has errors.")
		s.reveal()
	}
}

// changed updates the screen after a change of the fields, and clears the message about the last launch.
func (s *Screen) changed() {
	if s.filling {
		return
	}
	s.bar.say("")
	if s.scenario != nil {
		s.edits.note()
	}
	s.follow()
}

// follow updates everything that depends on the fields.
func (s *Screen) follow() {
	if s.scenario == nil {
		s.bar.show("", nil)
		s.bar.miss(nil)
		s.bar.check(nil)
		return
	}
	order, given, settings := s.order()
	s.note(order.Given)
	_, _ = s.given.Check(given), s.settings.Check(settings) // every field has a row
	s.length.say(s.ahead(order.Settings), s.scenario, s.services.mocked())
	s.summarize(order)
	s.agentsPanel.follow(order)
	s.requirements.follow(order)
	s.concurrency.words.Say(crowd(order.Settings, s.taking(), s.scenario.noun()))
	s.parameters.say(order.Given)
	s.offerKeep(order)
	s.forecast.follow(order, len(s.mistakes()) > 0)
	s.preflight.follow(order, len(s.mistakes()) > 0)
	s.bar.show(summary(s.ahead(order.Settings), s.scenario, s.taking())+s.requirements.unwritten(), s.mistakes())
	s.bar.miss(s.requirements.missing())
}

// taking returns the number of active agents, or all agents if it is unknown.
func (s *Screen) taking() int {
	if s.agentsPanel.taking == notCounted {
		return s.scenario.Agents
	}
	return s.agentsPanel.taking
}

// edited handles a change of a parameter, which may change the scenario.
func (s *Screen) edited() {
	s.changed()
	if s.filling || s.scenario == nil {
		return
	}
	given, _ := s.parameters.given() // without invalid values, which are marked
	if !maps.Equal(given, s.kept[s.shown]) {
		s.kept[s.shown] = given
		s.readSoon()
	}
}

// order returns the values of the fields, and the errors of the parameters and settings.
func (s *Screen) order() (o Order, given, settings error) {
	o = Order{Scenario: s.shown.scenario, Fork: s.shown.fork, Settings: s.scenario.Settings}
	o.Given, given = s.parameters.given()
	settings = errors.Join(
		s.length.into(&o.Settings),
		s.concurrency.into(&o.Settings),
		s.budget.into(&o.Settings),
		s.services.into(&o.Settings),
	)
	var late error
	o.At, late = s.length.start(time.Now())
	workers, few := s.workers.Plan()
	o.Fleet = fleet.Use{Plan: workers, Share: s.workers.Shared()}
	settings = errors.Join(settings, late, few)
	s.agentsPanel.into(&o.Settings)
	s.remote.into(&o.Settings)
	return o, given, errors.Join(settings, o.Settings.Validate(), s.longEnough(&o.Settings))
}

// watch handles changes of a setting's entries.
func (s *Screen) watch(row *form.Row, entries ...*form.Entry) {
	for _, e := range entries {
		e.OnChanged = func(string) {
			row.Changed()
			s.changed()
		}
		s.seen(row, e)
	}
}

// seen scrolls to the row when its entry is focused, and passes mouse wheel events over the entry to the page.
func (s *Screen) seen(row *form.Row, entry *form.Entry) {
	entry.Focused = func() { form.Reveal(s.scroll, row) }
	entry.Page = s
}

// Scrolled implements [fyne.Scrollable]. It passes mouse wheel events over an entry to the page.
func (s *Screen) Scrolled(e *fyne.ScrollEvent) { s.scroll.Scrolled(e) }

// stay keeps the scroll position of the fields if the panel above them changes its height.
func (s *Screen) stay(panel *widgets.Panel, was float32) {
	by := panel.MinSize().Height - was
	if by == 0 || s.scroll.Offset.Y < panel.Position().Y+was {
		return
	}
	s.scroll.ScrollToOffset(fyne.NewPos(0, s.scroll.Offset.Y+by))
}

// mistakes returns the rows with a problem, from the top.
func (s *Screen) mistakes() []*form.Row {
	if s.scenario == nil {
		return nil
	}
	return append(s.given.Mistakes(), s.settings.Mistakes()...)
}

// reveal scrolls to the first mistake.
func (s *Screen) reveal() {
	if rows := s.mistakes(); len(rows) > 0 {
		s.bring(rows[0])
		rows[0].Focus(s.win.Canvas())
	}
}
