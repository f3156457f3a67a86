package live

import (
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Screen shows the run in progress. Its methods are called on the UI goroutine.
type Screen struct {
	desk        Desk
	win         fyne.Window
	toResults   func(engine.RunID)
	pickPath    func(then func(dir string)) // asks for a folder of files, and the next for one of a picture
	pickPicture func(then func(dir string))

	job     *Job // nil before the first
	feed    *feed
	beats   int // ticks
	watched int // until then a person watches what comes of a change
	shown   shown
	before  int // errors that were logged before the run

	now    func() time.Time // replaced by tests
	past   *Job             // a run that a person looks back on, in place of the desk's
	beside *Job             // the desk's, when that was chosen

	root    *fyne.Container
	page    *page
	none    fyne.CanvasObject
	header  *header
	orders  *orders
	limit   *limitPanel
	figures *figures
	charts  *charts
	chain   *chain
	agents  *agents
	views   *views // of which the charts, the agents and the chain are
	lists   *lists
	back    *lookback
}

// watchFor is how many ticks a person watches what comes of a change.
const watchFor = 12

// shown is what was drawn last, as far as a change of it is drawn at once.
type shown struct {
	phase    engine.Phase
	reason   string
	limit    int
	ceiling  int
	governor string
	rows     int // of the charts
}

// New makes the screen; toResults shows what a run gave.
func New(desk Desk, win fyne.Window, toResults func(engine.RunID)) *Screen {
	s := &Screen{desk: desk, win: win, toResults: toResults, now: time.Now}
	s.pickPath = func(then func(string)) {
		widgets.PickFolder(win, "Export CSV: a new folder is made in this one", "Export here", then)
	}
	s.pickPicture = func(then func(string)) {
		widgets.PickFolder(win, "Save the charts as a picture in this folder", "Save here", then)
	}
	s.orders = newOrders(s)
	s.header = newHeader(s.orders)
	s.limit = newLimitPanel(s.orders)
	s.charts = newCharts(s.keepPictures())
	s.chain = newChain()
	s.agents = newAgents(s.orders)
	s.figures = newFigures()
	s.views = newViews(s.charts, s.orders.saveCharts, s.rearranged,
		view{name: "Agents", object: s.agents.panel, draw: s.agents.draw, alone: true}, view{name: "Chain", object: s.chain.panel, draw: s.chain.draw, alone: true})
	s.lists = newLists(s.orders)
	s.back = newLookback(s)
	s.page = newPage(s)
	s.none = container.NewCenter(widget.NewLabel("No run is in progress. Launch one in Setup, or go on with one in Checkpoints."))
	s.root = container.NewStack(s.none, s.page.content)
	s.page.content.Hide()
	return s
}

// Content returns what the screen looks like.
func (s *Screen) Content() fyne.CanvasObject { return s.root }

// Show is called when the screen becomes visible.
func (s *Screen) Show() {
	s.Collect()
	s.draw()
}

// Hide is called when it is no longer visible.
func (s *Screen) Hide() {}

// Collect takes in what the run did since. It is cheap, and called about once a second or oftener, visible or not.
func (s *Screen) Collect() {
	job := s.desk.Job()
	if s.past != nil && job != s.beside { // another run began meanwhile
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
	s.feed.collect(job.Snapshot())
}

// begin starts afresh with a job.
func (s *Screen) begin(job *Job) {
	s.job, s.feed, s.shown = job, newFeed(job), shown{}
	s.before, _, _ = s.desk.Logged()
	s.header.begin(job)
	s.orders.begin(job)
	s.limit.begin(job)
	s.charts.begin(job)
	s.chain.begin(job)
	s.agents.begin(job)
	s.back.begin(job)
	s.none.Hide()
	s.page.content.Show()
	s.page.again()
}

// History shows a run that is past, or the one that is shown, for a person to the history of.
func (s *Screen) History(job *Job) {
	if s.past, s.beside = nil, s.desk.Job(); job != s.beside {
		s.past = job
	}
	s.Show()
}

// Follow goes back to the newest run of this process.
func (s *Screen) Follow() {
	s.past = nil
	s.Show()
}

// seen is what is shown: the run as it is, or as it was.
func (s *Screen) seen() *feed {
	if s.back.feed != nil {
		return s.back.feed
	}
	return s.feed
}

// elsewhere reports whether there is a newer run than the one that a person looks back on.
func (s *Screen) elsewhere() bool { return s.past != nil && s.beside != nil }

// Tick draws once a second, with the charts, as whatever is drawn repaints the whole window. What a person waits for is
// drawn at once, and what comes of it for some seconds twice as often. A moment that is past stays as it is.
func (s *Screen) Tick() {
	s.Collect()
	if s.job == nil {
		return
	}
	s.beats++
	s.back.tick()
	watched := s.beats < s.watched && s.beats%2 == 0
	sending := s.feed.snap.Phase == engine.Ended && s.beats%4 == 0 // no further second comes, but results may still go out
	if s.back.feed == nil && (s.changed() || s.feed.count != s.shown.rows || watched || sending) {
		s.draw()
	}
}

// changed reports whether something is not drawn yet that a person waits for. A limit that a governor moves is not: it
// may do so every second, and the next second shows it.
func (s *Screen) changed() bool {
	now := s.feed.snap
	limited := now.Limit != s.shown.limit && !governed(now)
	return now.Phase != s.shown.phase || limited || now.Ceiling != s.shown.ceiling || now.Governor != s.shown.governor || now.Reason != s.shown.reason
}

// draw shows what is known, of now or of the moment that a person looks back on. What has not changed costs nothing.
func (s *Screen) draw() {
	if s.job == nil {
		return
	}
	f, charts := s.feed, s.feed.count != s.shown.rows
	if s.back.feed != nil {
		f, charts = s.back.feed, true
	} else if s.changed() {
		s.watched = s.beats + watchFor
	}
	now := f.snap
	s.orders.past = f.past
	taller := s.header.draw(s.job, f, s.desk)
	s.orders.draw(now)
	s.limit.draw(now)
	s.figures.draw(f)
	if s.figures.drawNotes(now, s.logged()) || taller {
		s.page.again()
	}
	s.lists.draw(f)
	s.views.draw(f, charts)
	s.back.draw()
	s.shown = shown{now.Phase, now.Reason, now.Limit, now.Ceiling, now.Governor, f.count}
	if f.past {
		s.shown.rows = -1
	}
}

// logged tells of the errors that this process has logged since it works on the run; "" is none.
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

// rearranged draws what other views have come to be seen.
func (s *Screen) rearranged() {
	if s.job == nil {
		return
	}
	s.shown.rows = -1
	s.page.makeRoom()
	s.draw()
	s.page.again()
}
