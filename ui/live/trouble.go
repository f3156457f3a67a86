package live

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/crowd"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

var (
	stuckColumns = []widgets.Column{
		{Title: "Agent", Sample: "shopper-1000", Weight: 1},
		{Title: "In flight for", Sample: "10 min 30 s", Align: fyne.TextAlignTrailing},
		{Title: "At", Sample: "fill_cart.add", Weight: 1},
	}
	failedColumns = []widgets.Column{
		{Title: "Error", Sample: "server_error", Weight: 1},
		{Title: "Count", Sample: "10,000", Align: fyne.TextAlignTrailing},
		{Title: "Last", Sample: "shopper-1000", Weight: 1},
	}
)

// trouble lists problems: the oldest sessions in flight, and the latest failure of each error class.
type trouble struct {
	agents         *agents
	content        *fyne.Container
	oldest, faults *widgets.Table
	errors         []engine.ErrorNote
}

func newTrouble(a *agents) *trouble {
	t := &trouble{agents: a}
	t.oldest = widgets.NewTable(stuckColumns, "No sessions are waiting.", 3)
	t.faults = widgets.NewTable(failedColumns, "No sessions have failed.", 3)
	t.oldest.OnSelected = t.point
	t.oldest.OnOpened = func(key string) {
		if agent, err := strconv.Atoi(key); err == nil {
			a.open(agent)
		}
	}
	t.faults.OnOpened = t.openFailed
	t.content = container.NewGridWithRows(2,
		container.NewBorder(widgets.NewHeading("In flight, oldest first"), nil, nil, nil, t.oldest),
		container.NewBorder(widgets.NewHeading("Errors"), nil, nil, nil, t.faults))
	return t
}

// point marks an agent in the grid.
func (t *trouble) point(key string) {
	if agent, err := strconv.Atoi(key); err == nil {
		t.agents.grid.Select(agent)
	}
}

// openFailed opens the agent with the latest error of a class.
func (t *trouble) openFailed(class string) {
	for i := range t.errors {
		if n := &t.errors[i]; n.Class.String() == class && n.Known() {
			t.agents.legend.Choose(crowd.Of(engine.AgentFailed, engine.AgentTimedOut))
			t.agents.open(n.Agent)
			return
		}
	}
}

func (t *trouble) draw(s *engine.Snapshot) {
	t.errors = s.Errors
	if !t.content.Visible() {
		return
	}
	rows := make([]widgets.Row, len(s.Oldest))
	for i := range s.Oldest {
		d := &s.Oldest[i]
		at := orDash(d.Path)
		if d.ThrottledBy != "" {
			at = "throttled: " + d.ThrottledBy
		}
		rows[i] = widgets.Row{Key: strconv.Itoa(d.Agent), Cells: []widgets.Cell{{Text: who(d)}, {Text: since(s.At, d.Began)}, {Text: at, Tone: widgets.Quiet}}}
	}
	t.oldest.SetRows(rows)
	rows = make([]widgets.Row, len(s.Errors))
	for i := range s.Errors {
		n := &s.Errors[i]
		last := "–"
		if n.Known() {
			last = n.AgentName()
		}
		rows[i] = widgets.Row{Key: n.Class.String(), Cells: []widgets.Cell{{Text: n.Class.String(), Tone: widgets.Bad}, {Text: engine.FormatCount(n.Count)}, {Text: last, Tone: widgets.Quiet}}}
	}
	t.faults.SetRows(rows)
}
