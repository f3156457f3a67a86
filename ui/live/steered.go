package live

import "fyne.io/fyne/v2"

// Steering is where the limit is set; it is not to be seen before the first run.
func (s *Screen) Steering() fyne.CanvasObject {
	if s.job == nil {
		return nil
	}
	return s.limit.content
}
