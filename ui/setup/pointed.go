package setup

import "fyne.io/fyne/v2"

// Gallery is where a scenario is chosen.
func (s *Screen) Gallery() fyne.CanvasObject { return s.gallery.panel }

// Button is what launches.
func (s *Screen) Button() fyne.CanvasObject { return s.bar.launch }

// Launch starts what is set up, as the button does.
func (s *Screen) Launch() { s.launch() }
