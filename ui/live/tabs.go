package live

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// tab is one way to look at the run.
type tab struct {
	name   string
	object fyne.CanvasObject
	draw   func(f *feed, charts bool) // not called while the tab is hidden; charts says that there is another second
}

// tabs are the middle of the screen, and the choice above it.
type tabs struct {
	content *fyne.Container
	all     []tab
	choice  *widgets.Segments
	body    *fyne.Container
	changed func()
}

// newTabs makes the tabs. changed is called when another one becomes visible.
func newTabs(changed func(), all ...tab) *tabs {
	t := &tabs{all: all, changed: changed, body: container.NewStack()}
	var names []string
	for _, one := range all {
		names = append(names, one.name)
		t.body.Add(one.object)
	}
	t.choice = widgets.NewSegments(names, func(int) {
		t.arrange()
		t.changed()
	})
	t.content = container.NewBorder(container.NewHBox(t.choice), nil, nil, nil, t.body)
	t.arrange()
	return t
}

// next shows the next tab.
func (t *tabs) next() { t.choice.Pick((t.choice.Chosen() + 1) % len(t.all)) }

// reveal shows the tab with a name.
func (t *tabs) reveal(name string) {
	for i, one := range t.all {
		if one.name == name && i != t.choice.Chosen() {
			t.choice.Pick(i)
		}
	}
}

// shown returns the name of the visible tab.
func (t *tabs) shown() string { return t.all[t.choice.Chosen()].name }

// arrange shows the chosen tab.
func (t *tabs) arrange() {
	for i, one := range t.all {
		see(one.object, i == t.choice.Chosen())
	}
	t.body.Refresh()
}

// draw draws the visible tab.
func (t *tabs) draw(f *feed, charts bool) { t.all[t.choice.Chosen()].draw(f, charts) }
