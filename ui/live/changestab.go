package live

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

var changeColumns = []widgets.Column{
	{Title: "Time", Sample: "10:02:03"},
	{Title: "Cycle", Sample: "10000", Align: fyne.TextAlignTrailing, Drop: 2},
	{Title: "Who", Sample: "connections", Drop: 1},
	{Title: "What", Sample: "checkpoint-interval"},
	{Title: "Change", Sample: "1,000 to 1,000", Weight: 1},
	{Title: "Why", Sample: "CPU 91% for 3 s", Weight: 3},
}

// changeTab lists what people and governors changed, and why.
type changeTab struct {
	content fyne.CanvasObject
	table   *widgets.Table
	find    *form.Entry
	feed    *feed
	earlier []engine.ChangeRow // those of earlier processes
}

func newChangeTab() *changeTab {
	t := &changeTab{table: widgets.NewTable(changeColumns, "No changes during the run", leastRows), find: form.NewEntry()}
	t.find.SetPlaceHolder("Find in the changes")
	t.find.OnChanged = func(string) { t.again() }
	t.content = widgets.NewPanel("", container.NewBorder(form.NewCompact(t.find), nil, nil, nil, t.table))
	return t
}

func (t *changeTab) again() {
	if t.feed != nil {
		t.draw(t.feed)
	}
}

func (t *changeTab) draw(f *feed) {
	t.feed = f
	t.table.SetRows(slices.DeleteFunc(changes(view.AllChanges(t.earlier, f.snap.Changes, f.snap.At)), func(r widgets.Row) bool { return !r.Contains(t.find.Text) }))
}

// changes returns the rows of changes, the newest first.
func changes(all []engine.ChangeRow) []widgets.Row {
	rows := make([]widgets.Row, 0, len(all))
	for i := range slices.Backward(all) {
		c := &all[i]
		rows = append(rows, widgets.Row{Key: strconv.Itoa(i), Cells: []widgets.Cell{
			{Text: c.At.Local().Format(time.TimeOnly), Tip: words.Stamp(c.At)},
			{Text: strconv.Itoa(c.Cycle)},
			{Text: c.Who},
			{Text: engine.Subject(c.What)},
			{Text: changed(c)},
			{Text: words.Drawn(strings.TrimPrefix(c.Why, c.Old+" to "+c.New+": ")), Tone: widgets.Quiet},
		}})
	}
	return rows
}
