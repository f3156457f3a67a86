package fleet

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/workers"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Places where the sessions of a run are executed, in the order of the choice.
const (
	Here = iota
	Processes
	Elsewhere
)

// mostLocal bounds the worker processes on this computer.
const mostLocal = 256

// defaultListen is the proposed address on which workers join.
const defaultListen = ":7422"

// Choice is the section of a form that chooses the workers of a run. It belongs to the UI goroutine.
type Choice struct {
	Panel *form.Fold
	// Content is what the panel folds.
	Content fyne.CanvasObject
	// Where is the choice of the place.
	Where *widgets.Segments
	// Fields are the fields of a Plan, for the form around the section.
	Fields []Field
	// Changed is called after the user changed something, or workers were invited. Tell shows errors at the fields, and returns the others.
	Changed func()
	Tell    func(error) error

	host Host
	inputs
	parts
	sharing
	all    []workers.State
	open   bool // workers are invited
	asking bool // the host is asked
	least  int  // rows that the table has room for
}

// inputs are the fields of the section.
type inputs struct {
	local                        *form.Number
	listen, cluster, credentials *form.Entry
	through                      *widget.Check // through a cluster
	localRow, listenRow          *form.Row
	clusterRows                  []*form.Row
	invite, stop                 *widget.Button
}

// parts are what the section shows or hides.
type parts struct {
	processes *fyne.Container // fields for processes on this computer
	elsewhere *fyne.Container // fields for other computers
	buttons   *fyne.Container // that invite
	invited   *fyne.Container // what workers join with, and who has joined
	join      *form.Note
	problem   *form.Note
	refused   *form.Note // why workers are refused
	joined    *widgets.Table
}

// Field is a row with its entry, and its name in errors.
type Field struct {
	Row   *form.Row
	Name  string
	Entry *form.Entry
}

var joinedColumns = []widgets.Column{
	{Title: "Worker", Sample: "local-12 (rack)"},
	{Title: "Status", Sample: "refused 12 s ago", Weight: 1},
	{Title: "Cores", Sample: "128", Align: fyne.TextAlignTrailing},
	{Title: "Memory", Sample: "no bound", Align: fyne.TextAlignTrailing, Drop: 1},
	{Title: "Latency", Sample: "12.8 ms", Align: fyne.TextAlignTrailing, Drop: 2},
	{Title: "System", Sample: "windows/amd64", Drop: 3},
	{Title: "Version", Sample: "10.12.13", Drop: 4},
}

// NewChoice returns the section; without a host it is hidden, and its plan is this process.
func NewChoice(host Host) *Choice {
	c := &Choice{host: host}
	c.local, c.listen, c.cluster, c.credentials = form.NewWhole(1, mostLocal), form.NewEntry(), form.NewEntry(), form.NewEntry()
	c.Changed, c.Tell = func() {}, func(err error) error { return err }
	c.local.Put("2")
	c.listen.Put(defaultListen)
	c.cluster.SetPlaceHolder("tls://nats.example.com:4222")
	c.credentials.SetPlaceHolder("none")
	c.Where = widgets.NewSegments([]string{Here: "This computer", Processes: "Several processes", Elsewhere: "Other computers"}, func(int) {
		c.show()
		c.Changed()
	})
	c.localRow = form.NewRow("Processes", c.local)
	c.localRow.SetHelp("each gets an equal part of the cores and the memory; the results are the same")
	c.listenRow = form.NewRow("Listen on", c.listen)
	c.listenRow.SetHelp("the port on which workers join; a firewall must allow it")
	cluster := form.NewRow("NATS cluster", c.cluster)
	cluster.SetHelp("for workers that cannot reach this computer directly")
	credentials := form.NewRow("Credentials file", c.credentials)
	c.clusterRows = []*form.Row{cluster, credentials}
	c.Fields = []Field{
		{c.localRow, LocalField, &c.local.Entry},
		{c.listenRow, ListenField, c.listen},
		{cluster, ClusterField, c.cluster},
		{credentials, CredentialsField, c.credentials},
	}
	c.through = widget.NewCheck("Through a NATS cluster", func(bool) {
		c.show()
		c.Changed()
	})
	c.build()
	if host == nil {
		c.Panel.Hide()
	}
	return c
}

// build lays out the section.
func (c *Choice) build() {
	c.invite = widget.NewButtonWithIcon("Invite workers", theme.ContentAddIcon(), func() { c.Invite(func() {}) })
	c.stop = widget.NewButton("Stop inviting", c.uninvite)
	c.join, c.problem, c.refused = form.NewNote(""), form.NewNote(""), form.NewNote("")
	c.refused.Hide()
	c.join.TextSize = theme.SizeNameText
	c.joined = widgets.NewTable(joinedColumns, "No worker has joined yet. Run the command above on each computer.", 2)
	copied := widget.NewButtonWithIcon("Copy", theme.ContentCopyIcon(), func() { fyne.CurrentApp().Clipboard().SetContent(c.join.Text()) })
	command := container.NewBorder(nil, nil, nil, container.NewVBox(form.NewCompact(copied)), c.join)
	about := form.NewNote("Run this on each computer that has the same version of Throng. Keep it secret: it lets a computer join.")
	c.invited = form.NewStack(widgets.NewCaption("Join command"), command, about, c.joined, c.refused)
	rows := form.NewColumns(14, c.listenRow, c.clusterRows[0], c.clusterRows[1])
	c.buttons = container.NewHBox(form.NewCompact(c.invite), form.NewCompact(c.stop), layout.NewSpacer())
	c.processes = form.NewColumns(14, c.localRow)
	c.elsewhere = form.NewStack(rows, c.through)
	c.buildSharing()
	c.Content = form.NewStack(form.NewRow("Sessions run on", container.NewHBox(c.Where)), c.processes, c.elsewhere, c.share, c.buttons, c.problem, c.invited)
	c.Panel = form.NewFold("Workers", container.NewStack(c.Content)) // the fold hides the stack
	c.problem.Hide()
	c.show()
}

// show shows the fields of the chosen place.
func (c *Choice) show() {
	c.localRow.Hidden = c.Where.Chosen() != Processes
	c.processes.Hidden = c.localRow.Hidden
	c.elsewhere.Hidden = c.Where.Chosen() != Elsewhere && !c.open
	c.buttons.Hidden = c.elsewhere.Hidden
	c.listenRow.Hidden = c.through.Checked
	for _, row := range c.clusterRows {
		row.Hidden = !c.through.Checked
	}
	c.invited.Hidden = !c.open
	c.showSharing()
	able(c.invite, !c.open && !c.asking)
	able(c.stop, c.open && !c.asking)
	for _, e := range []fyne.Disableable{c.listen, c.cluster, c.credentials, c.through} {
		if c.open || c.asking {
			e.Disable()
		} else {
			e.Enable()
		}
	}
	c.Content.Refresh()
	c.Panel.Refresh()
	if c.Panel.OnToggled != nil {
		c.Panel.OnToggled()
	}
}

// Plan returns which processes execute the sessions, or the errors of the fields.
func (c *Choice) Plan() (p Plan, err error) {
	if c.host == nil {
		return p, nil
	}
	switch c.Where.Chosen() {
	case Processes:
		n, err := c.local.Value()
		if err != nil {
			return p, &engine.FieldError{Field: LocalField, Problem: err.Error()}
		}
		p.Local = int(n)
	case Elsewhere:
		if !c.through.Checked {
			p.Listen = strings.TrimSpace(cmp.Or(c.listen.Text, defaultListen))
			break
		}
		p.Cluster, p.Credentials = strings.TrimSpace(c.cluster.Text), strings.TrimSpace(c.credentials.Text)
		if p.Cluster == "" {
			return p, &engine.FieldError{Field: ClusterField, Problem: "the address of the cluster is missing"}
		}
	}
	return p, nil
}

// Waits reports whether a launch waits until the first worker joins.
func (c *Choice) Waits() bool {
	return c.host != nil && c.Where.Chosen() == Elsewhere && c.ready() == 0
}

// ready returns the number of ready workers.
func (c *Choice) ready() (n int) {
	for i := range c.all {
		if c.all[i].Status == workers.Ready {
			n++
		}
	}
	return n
}

// Invited reports whether workers can join.
func (c *Choice) Invited() bool { return c.open }

// Command returns what shows the command with which workers join.
func (c *Choice) Command() fyne.CanvasObject { return c.joined }

// Invite lets workers join, opens the section and shows what they join with. then is called if that works.
func (c *Choice) Invite(then func()) {
	p, err := c.Plan()
	if err != nil || c.asking {
		c.say(problemOf(c.Tell(err)))
		return
	}
	c.Panel.SetOpen(true)
	c.ask()
	async.Work(func() (string, error) { return c.host.Invite(p) }, func(join string, err error) {
		c.asking = false
		if err == nil {
			c.opened(join)
		}
		c.answer(c.Tell(err))
		if err == nil {
			then()
		}
	})
}

// opened shows what workers join with.
func (c *Choice) opened(join string) {
	c.open = true
	c.join.Say("THRONG_JOIN=" + join + " throngctl worker") // not as a flag, which other users of that computer see
}

// Put shows a plan.
func (c *Choice) Put(p Plan) {
	place := Here
	switch {
	case p.Local > 0:
		place = Processes
		c.local.SetText(strconv.Itoa(p.Local))
	case p.Elsewhere():
		place = Elsewhere
		c.listen.SetText(cmp.Or(p.Listen, defaultListen))
		c.cluster.SetText(p.Cluster)
		c.credentials.SetText(p.Credentials)
		c.through.SetChecked(p.Cluster != "")
	}
	c.Where.Choose(place)
	c.show()
}

// follow shows an invitation that another part of the window has made or ended.
func (c *Choice) follow() {
	p, join := c.host.Invited()
	switch {
	case c.asking || c.open == (join != ""):
	case c.open:
		c.closed()
		c.answer(nil)
	default:
		c.opened(join)
		if c.Where.Chosen() == Elsewhere {
			c.Put(p)
		}
		c.answer(nil)
	}
}

// uninvite ends the connections of the workers.
func (c *Choice) uninvite() {
	c.ask()
	async.Work(func() (struct{}, error) { return struct{}{}, c.host.Uninvite() }, func(_ struct{}, err error) {
		c.asking = false
		if err == nil {
			c.closed()
		}
		c.answer(err)
	})
}

// closed shows that no worker can join.
func (c *Choice) closed() {
	c.open, c.all = false, nil
	c.joined.SetRows(nil)
	c.tell(0)
}

// ask shows that the host is asked.
func (c *Choice) ask() {
	c.asking = true
	c.say("")
	c.show()
}

// answer shows what the host answered.
func (c *Choice) answer(err error) {
	c.say(problemOf(err))
	c.show()
	c.Changed()
}

// problemOf returns the text of an error; "" without one.
func problemOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (c *Choice) say(problem string) {
	c.problem.SetProblem(problem)
	c.problem.Hidden = problem == ""
}

// Tick updates the list of workers. It reports whether another number of them is ready.
func (c *Choice) Tick(now time.Time) (changed bool) {
	if c.host == nil {
		return false
	}
	if c.follow(); !c.open {
		return false
	}
	before := c.ready()
	c.all = c.host.Workers()
	rows := make([]widgets.Row, len(c.all))
	for i := range c.all {
		rows[i] = joinedRow(&c.all[i], now)
	}
	c.joined.SetRows(rows)
	c.tell(len(rows))
	return c.ready() != before
}

// tell shows why workers are refused, and makes room for a number of rows.
func (c *Choice) tell(rows int) {
	var reasons []string
	for i := range c.all {
		if w := &c.all[i]; w.Status == workers.Refused {
			reasons = append(reasons, words.Sentence(w.Name+" is refused: "+w.Why))
		}
	}
	text, least := strings.Join(reasons, "\n"), min(max(rows, leastRows), mostRows)
	if text == c.refused.Text() && least == c.least {
		return
	}
	c.least = least
	c.refused.SetWarning(text)
	c.refused.Hidden = text == ""
	c.joined.SetLeast(least)
	c.show()
}

// joinedRow returns the row of a worker that has joined.
func joinedRow(w *workers.State, now time.Time) widgets.Row {
	text, tone := status(w, now)
	short, _, _ := strings.Cut(text, ":") // the reason is below
	limit := "no bound"
	if w.MemoryLimit > 0 {
		limit = engine.FormatBytes(w.MemoryLimit)
	}
	number := unknown
	if w.Cores > 0 {
		number = strconv.Itoa(w.Cores)
	}
	return widgets.Row{Key: w.Name, Cells: []widgets.Cell{
		{Text: w.Name, Tip: about(w)},
		{Text: short, Tone: tone, Tip: text},
		{Text: number},
		{Text: limit, Tip: "memory that the worker should stay below"},
		{Text: lag(w.Lag)},
		{Text: cmp.Or(w.System, unknown)},
		{Text: cmp.Or(w.Version, unknown)},
	}}
}

// Summary describes the choice in a few words.
func (c *Choice) Summary() string {
	switch c.Where.Chosen() {
	case Processes:
		n, err := c.local.Value()
		if err != nil {
			return "processes on this computer"
		}
		return engine.Counted(int64(n), "process", "processes") + " on this computer"
	case Elsewhere:
		if !c.open {
			return "other computers, none invited yet"
		}
		return fmt.Sprintf("other computers, %d ready", c.ready())
	}
	return "this computer only"
}
