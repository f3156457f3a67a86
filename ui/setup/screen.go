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
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// pause is how long a scenario is not read again after the last key.
const pause = 300 * time.Millisecond

// Screen is the setup of a run. Its methods are called on the UI goroutine.
type Screen struct {
	desk Desk
	win  fyne.Window
	ways Ways

	subject  subject                       // chosen; the zero value before
	scenario *Scenario                     // that the form shows; nil where it shows none
	shown    subject                       // of the form
	kept     map[subject]map[string]string // parameters by scenario, as they were left
	who      map[subject]who               // who takes part by scenario, as it was left
	asked    int                           // readings so far: the answers of all but the last are dropped
	cancel   context.CancelFunc            // of the last reading
	timer    *time.Timer                   // until the next reading; nil without
	filling  bool                          // the fields change by themselves
	visible  bool

	reading   bool                    // an answer is to come
	launching bool                    // a launch is under way
	wanted    bool                    // it waits for the answer
	writing   atomic.Pointer[written] // of the launch; nil where no model writes. The launch's goroutine sets it
	giveUp    context.CancelCauseFunc // of the launch; nil when there is nothing to give up
	pending   *pending                // a launch that waits for its time; nil without

	editing     Editing
	gallery     *gallery
	head        *head
	parameters  *parameters
	length      *length
	concurrency *concurrency
	budget      *budget
	people      *people
	services    *services
	prospect    *prospect
	forecast    *forecast
	preflight   *preflight
	remote      *remote
	chain       *chain
	bar         *bar

	given    form.Form // the rows of the parameters
	settings form.Form // and those of the settings
	scroll   *container.Scroll
	form     *fyne.Container // of the panels with fields
	page     *fyne.Container
	content  fyne.CanvasObject
}

// Ways lead to other screens.
type Ways struct {
	Launched    func() // when a run was started
	Settings    func()
	Checkpoints func() // where runs and checkpoints can be deleted
}

// New makes the screen.
func New(desk Desk, win fyne.Window, ways Ways) *Screen {
	s := &Screen{desk: desk, win: win, ways: ways, kept: map[subject]map[string]string{}, who: map[subject]who{}, cancel: func() {}}
	s.gallery = newGallery(func(name string) { s.choose(subject{scenario: name}) }, s.favour, s.Choose, s.list)
	s.head = newHead(s.read, s.leave)
	s.parameters = newParameters(s)
	s.length = newLength(s)
	s.concurrency = newConcurrency(s)
	s.budget = newBudget(s)
	s.people = newPeople(s)
	s.services = newServices(s)
	s.prospect = newProspect(s)
	s.forecast = newForecast(s)
	s.preflight = newPreflight(s)
	s.remote = newRemote()
	s.chain = newChain()
	s.bar = newBar(s.press, s.cancelStart, s.reveal, s.services.reveal, s.preflight.reveal)
	s.build()
	return s
}

// build lays the screen out.
func (s *Screen) build() {
	s.form = form.NewColumns(44, s.parameters.panel, s.length.panel, s.concurrency.panel, s.budget.panel, s.people.panel, s.services.panel, s.remote.panel)
	s.hideForm()
	s.page = form.NewPanels(s.head.panel, s.forecast.panel, s.preflight.panel, s.form, s.chain.panel)
	s.scroll = container.NewVScroll(s.page)
	s.content = container.New(sides{}, s.gallery.panel, s.scroll, s.bar.panel)
	for _, key := range []fyne.KeyName{fyne.KeyReturn, fyne.KeyEnter} {
		s.win.Canvas().AddShortcut(&desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierShortcutDefault}, func(fyne.Shortcut) {
			if s.visible && s.win.Canvas().Overlays().Top() == nil {
				s.launch()
			}
		})
	}
}

// hideForm hides all that belongs to a scenario.
func (s *Screen) hideForm() {
	s.form.Hide()
	s.forecast.panel.Hide()
	s.preflight.panel.Hide()
	s.chain.panel.Hide()
}

// Content returns what the screen shows.
func (s *Screen) Content() fyne.CanvasObject { return s.content }

// Show begins to show the screen: the scenarios are listed and the chosen one read again, as files and saved settings
// may have changed.
func (s *Screen) Show() {
	s.visible = true
	s.remote.offer(s.desk.Remote())
	async.Work(func() (string, error) { return s.desk.Preset(context.Background()) }, s.concurrency.suit)
	s.list()
	if s.subject != (subject{}) {
		s.read()
	}
	s.prospect.again() // secrets come from elsewhere too
	s.forecast.again()
	s.preflight.forget()
}

// Hide ends it.
func (s *Screen) Hide() { s.visible = false }

// Open chooses a file that was dropped on the window or given by the system; the one that is shown is read again.
func (s *Screen) Open(path string) {
	if s.subject == (subject{scenario: path}) {
		s.read()
		return
	}
	s.choose(subject{scenario: path})
}

// Choose asks for a file.
func (s *Screen) Choose() {
	widgets.PickFile(s.win, "Open a scenario", "Open", []string{".yaml", ".yml", ".ai"}, s.Open)
}

// list asks which scenarios there are. At the first time the one used last is chosen.
func (s *Screen) list() {
	async.Work(func() ([]Choice, error) { return s.desk.Choices(context.Background()) }, func(choices []Choice, err error) {
		s.gallery.set(choices, err)
		if s.subject != (subject{}) || err != nil {
			return
		}
		last := remembered()
		if last.Scenario == "" && len(choices) > 0 {
			last.Scenario = choices[0].Name
		}
		if last.Scenario != "" {
			x := subject{scenario: last.Scenario}
			s.kept[x], s.who[x] = last.Given, last.who
			s.choose(x)
		}
	})
}

// favour remembers a favourite; where that cannot be kept, the list says so the next time.
func (s *Screen) favour(name string, favourite bool) {
	async.Work(func() (struct{}, error) { return struct{}{}, s.desk.Favour(context.Background(), name, favourite) }, func(_ struct{}, err error) {
		if err != nil {
			s.bar.say("The favourite was not kept: " + err.Error())
		}
	})
}

// choose makes another scenario the one that is set up.
func (s *Screen) choose(x subject) {
	if s.subject == x && s.scenario != nil {
		return
	}
	s.subject = x
	s.gallery.choose(x.scenario)
	s.bar.say("")
	s.read()
}

// read asks for the chosen scenario with its parameters as they are.
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
		remember(x, given, s.who[x])
	})
}

// readSoon reads the scenario again when nothing was typed for a moment.
func (s *Screen) readSoon() {
	s.stop()
	s.timer = time.AfterFunc(pause, func() { async.Do(s.due) })
}

// due reads the scenario if that is still to be done.
func (s *Screen) due() {
	if s.timer != nil {
		s.read()
	}
}

// stop leaves out the reading that is due.
func (s *Screen) stop() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

// fill shows a scenario. What a person typed stays where it is the one that was shown before.
func (s *Screen) fill(sc *Scenario) {
	another := s.scenario == nil || s.shown != s.subject
	s.scenario, s.shown = sc, s.subject
	s.inherit(sc)
	s.filling = true
	s.gallery.name(s.subject.scenario, sc)
	s.head.show(s.subject, sc, s.gallery.builtIn(s.subject.scenario))
	s.parameters.fill(sc, s.kept[s.subject])
	s.length.fill(sc, another)
	s.concurrency.fill(sc, another)
	s.budget.fill(sc, another)
	s.people.fill(s.who[s.subject], another)
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
	s.filling = false
	_ = s.given.Tell(nil)
	s.changed()
	if s.wanted {
		s.launch()
	}
}

// unread shows why the scenario could not be read. Where the form shows it, it stays: a parameter may be the reason.
// Parameters that were kept from another time, perhaps of another version of the file, are given up first.
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
		s.bar.say("Nothing was launched: the scenario cannot be read as it is.")
		s.reveal()
	}
}

// changed follows what is in the fields, and forgets what a launch gave.
func (s *Screen) changed() {
	if s.filling {
		return
	}
	s.bar.say("")
	s.follow()
}

// follow says what the fields come to.
func (s *Screen) follow() {
	if s.scenario == nil {
		s.bar.show("", nil)
		s.bar.miss(nil)
		s.bar.check(nil)
		return
	}
	order, given, settings := s.order()
	_, _ = s.given.Check(given), s.settings.Check(settings) // all of them have rows
	s.length.say(s.ahead(order.Settings), s.scenario.Cycle, s.services.mocked())
	s.people.follow(order)
	s.prospect.follow(order)
	s.concurrency.words.Say(crowd(order.Settings, s.taking(), s.scenario.noun()))
	s.parameters.say(order.Given)
	s.offerKeep(order)
	s.forecast.follow(order, len(s.mistakes()) > 0)
	s.preflight.follow(order, len(s.mistakes()) > 0)
	s.bar.show(summary(s.ahead(order.Settings), s.scenario, s.taking())+s.prospect.unwritten(), s.mistakes())
	s.bar.miss(s.prospect.missing())
}

// taking is how many agents take part, as far as that is known: else all.
func (s *Screen) taking() int {
	if s.people.taking == notCounted {
		return s.scenario.Agents
	}
	return s.people.taking
}

// edited follows a change of a parameter, which may change the scenario.
func (s *Screen) edited() {
	s.changed()
	if s.filling || s.scenario == nil {
		return
	}
	given, _ := s.parameters.given() // without those that are wrong, which are shown
	if !maps.Equal(given, s.kept[s.shown]) {
		s.kept[s.shown] = given
		s.readSoon()
	}
}

// order returns what is in the fields, and the mistakes in the parameters and in the settings.
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
	settings = errors.Join(settings, late)
	s.people.into(&o.Settings)
	s.remote.into(&o.Settings)
	return o, given, errors.Join(settings, o.Settings.Validate(), s.longEnough(&o.Settings))
}

// watch follows the entries of a setting.
func (s *Screen) watch(row *form.Row, entries ...*form.Entry) {
	for _, e := range entries {
		e.OnChanged = func(string) {
			row.Changed()
			s.changed()
		}
		s.seen(row, e)
	}
}

// seen brings a row into view when the keyboard comes to its entry, over which the wheel is the page's.
func (s *Screen) seen(row *form.Row, entry *form.Entry) {
	entry.Focused = func() { form.Reveal(s.scroll, row) }
	entry.Page = s
}

// Scrolled is part of [fyne.Scrollable]: the wheel over an entry is for the page.
func (s *Screen) Scrolled(e *fyne.ScrollEvent) { s.scroll.Scrolled(e) }

// stay keeps the fields where they are while a panel above them, of which nothing is in view, gets another height.
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

// reveal brings the first mistake into view.
func (s *Screen) reveal() {
	if rows := s.mistakes(); len(rows) > 0 {
		form.Reveal(s.scroll, rows[0])
		rows[0].Focus(s.win.Canvas())
	}
}
