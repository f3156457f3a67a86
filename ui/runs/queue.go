package runs

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Queue is what waits to start, in this program and in others.
type Queue interface {
	// Waiting returns what waits, in the order in which it starts.
	Waiting(ctx context.Context) ([]Waiting, error)
	// CancelWaiting cancels something: it starts nothing.
	CancelWaiting(ctx context.Context, id string) error
	// StartNext puts something at the head of the queue.
	StartNext(ctx context.Context, id string) error
}

// Waiting is a run or an experiment that waits to start.
type Waiting struct {
	ID      string
	Work    string    // such as the experiment "prices"
	Start   time.Time // not before; zero as soon as possible
	Details string    // its priority, and since when and where it waits
}

// queueStrip lists what waits above the runs. It is hidden while nothing does.
type queueStrip struct {
	screen  *Screen
	panel   *widgets.Panel
	rows    *fyne.Container
	trouble *widgets.Notice
	shown   []Waiting
}

// mostWaiting is the number of entries shown; the others are counted.
const mostWaiting = 3

func newQueueStrip(s *Screen) *queueStrip {
	q := &queueStrip{screen: s, rows: form.NewStack(), trouble: widgets.NewNotice()}
	q.panel = widgets.NewPanel("", form.NewStack(q.rows, q.trouble))
	q.panel.Hide()
	return q
}

// show shows what waits.
func (q *queueStrip) show(all []Waiting) {
	if slices.Equal(all, q.shown) {
		return
	}
	q.shown = all
	q.rows.RemoveAll()
	for i := range all[:min(len(all), mostWaiting)] {
		q.rows.Add(q.row(i))
	}
	if more := len(all) - mostWaiting; more > 0 {
		q.rows.Add(widgets.NewCaption(engine.Counted(int64(more), "more waits", "more wait") + ": throngctl queue lists all"))
	}
	q.panel.Hidden = len(all) == 0
	q.screen.content.Refresh() // also if it was visible before: its height depends on the rows
}

func (q *queueStrip) row(i int) fyne.CanvasObject {
	w := &q.shown[i]
	cancel := widget.NewButtonWithIcon("Cancel", theme.CancelIcon(), func() {
		q.order(func(ctx context.Context) error { return q.screen.desk.CancelWaiting(ctx, w.ID) })
	})
	buttons := container.NewHBox(cancel)
	if i > 0 && w.Start.IsZero() {
		next := widget.NewButtonWithIcon("Start next", theme.MoveUpIcon(), func() {
			q.order(func(ctx context.Context) error { return q.screen.desk.StartNext(ctx, w.ID) })
		})
		buttons = container.NewHBox(next, cancel)
	}
	text := form.NewNote(starts(w, i) + ": " + w.Work)
	text.TextSize = theme.SizeNameText
	return container.NewBorder(nil, nil, nil, form.NewCompact(buttons), form.NewStack(text, widgets.NewCaption(w.Details)))
}

// starts says when an entry starts.
func starts(w *Waiting, index int) string {
	switch {
	case w.Start.After(time.Now()):
		return "Starts " + words.Stamp(w.Start)
	case index == 0:
		return "Next"
	}
	return "Waits, number " + strconv.Itoa(index+1)
}

// order changes the queue.
func (q *queueStrip) order(f func(ctx context.Context) error) {
	async.Work(func() (struct{}, error) { return struct{}{}, f(context.Background()) }, func(_ struct{}, err error) {
		q.trouble.Say("", widgets.Warning)
		if err != nil {
			q.trouble.Say(fmt.Sprint("Not changed. ", words.Trouble(err)), widgets.Warning)
		}
		q.screen.load()
	})
}
