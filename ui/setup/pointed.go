package setup

import "fyne.io/fyne/v2"

// Gallery returns the list of scenarios.
func (s *Screen) Gallery() fyne.CanvasObject { return s.gallery.panel }

// Button returns the button that launches.
func (s *Screen) Button() fyne.CanvasObject { return s.bar.launch }

// Launch launches the run, as the button does.
func (s *Screen) Launch() { s.launch() }
