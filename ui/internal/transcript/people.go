package transcript

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
)

// people is the list of agents: everyone first.
type people struct {
	pane    *Pane
	content fyne.CanvasObject
	find    *form.Entry
	note    *form.Note
	list    *widget.List
	found   []int // nil: all
	number  int   // of the newest search
	marking bool  // the program selects a row
}

func newPeople(p *Pane) people {
	return people{pane: p}.build()
}

func (l people) build() people {
	l.find, l.note = form.NewEntry(), form.NewNote("")
	l.note.Hide()
	l.find.SetPlaceHolder("Find an agent")
	l.list = widget.NewList(func() int { return l.pane.people.count() }, newName, func(i int, o fyne.CanvasObject) {
		o.(*widget.Label).SetText(l.pane.people.name(i))
	})
	l.list.HideSeparators = true
	l.list.OnSelected = func(i int) { l.pane.people.choose(i) }
	l.find.OnChanged = func(text string) { l.pane.people.search(text) }
	l.find.OnSubmitted = func(string) {
		if q := &l.pane.people; len(q.found) > 0 {
			q.list.Select(q.first())
		}
	}
	l.content = container.NewBorder(container.NewVBox(form.NewCompact(l.find), l.note), nil, nil, nil, l.list)
	return l
}

func newName() fyne.CanvasObject {
	name := widget.NewLabel("shopper-1000")
	name.Truncation = fyne.TextTruncateEllipsis
	name.SizeName = theme.SizeNameText
	return name
}

// begin lists all agents of another run.
func (l *people) begin() {
	l.number++
	l.found = nil
	l.find.Text = ""
	l.find.Refresh()
	l.say("")
	l.list.Refresh()
	l.mark(everyone)
}

// first is the row of the first found agent.
func (l *people) first() int { return l.offset() }

// offset is the number of rows above the agents: everyone, unless agents are searched.
func (l *people) offset() int {
	if l.found != nil {
		return 0
	}
	return 1
}

func (l *people) count() int {
	switch {
	case l.pane.of == nil:
		return 0
	case l.found != nil:
		return len(l.found)
	}
	return l.pane.of.Agents() + 1
}

func (l *people) agent(i int) int {
	switch {
	case l.found == nil:
		return i - 1
	case i < len(l.found):
		return l.found[i]
	}
	return everyone
}

func (l *people) name(i int) string {
	if a := l.agent(i); a >= 0 {
		return l.pane.of.Name(a)
	}
	return "Everyone"
}

func (l *people) choose(i int) {
	if a := l.agent(i); !l.marking && a != l.pane.query.Agent {
		l.pane.begin(func(q *view.TranscriptQuery) { q.Agent = a })
	}
}

// mark selects the row of an agent, without reading.
func (l *people) mark(agent int) {
	l.marking = true
	defer func() { l.marking = false }()
	if l.found != nil {
		l.found = nil
		l.find.Text = ""
		l.find.Refresh()
		l.list.Refresh()
	}
	l.list.Select(agent + 1)
}

// search lists the agents that match a text.
func (l *people) search(text string) {
	l.number++
	number, of := l.number, l.pane.of
	text = strings.TrimSpace(text)
	if text == "" || of == nil {
		l.found = nil
		l.say("")
		l.list.UnselectAll()
		l.list.Refresh()
		return
	}
	type answer struct {
		found []int
		more  bool
	}
	async.Work(func() (answer, error) {
		found, more, err := of.Search(context.Background(), text, mostFound)
		return answer{found, more}, err
	}, func(got answer, err error) {
		if l.number != number {
			return
		}
		switch {
		case err != nil:
			l.say("Not an ID or expression.")
			return
		case len(got.found) == 0:
			l.say("No agents found.")
		case got.more:
			l.say("The first 10,000; there are more.")
		default:
			l.say("")
		}
		l.found = append([]int{}, got.found...)
		l.list.UnselectAll()
		l.list.Refresh()
	})
}

func (l *people) say(text string) {
	l.note.SetText(text)
	l.note.Hidden = text == ""
}
