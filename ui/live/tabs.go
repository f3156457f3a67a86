package live

import (
	"slices"

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

// offer shows or hides a tab. If it is the chosen one, the first tab is chosen instead.
func (t *tabs) offer(name string, offered bool) {
	if t.out[name] == !offered {
		return
	}
	chosen := t.shown()
	t.out[name] = !offered
	t.choice.SetOptions(t.names())
	t.choice.Choose(max(slices.Index(t.names(), chosen), 0))
	t.arrange()
}

// names returns the names of the offered tabs.
func (t *tabs) names() (all []string) {
	for _, one := range t.all {
		if !t.out[one.name] {
			all = append(all, one.name)
		}
	}
	return all
}

// tabs are the middle of the screen, and the choice above it.
type tabs struct {
	content *fyne.Container
	all     []tab
	out     map[string]bool // names of tabs that are not offered
	choice  *widgets.Segments
	body    *fyne.Container
	changed func()
}

// newTabs makes the tabs. changed is called when another one becomes visible.
func newTabs(changed func(), all ...tab) *tabs {
	t := &tabs{all: all, out: map[string]bool{}, changed: changed, body: container.NewStack()}
	for _, one := range all {
		t.body.Add(one.object)
	}
	t.choice = widgets.NewSegments(t.names(), func(int) {
		t.arrange()
		t.changed()
	})
	t.content = container.NewBorder(container.NewHBox(t.choice), nil, nil, nil, t.body)
	t.arrange()
	return t
}

// next shows the next tab.
func (t *tabs) next() { t.choice.Pick((t.choice.Chosen() + 1) % len(t.names())) }

// reveal shows the tab with a name.
func (t *tabs) reveal(name string) {
	t.choice.Pick(slices.Index(t.names(), name))
}

// shown returns the name of the visible tab.
func (t *tabs) shown() string { return t.choice.Selected() }

// arrange shows the chosen tab.
func (t *tabs) arrange() {
	for _, one := range t.all {
		see(one.object, one.name == t.shown())
	}
	t.body.Refresh()
}

// draw draws the visible tab.
func (t *tabs) draw(f *feed, charts bool) {
	for _, one := range t.all {
		if one.name == t.shown() {
			one.draw(f, charts)
		}
	}
}
