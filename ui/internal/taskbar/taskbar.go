// Package taskbar shows the progress of a run on the program's icon: in the Dock of macOS, and in Linux docks with Unity's launcher
// protocol (GNOME on Ubuntu, KDE Plasma). Elsewhere it does nothing.
package taskbar

// Icon is the program's icon.
type Icon struct {
	platform
	percent int // as shown; none if no progress is
}

// none is the percentage of an icon without progress.
const none = -1

// New returns the icon of the program with an ID, for example "com.example.program". The picture is a PNG; without it, macOS shows only a
// percentage.
func New(id string, picture []byte) *Icon {
	return &Icon{platform: newPlatform(id, picture), percent: none}
}

// Show shows a progress of 0 to 1, or none if it is negative. It does not wait, and does nothing if the percentage is the same as before. Call it
// on the UI goroutine.
func (i *Icon) Show(progress float64) {
	percent := none
	if progress >= 0 {
		percent = int(100 * min(progress, 1))
	}
	if percent != i.percent {
		i.percent = percent
		i.draw(percent)
	}
}
