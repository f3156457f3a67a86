package live

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// noAgent is none.
const noAgent = -1

// readEvery is how often an agent that is open is read again while its run goes on.
const readEvery = 2 * time.Second

// inspector shows one agent in full, and takes orders about it.
type inspector struct {
	agents                           *agents
	now                              func() time.Time
	content                          *fyne.Container
	title                            *widgets.Line
	state                            *widgets.Badge
	doing                            *form.Note
	again, retire, tell, watch, copy *widget.Button
	pages                            *pages

	agent   int // noAgent is none
	view    *engine.AgentView
	watched int // whose exchanges are kept
	read    time.Time
	seen    engine.AgentState  // when it was read
	cancel  context.CancelFunc // of the reading on its way; nil is none
}

func newInspector(a *agents) *inspector {
	i := &inspector{agents: a, now: time.Now, agent: noAgent, watched: noAgent}
	i.title = widgets.NewLine(theme.SizeNameSubHeadingText, widgets.Neutral).Bold()
	i.state = widgets.NewBadge("", widgets.Neutral)
	i.doing = form.NewNote("")
	i.again = widget.NewButton("Run again", func() { a.orders.requeue(i.agent, i.name()) })
	i.retire = widget.NewButton("Retire…", i.askToRetire)
	i.tell = widget.NewButton("Tell…", func() { a.orders.askToTell(i.name()) })
	i.watch = widget.NewButton("Watch", i.toggleWatch)
	i.copy = widget.NewButton("Copy as JSON", i.copyJSON)
	i.pages = newPages(a)
	shut := widget.NewButtonWithIcon("", theme.CancelIcon(), a.close)
	shut.Importance = widget.LowImportance
	head := container.NewBorder(nil, nil, nil, shut, container.New(inline{i.title}, i.title, i.state))
	hands := container.New(&flow{}, i.again, i.retire, i.tell, i.watch, i.copy)
	top := container.NewVBox(head, i.doing, form.NewCompact(hands), i.pages.bar)
	i.content = container.NewBorder(top, nil, nil, nil, i.pages.stack)
	return i
}

// open shows an agent.
func (i *inspector) open(agent int) {
	if i.agent == agent {
		i.follow()
		return
	}
	i.forget()
	i.agent = agent
	i.title.Set(i.name(), widgets.Neutral)
	i.doing.SetText("")
	i.pages.empty("Reading what is known of it…")
	i.follow()
}

// close shows none.
func (i *inspector) close() {
	i.forget()
	i.agent = noAgent
}

// forget drops what is known and what is on its way.
func (i *inspector) forget() {
	if i.cancel != nil {
		i.cancel()
		i.cancel = nil
	}
	i.view, i.read = nil, time.Time{}
	enable(i.copy, false)
}

// name is what the agent is called.
func (i *inspector) name() string {
	if name := i.agents.job.Name; name != nil {
		if text := name(i.agent); text != "" {
			return text
		}
	}
	return fmt.Sprint(i.agent)
}

// follow brings what is shown in line with the run, and reads the agent again when that is old.
func (i *inspector) follow() {
	if i.agent == noAgent {
		return
	}
	m := &i.agents.shown
	if s, ok := m.state(i.agent); ok {
		i.state.Set(s.String(), stateTone(s))
		i.enable(s)
	}
	if i.cancel == nil && i.old() && i.now().Sub(i.read) >= readEvery {
		i.look()
	}
}

// old reports whether there may be more to know than was read.
func (i *inspector) old() bool {
	m := &i.agents.shown
	state, _ := m.state(i.agent)
	return i.view == nil || m.live && (m.phase != engine.Ended || i.seen != state)
}

// enable allows what can be ordered of the agent.
func (i *inspector) enable(s engine.AgentState) {
	m := &i.agents.shown
	live := m.live && m.phase != engine.Ended && m.phase != engine.Draining
	enable(i.again, live && (s == engine.AgentFailed || s == engine.AgentTimedOut))
	enable(i.retire, live && s != engine.AgentRetired)
	enable(i.tell, live && s != engine.AgentRetired && i.agents.job.Tell != nil)
	enable(i.watch, live)
	enable(i.copy, i.view != nil)
	says := "Watch"
	if i.watched == i.agent {
		says = "Stop watching"
	}
	if i.watch.Text != says {
		i.watch.SetText(says)
	}
}

// look reads the agent, one reading at a time.
func (i *inspector) look() {
	job, agent := i.agents.job, i.agent
	if job.Agent == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	i.cancel = cancel
	i.read = i.now()
	i.seen, _ = i.agents.shown.state(agent)
	async.Work(func() (*engine.AgentView, error) { return job.Agent(ctx, agent) }, func(v *engine.AgentView, err error) {
		stale := ctx.Err() != nil
		cancel()
		if stale || i.agents.job != job || i.agent != agent {
			return
		}
		i.cancel = nil
		i.read = i.now()
		if err != nil {
			if i.view == nil {
				i.pages.empty("This agent could not be read: " + err.Error() + ". The run is not touched by that; it is tried again while the agent is open.")
			}
			return
		}
		i.show(v)
	})
}

// show shows what was read.
func (i *inspector) show(v *engine.AgentView) {
	i.view = v
	if v.ID != "" {
		i.title.Set(v.ID, widgets.Neutral)
	}
	i.doing.SetText(i.summary(v))
	i.pages.show(v)
	if s, ok := i.agents.shown.state(i.agent); ok {
		i.enable(s)
	}
	i.content.Refresh()
}

// summary says what the agent is at, and what it took so far.
func (i *inspector) summary(v *engine.AgentView) string {
	var lines []string
	if d := v.Doing; d != nil && i.agents.shown.live {
		now := i.agents.shown.at
		line := "In flight for " + since(now, d.Began)
		if d.Path != "" {
			line += ", at " + d.Path + " for " + since(now, d.Since)
		}
		if d.Service != "" {
			line += ", which asks " + d.Service
		}
		if d.Gate != "" {
			line += ", throttled " + d.Gate
		}
		lines = append(lines, line+".")
	}
	n := len(v.Sessions)
	if n > 0 && v.Sessions[0].Outcome == engine.Unfinished {
		n--
	}
	took := fmt.Sprintf("%d sessions ended", n)
	switch n {
	case 0:
		took = "No session has ended"
	case 1:
		took = "1 session ended"
	}
	switch {
	case v.Earlier == 1:
		took += " (an earlier cycle is not listed)"
	case v.Earlier > 1:
		took += fmt.Sprintf(" (%s earlier cycles are not listed)", engine.FormatCount(int64(v.Earlier)))
	}
	if v.Usage != (engine.Usage{}) {
		took += ", model calls " + engine.FormatUsage(&v.Usage)
	}
	return strings.Join(append(lines, took+"."), "\n")
}

// askToRetire asks first.
func (i *inspector) askToRetire() {
	job, agent, name := i.agents.job, i.agent, i.name()
	ask := dialog.NewConfirm("Retire "+name+"?",
		"It takes part no more from the next cycle on; its session in flight ends at once as cancelled.\nThe run is inexact from then on.",
		func(yes bool) {
			switch {
			case !yes:
			case i.agents.job != job:
				i.agents.orders.tell(otherRun, widgets.Warning)
			default:
				i.agents.orders.retire(agent, name)
			}
		}, i.agents.orders.screen.win)
	ask.SetConfirmText("Retire")
	ask.SetDismissText("Cancel")
	ask.SetConfirmImportance(widget.DangerImportance)
	widgets.Ask(i.agents.orders.screen.win, ask, ask.Confirm)
}

// toggleWatch has the agent's exchanges kept, or no more.
func (i *inspector) toggleWatch() {
	if i.watched == i.agent {
		i.watched = noAgent
	} else {
		i.watched = i.agent
	}
	i.agents.job.Watch(i.watched)
	i.follow()
}

// copyJSON puts what is known of the agent into the clipboard.
func (i *inspector) copyJSON() {
	o := i.agents.orders
	data, err := i.view.JSON()
	if err != nil {
		o.tell("Copying "+i.name()+" did not work: "+err.Error()+".", widgets.Bad)
		return
	}
	fyne.CurrentApp().Clipboard().SetContent(string(data))
	o.tell("Copied what is known of "+i.name()+" as JSON.", widgets.Good)
}

// stateTone is what a state says about its word.
func stateTone(s engine.AgentState) widgets.Tone {
	switch s {
	case engine.AgentInFlight:
		return widgets.Accent
	case engine.AgentThrottled, engine.AgentCancelled:
		return widgets.Warning
	case engine.AgentOK:
		return widgets.Good
	case engine.AgentFailed, engine.AgentTimedOut:
		return widgets.Bad
	default:
		return widgets.Quiet
	}
}
