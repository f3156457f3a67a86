package live

import "fyne.io/fyne/v2"

// Marks are parts of the screen that a tour points at. Parts that are scrolled out of view are nil.
type Marks struct{ Limit, Pause, Resume, Tabs, Grid fyne.CanvasObject }

// Marks returns the parts that are visible; none before the first run.
func (s *Screen) Marks() (m Marks) {
	if s.job == nil {
		return m
	}
	m.Tabs, m.Grid = s.tabs.choice, s.agents.grid
	if s.page.scroll.Offset.Y == 0 {
		m.Limit, m.Pause, m.Resume = s.limit.content, s.orders.pause, s.orders.resume
	}
	return m
}

// ToTop scrolls to the header and the limit.
func (s *Screen) ToTop() { s.page.scroll.ScrollToTop() }

// Tab returns the name of the visible tab.
func (s *Screen) Tab() string { return s.tabs.shown() }

// Inspecting reports whether the details of an agent are open.
func (s *Screen) Inspecting() bool { return s.agents.inspector.agent != noAgent }
