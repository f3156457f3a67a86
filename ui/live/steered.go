package live

import (
	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/form"
)

// Marks are parts of the screen that a tour points at. Parts that are scrolled out of view are nil.
type Marks struct{ Limit, Pause, Resume, Tabs, Grid fyne.CanvasObject }

// Marks returns the parts that are visible; none before the first run.
func (s *Screen) Marks() (m Marks) {
	if s.job == nil {
		return m
	}
	seen := func(o fyne.CanvasObject) fyne.CanvasObject {
		driver := fyne.CurrentApp().Driver()
		y := driver.AbsolutePositionForObject(o).Y - driver.AbsolutePositionForObject(s.page.scroll).Y
		if y < 0 || y+o.MinSize().Height > s.page.scroll.Size().Height {
			return nil
		}
		return o
	}
	return Marks{seen(s.limit.content), seen(s.orders.pause), seen(s.orders.resume), seen(s.tabs.choice), seen(s.agents.grid)}
}

// ToTop scrolls to the header and the limit.
func (s *Screen) ToTop() { s.page.scroll.ScrollToTop() }

// ToTabs scrolls to the tabs.
func (s *Screen) ToTabs() { form.Reveal(s.page.scroll, s.tabs.choice) }

// Tab returns the name of the visible tab.
func (s *Screen) Tab() string { return s.tabs.shown() }

// Inspecting reports whether the details of an agent are open.
func (s *Screen) Inspecting() bool { return s.agents.inspector.agent != noAgent }
