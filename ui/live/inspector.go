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
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// noAgent is the index for no agent.
const noAgent = -1

// readEvery is how often an open agent is read again during a run.
const readEvery = 2 * time.Second

// inspector shows the details of one agent, and takes orders for it.
type inspector struct {
	agents                              *agents
	now                                 func() time.Time
	content                             *fyne.Container
	title                               *widgets.Line
	state                               *widgets.Badge
	doing                               *form.Note
	again, retire, message, watch, copy *widget.Button
	pages                               *pages

	agent   int // noAgent if none
	view    *engine.AgentView
	watched int // the agent whose exchanges are recorded
	read    time.Time
	seen    engine.AgentState  // the state at the last read
	cancel  context.CancelFunc // cancels the read in progress; nil if none
}

func newInspector(a *agents) *inspector {
	i := &inspector{agents: a, now: time.Now, agent: noAgent, watched: noAgent}
	i.title = widgets.NewLine(theme.SizeNameSubHeadingText, widgets.Neutral).Bold()
	i.state = widgets.NewBadge("", widgets.Neutral)
	i.doing = form.NewNote("")
	i.again = widget.NewButton("Run again", func() { a.orders.requeue(i.agent, i.name()) })
	i.retire = widget.NewButton("Retire…", i.askToRetire)
	i.message = widget.NewButton("Message…", func() { a.orders.askToSend(i.name()) })
	i.watch = widget.NewButton("Watch", i.toggleWatch)
	i.copy = widget.NewButton("Copy as JSON", i.copyJSON)
	i.pages = newPages(a)
	shut := widget.NewButtonWithIcon("", theme.CancelIcon(), a.close)
	shut.Importance = widget.LowImportance
	head := container.NewBorder(nil, nil, nil, shut, container.New(inline{i.title}, i.title, i.state))
	hands := container.New(&form.Flow{}, i.again, i.retire, i.message, i.watch, i.copy)
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
	i.pages.empty("Loading…")
	i.follow()
}

// close closes the agent.
func (i *inspector) close() {
	i.forget()
	i.agent = noAgent
}

// forget drops the shown agent and the read in progress.
func (i *inspector) forget() {
	if i.cancel != nil {
		i.cancel()
		i.cancel = nil
	}
	i.view, i.read = nil, time.Time{}
	enable(i.copy, false)
}

// name returns the agent's name.
func (i *inspector) name() string {
	if name := i.agents.job.Name; name != nil {
		if text := name(i.agent); text != "" {
			return text
		}
	}
	return fmt.Sprint(i.agent)
}

// follow updates the state, and reads the agent again if that is stale.
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

// old reports whether the agent may have changed since it was read.
func (i *inspector) old() bool {
	m := &i.agents.shown
	state, _ := m.state(i.agent)
	return i.view == nil || m.live && (m.phase != engine.Ended || i.seen != state)
}

// enable enables the orders that are possible in a state.
func (i *inspector) enable(s engine.AgentState) {
	m := &i.agents.shown
	live := m.live && m.phase != engine.Ended && m.phase != engine.Draining
	enable(i.again, live && (s == engine.AgentFailed || s == engine.AgentTimedOut))
	enable(i.retire, live && s != engine.AgentRetired)
	enable(i.message, live && s != engine.AgentRetired && i.agents.job.Broadcast != nil)
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

// look reads the agent. Only one read is in progress at a time.
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
				i.pages.empty("Cannot read this agent: " + err.Error() + ". The run is not affected. Throng tries again while the agent is open.")
			}
			return
		}
		i.show(v)
	})
}

// show shows an agent.
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

// summary describes what the agent does, and its totals.
func (i *inspector) summary(v *engine.AgentView) string {
	var lines []string
	if d := v.Activity; d != nil && i.agents.shown.live {
		now := i.agents.shown.at
		line := "In flight for " + since(now, d.Began)
		if d.Path != "" {
			line += ", step " + d.Path + " for " + since(now, d.Since)
		}
		if d.Service != "" {
			line += ", calling " + d.Service
		}
		if d.ThrottledBy != "" {
			line += ", throttled: " + d.ThrottledBy
		}
		lines = append(lines, line+".")
	}
	n := len(v.Sessions)
	if n > 0 && v.Sessions[0].Outcome == engine.Unfinished {
		n--
	}
	took := fmt.Sprintf("%d sessions completed", n)
	switch n {
	case 0:
		took = "No session completed"
	case 1:
		took = "1 session completed"
	}
	switch {
	case v.Earlier == 1:
		took += " (an earlier cycle is not listed)"
	case v.Earlier > 1:
		took += fmt.Sprintf(" (%s earlier cycles are not listed)", engine.FormatCount(int64(v.Earlier)))
	}
	if v.Usage != (engine.Usage{}) {
		took += ", model calls " + view.FormatUsage(&v.Usage)
	}
	return strings.Join(append(lines, took+"."), "\n")
}

// askToRetire asks before it retires the agent.
func (i *inspector) askToRetire() {
	job, agent, name := i.agents.job, i.agent, i.name()
	ask := dialog.NewConfirm("Retire "+name+"?",
		"This cancels its session in flight and retires the agent from the next cycle.\nThe run becomes inexact.",
		func(yes bool) {
			switch {
			case !yes:
			case i.agents.job != job:
				i.agents.orders.report(otherRun, widgets.Warning)
			default:
				i.agents.orders.retire(agent, name)
			}
		}, i.agents.orders.screen.win)
	ask.SetConfirmText("Retire")
	ask.SetDismissText("Cancel")
	ask.SetConfirmImportance(widget.DangerImportance)
	widgets.Ask(i.agents.orders.screen.win, ask, ask.Confirm)
}

// toggleWatch starts or stops recording the agent's exchanges.
func (i *inspector) toggleWatch() {
	if i.watched == i.agent {
		i.watched = noAgent
	} else {
		i.watched = i.agent
	}
	i.agents.job.Watch(i.watched)
	i.follow()
}

// copyJSON copies the agent to the clipboard as JSON.
func (i *inspector) copyJSON() {
	o := i.agents.orders
	data, err := view.AgentJSON(i.view)
	if err != nil {
		o.report("Cannot copy "+i.name()+": "+err.Error()+".", widgets.Bad)
		return
	}
	fyne.CurrentApp().Clipboard().SetContent(string(data))
	o.report("Copied "+i.name()+" as JSON.", widgets.Good)
}

// stateTone returns the color of a state.
func stateTone(s engine.AgentState) widgets.Tone {
	switch s {
	case engine.AgentInFlight:
		return widgets.Accent
	case engine.AgentThrottled, engine.AgentCanceled:
		return widgets.Warning
	case engine.AgentOK:
		return widgets.Good
	case engine.AgentFailed, engine.AgentTimedOut:
		return widgets.Bad
	default:
		return widgets.Quiet
	}
}
