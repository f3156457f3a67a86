// Package transcript shows what the agents of a run said, decided and sent to each other, as a conversation.
package transcript

import (
	"context"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Source reads the transcript of a run. All but Agents and Name read the store: they are not called on the UI goroutine.
type Source interface {
	// Agents returns the number of agents of the population.
	Agents() int
	// Name returns an agent's ID. It does not wait.
	Name(index int) string
	// Search returns at most most agents whose ID contains a text or that match an expression.
	Search(ctx context.Context, text string, most int) (found []int, more bool, err error)
	// Transcript reads a page.
	Transcript(ctx context.Context, q view.TranscriptQuery) (view.Transcript, error)
}

const (
	pageLines = 80
	// readAgain is how often a page is read again while the run is in progress.
	readAgain = 2 * time.Second
	everyone  = -1
	cycleEms  = 6.5 // width of the field for a cycle
	mostFound = 10_000
)

// Pane is a transcript with a list of agents at its left, and filters. It belongs to the UI goroutine.
type Pane struct {
	Content fyne.CanvasObject
	// OnOpened, if set, is called with a line that the user clicks.
	OnOpened func(l view.Line)

	of     Source
	query  view.TranscriptQuery
	before []view.Cursor // beginnings of the earlier pages
	page   view.Transcript
	people people
	feed   *feed
	scroll *container.Scroll
	cycle  *form.Entry
	text   *form.Entry
	place  *widgets.Text
	note   *form.Note
	empty  *form.Note
	back   *widget.Button
	next   *widget.Button
	read   time.Time
	cancel context.CancelFunc // of the read in progress; nil if none
	now    func() time.Time
}

// New returns a pane without a run.
func New() *Pane {
	p := &Pane{now: time.Now, feed: newFeed(), place: widgets.NewCaption(""), note: form.NewNote(""), empty: form.NewNote("")}
	p.query = view.TranscriptQuery{Agent: everyone, Cycle: -1, Most: pageLines}
	p.people = newPeople(p)
	p.cycle, p.text = form.NewEntry(), form.NewEntry()
	p.cycle.SetPlaceHolder("Cycle")
	p.cycle.OnChanged = func(string) { p.filter() }
	p.text.SetPlaceHolder("Find in the transcript")
	p.text.OnSubmitted = func(string) { p.filter() }
	p.text.OnChanged = func(text string) {
		if text == "" {
			p.filter()
		}
	}
	p.back = widget.NewButtonWithIcon("Earlier", theme.NavigateBackIcon(), p.earlier)
	p.next = widget.NewButtonWithIcon("Later", theme.NavigateNextIcon(), p.later)
	p.next.IconPlacement = widget.ButtonIconTrailingText
	p.feed.opened = func(l view.Line) {
		if p.OnOpened != nil {
			p.OnOpened(l)
		}
	}
	p.scroll = container.NewVScroll(container.NewVBox(p.empty, p.feed.content))
	p.feed.layout.changed = p.scroll.Refresh
	hands := container.NewHBox(container.NewCenter(p.place), form.NewCompact(p.back), form.NewCompact(p.next))
	bar := container.NewBorder(nil, nil, form.NewWide(cycleEms, form.NewCompact(p.cycle)), hands, container.New(layout.NewCustomPaddedVBoxLayout(0), layout.NewSpacer(), form.NewCompact(p.text), layout.NewSpacer()))
	right := container.New(layout.NewCustomPaddedLayout(0, 0, theme.Padding(), 0), container.NewBorder(container.NewVBox(bar, p.note), nil, nil, nil, p.scroll))
	split := container.NewHSplit(p.people.content, right)
	split.Offset = 0.2
	p.Content = split
	p.note.Hide()
	return p
}

// Open shows the transcript of a run from its beginning; nil shows none.
func (p *Pane) Open(of Source) {
	p.stop()
	p.of, p.before, p.page = of, nil, view.Transcript{}
	p.query = view.TranscriptQuery{Agent: everyone, Cycle: -1, Most: pageLines}
	p.cycle.Text, p.text.Text = "", ""
	p.cycle.Refresh()
	p.text.Refresh()
	p.people.begin()
	p.feed.set(nil, false)
	p.say("Loading…")
	p.read = time.Time{}
}

// Choose shows the lines of one agent, or of all for -1.
func (p *Pane) Choose(agent int) {
	p.people.mark(agent)
	p.begin(func(q *view.TranscriptQuery) { q.Agent = agent })
}

// Draw reads the page if it was never read or, while the run is in progress, if it may have changed. Call it while the pane is visible.
func (p *Pane) Draw(inProgress bool) {
	if p.of != nil && p.cancel == nil && (p.read.IsZero() || inProgress && p.now().Sub(p.read) >= readAgain) {
		p.load()
	}
}

// Until shows only what was said up to a moment; the zero time shows all.
func (p *Pane) Until(at time.Time) {
	if !p.query.Until.Equal(at) {
		p.query.Until = at
		p.stop()
		p.read = time.Time{}
	}
}

// Again reads the page at the next Draw, because the run has ended.
func (p *Pane) Again() { p.read = time.Time{} }

// begin shows the first page of another selection.
func (p *Pane) begin(change func(q *view.TranscriptQuery)) {
	p.stop()
	p.before, p.query.From = nil, view.Cursor{}
	change(&p.query)
	p.load()
	p.scroll.ScrollToTop()
}

func (p *Pane) filter() {
	cycle := -1
	if n, err := strconv.Atoi(strings.TrimSpace(p.cycle.Text)); err == nil && n >= 0 {
		cycle = n
	}
	if cycle != p.query.Cycle || p.text.Text != p.query.Text {
		p.begin(func(q *view.TranscriptQuery) { q.Cycle, q.Text = cycle, p.text.Text })
	}
}

func (p *Pane) earlier() {
	n := len(p.before)
	if n == 0 {
		return
	}
	p.stop()
	p.query.From, p.before = p.before[n-1], p.before[:n-1]
	p.load()
	p.scroll.ScrollToTop()
}

func (p *Pane) later() {
	if !p.page.More {
		return
	}
	p.stop()
	p.before, p.query.From = append(p.before, p.query.From), p.page.Next
	p.load()
	p.scroll.ScrollToTop()
}

func (p *Pane) stop() {
	if p.cancel != nil {
		p.cancel()
		p.cancel = nil
	}
}

// load reads the page. Only one read is in progress.
func (p *Pane) load() {
	if p.of == nil {
		return
	}
	of, q := p.of, p.query
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	async.Work(func() (view.Transcript, error) { return of.Transcript(ctx, q) }, func(t view.Transcript, err error) {
		stale := ctx.Err() != nil
		cancel()
		if stale {
			return
		}
		p.cancel, p.read = nil, p.now()
		if err != nil {
			p.say("Cannot read the transcript: " + err.Error() + ". Choose an agent to try again.")
			return
		}
		p.show(t)
	})
}

// show shows a page.
func (p *Pane) show(t view.Transcript) {
	p.page = t
	p.feed.set(t.Lines, p.query.Agent == everyone)
	switch {
	case len(t.Lines) > 0:
		p.say("")
	case p.query.Text != "" && t.More:
		p.say("No line on this page contains the text. Later pages may.")
	case p.query.Text != "":
		p.say("No line contains the text.")
	case t.More:
		p.say("Nothing was said in these sessions.")
	default:
		p.say("Nothing was said yet. Answers of models, messages between agents, and events appear here.")
	}
	p.note.SetText(t.Note)
	p.note.Hidden = t.Note == ""
	place := ""
	if t.More || len(p.before) > 0 {
		place = "Page " + engine.FormatCount(int64(len(p.before)+1))
	}
	p.place.SetText(place)
	enable(p.back, len(p.before) > 0)
	enable(p.next, t.More)
	p.scroll.Refresh()
}

// say shows a text in place of lines.
func (p *Pane) say(text string) {
	p.empty.SetText(text)
	p.empty.Hidden = text == ""
}

func enable(b *widget.Button, on bool) {
	switch {
	case on && b.Disabled():
		b.Enable()
	case !on && !b.Disabled():
		b.Disable()
	}
}
