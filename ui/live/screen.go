package live

import (
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/fleet"
	"github.com/throng-sim/throng/ui/internal/eventlist"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Screen shows the run in progress. Call its methods on the UI goroutine.
type Screen struct {
	desk      Desk
	win       fyne.Window
	toResults func(engine.RunID)
	// ToResume resumes a run that has ended; nil hides the button.
	ToResume func(engine.RunID)
	// ToAsk asks the agents of the run questions; nil disables it.
	ToAsk    func(engine.RunID)
	pickPath func(title, confirm string, then func(dir string)) // asks for a folder

	job     *Job // nil before the first
	feed    *feed
	beats   int // ticks
	watched int // the tick until which changes are drawn more often
	shown   shown
	before  int // errors that were logged before the run

	now    func() time.Time // tests replace it
	past   *Job             // the run of the history, instead of the desk's
	newest *Job             // the desk's run when the history was opened

	root    *fyne.Container
	page    *page
	none    *none
	header  *header
	orders  *orders
	limit   *limitPanel
	tiles   *tiles
	charts  *charts
	chain   *chain
	agents  *agents
	tabs    *tabs
	lists   *lists
	steps   *steps
	talk    *talk
	events  *eventlist.Pane
	changes *changeTab
	log     *logTab
	workers *fleet.Board
	history *history
}

// watchFor is how many ticks changes are drawn more often after an order.
const watchFor = 12

// shown is what was drawn last.
type shown struct {
	snap *engine.Snapshot // nil if nothing was drawn yet
	rows int              // of the charts
}

// New returns the screen; toResults opens the results of a run.
func New(desk Desk, win fyne.Window, toResults func(engine.RunID)) *Screen {
	s := &Screen{desk: desk, win: win, toResults: toResults, now: time.Now}
	s.pickPath = func(title, confirm string, then func(string)) { widgets.PickFolder(win, title, confirm, then) }
	s.orders = newOrders(s)
	s.header = newHeader(win, s.orders)
	s.limit = newLimitPanel(s.orders)
	s.charts = newCharts(s.keepPictures(), s.orders.saveCharts)
	s.chain = newChain()
	s.agents = newAgents(s.orders)
	s.tiles = newTiles()
	s.lists = newLists(s.orders)
	s.steps, s.talk, s.events, s.changes, s.log = newSteps(s.chain), newTalk(s), eventlist.New(win, func() time.Time { return s.now() }), newChangeTab(), newLogTab()
	s.workers = fleet.NewBoard(win, s.keepPictures())
	s.workers.Asked = s.orders.report
	s.tabs = newTabs(
		s.rearranged,
		tab{"Overview", container.New(overview{}, s.charts.content, s.lists.content), s.drawOverview},
		tab{"Steps", s.steps.content, func(f *feed, _ bool) { s.steps.draw(f) }},
		tab{"Agents", s.agents.panel, func(f *feed, _ bool) { s.agents.draw(f) }},
		tab{"Transcript", s.talk.content, func(f *feed, _ bool) { s.talk.draw(f) }},
		tab{"Events", s.events.Content, func(f *feed, _ bool) { s.events.Draw(f.until(), f.snap.Phase != engine.Ended) }},
		tab{"Changes", s.changes.content, func(f *feed, _ bool) { s.changes.draw(f) }},
		tab{workersTab, s.workers.Content, func(f *feed, _ bool) { s.drawWorkers(f) }},
		tab{"Log", s.log.content, func(f *feed, _ bool) { s.log.draw(f) }},
	)
	s.events.OnAgent = func(agent int) {
		s.tabs.reveal("Agents")
		s.agents.open(agent)
	}
	s.history = newHistory(s)
	s.page = newPage(s)
	s.workers.Within(s.page.scroll)
	s.offerWorkers()
	s.none = newNone()
	s.root = container.NewStack(s.none.content, s.page.content)
	s.page.content.Hide()
	return s
}

// workersTab is the name of the tab on the workers of a fleet.
const workersTab = "Workers"

// offerWorkers shows the tab on workers, unless the run has none.
func (s *Screen) offerWorkers() { s.tabs.offer(workersTab, s.workers.Offered()) }

// drawWorkers draws the workers of now, or of a moment of the history.
func (s *Screen) drawWorkers(f *feed) {
	if f.past {
		s.workers.DrawAt(f.snap.At, f.snap.Metrics.Workers, f.markers())
		return
	}
	s.workers.Draw(f.markers())
}

// Content returns the screen's content.
func (s *Screen) Content() fyne.CanvasObject { return s.root }

// Show is called when the screen becomes visible.
func (s *Screen) Show() {
	s.Collect()
	s.draw()
}

// Chosen returns the run that is shown; "" before the first.
func (s *Screen) Chosen() engine.RunID {
	if s.job == nil {
		return ""
	}
	return s.job.ID()
}

// Hide is called when the screen becomes hidden.
func (s *Screen) Hide() {}

// Collect reads the newest snapshot of the run. It is cheap. Call it at least about once a second, even while the screen is hidden.
func (s *Screen) Collect() {
	job := s.desk.Job()
	if s.past != nil && job != s.newest { // another run started meanwhile
		s.past = nil
	}
	if s.past != nil {
		job = s.past
	}
	switch {
	case job == nil:
		return
	case job != s.job:
		s.begin(job)
	}
	snap := job.Snapshot()
	s.workers.Collect(s.now(), snap.Phase == engine.Ended)
	s.feed.workers = s.workers.Workers()
	s.feed.collect(snap)
}

// begin resets the screen for a job.
func (s *Screen) begin(job *Job) {
	s.job, s.feed, s.shown = job, newFeed(job), shown{}
	s.before, _, _ = s.desk.Logged()
	s.header.begin(job)
	s.orders.begin(job)
	s.limit.begin(job)
	s.tiles.begin(job)
	s.charts.begin(job)
	s.chain.begin(job)
	s.talk.begin(job)
	s.changes.earlier = job.Changes
	s.events.Open(job.Events)
	s.log.begin(job)
	s.agents.begin(job)
	s.history.begin(job)
	s.workers.Begin(job.Fleet, fleet.Record{Rows: job.History, Gap: s.feed.gap})
	s.none.content.Hide()
	s.page.content.Show()
	s.page.again()
}

// History opens the history of a run: a past one, or the one that is shown.
func (s *Screen) History(job *Job) {
	if s.past, s.newest = nil, s.desk.Job(); job != s.newest {
		s.past = job
	}
	s.Show()
}

// Rename shows a new name of a run, if it is the shown one or the newest.
func (s *Screen) Rename(run engine.RunID, name string) {
	for _, job := range []*Job{s.job, s.desk.Job()} {
		if job != nil && job.ID() == run {
			job.Title = name
		}
	}
	if s.job != nil {
		s.header.begin(s.job)
	}
}

// Follow returns to the newest run of this process.
func (s *Screen) Follow() {
	s.past = nil
	s.Show()
}

// seen returns the shown feed: live or a moment of the history.
func (s *Screen) seen() *feed {
	if s.history.feed != nil {
		return s.history.feed
	}
	return s.feed
}

// elsewhere reports whether there is a newer run than that of the history.
func (s *Screen) elsewhere() bool { return s.past != nil && s.newest != nil }

// Tick draws the screen once a second, and in the first seconds of a run twice, because drawing repaints the whole window. Changes that the user waits for are drawn immediately,
// and for some seconds after an order twice as often. A moment of the history is not drawn again.
func (s *Screen) Tick() {
	s.Collect()
	if s.job == nil {
		s.none.draw()
		return
	}
	s.beats++
	s.history.tick()
	watched := s.beats < s.watched && s.beats%2 == 0
	sending := s.feed.snap.Phase == engine.Ended && s.beats%4 == 0 // no further second comes, but results may still be on their way to the database
	news := s.feed.count != s.shown.rows && (len(s.feed.fine) == 0 || s.beats%2 == 0)
	if s.history.feed == nil && (s.changed() || news || watched || sending) {
		s.draw()
	}
}

// changed reports whether a change that the user waits for is not drawn yet. A governor may move the limit every second, so that change
// waits for the next second.
func (s *Screen) changed() bool {
	now := s.feed.snap
	was := s.shown.snap
	if was == nil {
		return true
	}
	limited := now.Limit != was.Limit && view.LimitMode(now) == view.Manual
	return now.Phase != was.Phase || limited || now.Governor != was.Governor || now.Reason != was.Reason
}

// draw draws the feed that is shown. Unchanged parts are not drawn again.
func (s *Screen) draw() {
	if s.job == nil {
		s.none.draw()
		return
	}
	f, charts := s.feed, s.feed.count != s.shown.rows
	if s.history.feed != nil {
		f, charts = s.history.feed, true
	} else if s.changed() {
		s.watched = s.beats + watchFor
	}
	now := f.snap
	s.orders.past = f.past
	s.offerWorkers()
	s.orders.draw(now)
	s.header.draw(s, f)
	s.limit.draw(now)
	s.tiles.draw(f)
	s.tabs.draw(f, charts)
	s.history.draw()
	s.shown = shown{now, f.count}
	if f.past {
		s.shown.rows = -1
	}
}

// drawOverview draws the charts, if there is another second, and the lists.
func (s *Screen) drawOverview(f *feed, charts bool) {
	if charts {
		s.charts.draw(f)
	}
	s.lists.draw(f)
}

// logged describes the errors that this process has logged during the run; "" if none.
func (s *Screen) logged() string {
	n, last, at := s.desk.Logged()
	if n -= s.before; n <= 0 {
		return ""
	}
	count := "an error is"
	if n > 1 {
		count = engine.FormatCount(int64(n)) + " errors are"
	}
	return fmt.Sprintf("%s in the log, the last of %s: %s", count, at.Local().Format(time.TimeOnly), last)
}

// rearranged draws the visible tab.
func (s *Screen) rearranged() {
	if s.job == nil {
		return
	}
	s.shown.rows = -1
	s.draw()
	s.page.again()
}
