package live

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

var errorColumns = []widgets.Column{
	{Title: "Class", Sample: "server_error"},
	{Title: "Count", Sample: "100,000", Align: fyne.TextAlignTrailing},
	{Title: "Cycle", Sample: "10000", Align: fyne.TextAlignTrailing},
	{Title: "Agent", Sample: "shopper-1000"},
	{Title: "Step", Sample: "checkout", Weight: 1},
	{Title: "Message", Sample: "what went wrong", Weight: 4},
}

// outcomes are the ways a session ends, in the order in which they are shown.
var outcomes = []engine.Outcome{engine.OK, engine.Stopped, engine.Failed, engine.TimedOut, engine.Cancelled}

// trouble shows the errors by class, and how sessions ended.
type trouble struct {
	win     fyne.Window
	content fyne.CanvasObject
	errors  *widgets.Sheet
	scroll  *container.Scroll
	rows    int
	counts  []*widgets.Text // by outcome
	notes   []engine.ErrorNote
}

func newTrouble(win fyne.Window) *trouble {
	t := &trouble{win: win}
	t.errors = widgets.NewSheet(errorColumns, "none so far", t.explain)
	t.scroll = container.NewVScroll(t.errors)
	ended := container.NewGridWithColumns(2)
	for _, o := range outcomes {
		n := widgets.NewText("").Align(fyne.TextAlignTrailing)
		t.counts = append(t.counts, n)
		ended.Objects = append(ended.Objects, widgets.NewText(o.String()), n)
	}
	t.content = container.NewBorder(nil, nil, nil, widgets.NewPanel("Sessions ended", ended), widgets.NewPanel("Errors by class", t.scroll))
	return t
}

func (t *trouble) draw(s *engine.Snapshot) {
	for i, o := range outcomes {
		t.counts[i].SetText(engine.FormatCount(s.Outcomes[o]))
	}
	t.notes = s.Errors
	rows := make([]widgets.Row, len(s.Errors))
	for i := range s.Errors {
		n := &s.Errors[i]
		rows[i] = widgets.Row{Key: n.Class.String(), Cells: []widgets.Cell{
			{Text: n.Class.String(), Tone: widgets.Bad},
			{Text: engine.FormatCount(n.Count)},
			{Text: strconv.Itoa(n.Cycle)},
			{Text: n.Who()},
			{Text: n.Path},
			{Text: n.Message, Tone: widgets.Quiet},
		}}
	}
	t.errors.SetRows(rows)
	if t.rows != len(rows) {
		t.rows = len(rows)
		t.scroll.Refresh()
	}
}

// explain shows the whole of a class's last error.
func (t *trouble) explain(class string) {
	for i := range t.notes {
		n := &t.notes[i]
		if n.Class.String() != class {
			continue
		}
		words.ShowError(t.win, n)
		return
	}
}
