package live

import (
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

	root    *fyne.Container
	page    *page
	none    fyne.CanvasObject
	header  *header
	orders  *orders
	limit   *limitPanel
	figures *figures
	charts  *charts
	chain   *chain // instead of the charts, where a person chose that
	lists   *lists
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
	s := &Screen{desk: desk, win: win, toResults: toResults}
	s.pickPath = func(then func(string)) {
		widgets.PickFolder(win, "Export CSV: a new folder is made in this one", "Export here", then)
	}
	s.pickPicture = func(then func(string)) {
		widgets.PickFolder(win, "Save the charts as a picture in this folder", "Save here", then)
	}
	s.orders = newOrders(s)
	s.header = newHeader(s.orders)
	s.limit = newLimitPanel(s.orders)
	s.charts = newCharts()
	s.chain = newChain()
	s.figures = newFigures(s.charts, s.showChain, s.orders.saveCharts)
	s.lists = newLists(s.orders)
	s.page = newPage(s)
	s.none = container.NewCenter(widget.NewLabel("No run yet. Choose a scenario in Setup."))
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
	s.header.begin(job)
	s.orders.begin(job)
	s.limit.begin(job)
	s.charts.begin(job)
	s.chain.begin(job)
	s.none.Hide()
	s.page.content.Show()
	s.page.again()
}

// Tick draws once a second, with the charts, as whatever is drawn repaints the whole window. What a person waits for is
// drawn at once, and what comes of it for some seconds twice as often.
func (s *Screen) Tick() {
	s.Collect()
	if s.job == nil {
		return
	}
	s.beats++
	watched := s.beats < s.watched && s.beats%2 == 0
	sending := s.feed.snap.Phase == engine.Ended && s.beats%4 == 0 // no further second comes, but results may still go out
	if s.changed() || s.feed.count != s.shown.rows || watched || sending {
		s.draw()
	}
}

// changed reports whether something is not drawn yet that a person waits for.
func (s *Screen) changed() bool {
	now := s.feed.snap
	return now.Phase != s.shown.phase || now.Limit != s.shown.limit || now.Ceiling != s.shown.ceiling || now.Governor != s.shown.governor || now.Reason != s.shown.reason
}

// draw shows what is known. What has not changed costs nothing.
func (s *Screen) draw() {
	if s.job == nil {
		return
	}
	if s.changed() {
		s.watched = s.beats + watchFor
	}
	now := s.feed.snap
	s.header.draw(s.job, now, s.desk)
	s.orders.draw(now)
	s.limit.draw(now)
	s.figures.draw(s.feed)
	if s.figures.drawNotes(now) {
		s.page.again()
	}
	s.lists.draw(now)
	if s.chain.panel.Visible() {
		s.chain.draw(now)
	} else if s.feed.count != s.shown.rows {
		s.charts.draw(s.feed)
	}
	s.shown = shown{now.Phase, now.Reason, now.Limit, now.Ceiling, now.Governor, s.feed.count}
}

// showChain shows the chain instead of the charts, or these again. What is hidden is not drawn.
func (s *Screen) showChain(chain bool) {
	if chain {
		s.charts.grid.Hide()
		s.chain.panel.Show()
	} else {
		s.chain.panel.Hide()
		s.charts.grid.Show()
	}
	if s.job == nil {
		return
	}
	s.shown.rows = -1
	s.draw()
	s.page.again()
}
