package live

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/turn"
	"github.com/throng-sim/throng/ui/internal/words"
)

// pages are the pages about an agent. One is shown at a time.
type pages struct {
	bar, stack *fyne.Container
	all        []*onePage
	nothing    *form.Note // why there is nothing to show
	known      bool
	chosen     *onePage
	sessions   *sessions
	choice     fyne.CanvasObject // of a session
}

// onePage is a page and its button. Except for the sessions, it is a text.
type onePage struct {
	button  *widget.Button
	content fyne.CanvasObject
	label   *widget.Label
	text    func(*engine.AgentView) string
}

func newPages(a *agents) *pages {
	p := &pages{nothing: form.NewNote(""), sessions: newSessions(a), stack: container.NewStack()}
	p.add("Steps", &onePage{content: p.sessions.content})
	p.add("Persona", newTextPage(persona))
	p.add("Memory", newTextPage(memory))
	p.add("Messages", newTextPage(inbox))
	for _, one := range p.all[1:] {
		one.label.TextStyle.Monospace = true
	}
	titles := container.NewHBox()
	for _, one := range p.all {
		titles.Add(one.button)
	}
	p.choice = form.NewCompact(form.NewFrame(p.sessions.choice))
	p.bar = container.NewBorder(nil, nil, form.NewCompact(titles), nil, p.choice)
	p.stack.Add(p.nothing)
	p.chosen = p.all[0]
	p.turn()
	return p
}

func (p *pages) add(title string, one *onePage) {
	one.button = widget.NewButton(title, func() {
		p.chosen = one
		p.turn()
	})
	p.all = append(p.all, one)
	p.stack.Add(one.content)
}

func newTextPage(text func(*engine.AgentView) string) *onePage {
	label := selectable(fyne.TextWrapWord)
	return &onePage{content: container.NewVScroll(form.NewCompact(label)), label: label, text: text}
}

// selectable returns a text that the user can select and copy.
func selectable(wrapping fyne.TextWrap) *widget.Label {
	l := widget.NewLabel("")
	l.Selectable, l.Wrapping = true, wrapping
	return l
}

// set sets a label's text if it differs, so that the selection is kept.
func set(l *widget.Label, text string) {
	if l.Text != text {
		l.SetText(text)
	}
}

// openStep shows a step of a session, once the sessions are known.
func (p *pages) openStep(place engine.Place, path string) {
	p.sessions.place, p.sessions.path = &place, path
	p.chosen = p.all[0]
	p.turn()
	if len(p.sessions.all) > 0 {
		p.sessions.showSession()
	}
}

// turn shows the chosen page.
func (p *pages) turn() {
	for _, one := range p.all {
		importance := widget.LowImportance
		if one == p.chosen {
			importance = widget.MediumImportance
		}
		if one.button.Importance != importance {
			one.button.Importance = importance
			one.button.Refresh()
		}
		see(one.content, one == p.chosen && p.known)
	}
	see(p.nothing, !p.known)
	see(p.choice, p.known && p.chosen == p.all[0])
	p.stack.Refresh()
}

// empty shows why there is nothing to show.
func (p *pages) empty(why string) {
	p.nothing.SetText(why)
	p.sessions.forget()
	p.known = false
	p.turn()
}

// show shows an agent.
func (p *pages) show(v *engine.AgentView) {
	p.sessions.show(v)
	for _, one := range p.all {
		if one.label != nil {
			set(one.label, turn.Clip(one.text(v)))
		}
	}
	if !p.known {
		p.known = true
		p.turn()
	}
}

// persona returns the attributes of an agent, one per line.
func persona(v *engine.AgentView) string {
	if len(v.Persona) == 0 {
		return "This agent has no attributes."
	}
	return facts(v.Persona)
}

// mostName is the maximum width of the names of facts, in characters.
const mostName = 24

// facts returns names and values in two columns, for a monospace font.
func facts(all []engine.Fact) string {
	wide := 0
	for _, f := range all {
		wide = max(wide, min(utf8.RuneCountInString(f.Name), mostName))
	}
	lines := make([]string, len(all))
	for i, f := range all {
		lines[i] = fmt.Sprintf("%-*s  %s", wide, f.Name, words.Brief(f.Value))
	}
	return strings.Join(lines, "\n")
}

// memory returns an agent's memory at the newest barrier.
func memory(v *engine.AgentView) string {
	if len(v.Memory) == 0 && len(v.Notes) == 0 {
		return "Its memory is empty. Values that its steps store with remember appear here from the next cycle."
	}
	text := facts(v.Memory)
	if len(v.Notes) > 0 {
		if text != "" {
			text += "\n\n"
		}
		text += "Notes, oldest first:\n" + strings.Join(v.Notes, "\n")
	}
	return text
}

// inbox returns the messages to an agent, the newest first.
func inbox(v *engine.AgentView) string {
	if len(v.Inbox) == 0 {
		return "No messages. Message… sends one, which arrives in the next cycle."
	}
	lines := make([]string, 0, len(v.Inbox))
	for i := len(v.Inbox) - 1; i >= 0; i-- {
		m := &v.Inbox[i]
		from := m.From
		if from == "" {
			from = "the user"
		}
		lines = append(lines, fmt.Sprintf("From %s, cycle %d:\n%s", from, m.Cycle, m.Body))
	}
	return strings.Join(lines, "\n\n")
}
