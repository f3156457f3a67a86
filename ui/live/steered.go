package live

import "fyne.io/fyne/v2"

// Steering returns the panel of the limit. It is hidden before the first run.
func (s *Screen) Steering() fyne.CanvasObject {
	if s.job == nil {
		return nil
	}
	return s.limit.content
}
