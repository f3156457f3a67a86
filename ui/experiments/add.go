package experiments

import (
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Extension is how the names of experiment files end.
const Extension = ".experiment.yaml"

// Name returns the name of an experiment file without its ending.
func Name(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), Extension)
	return strings.TrimSuffix(strings.TrimSuffix(name, ".yml"), ".yaml")
}

// adder adds experiments to the list: existing files and new ones.
type adder struct {
	win    fyne.Window
	added  func(path string)
	create func()
}

// open asks for a file and opens it.
func (a *adder) open() {
	widgets.PickFile(a.win, "Open an experiment", "Open", []string{".yaml"}, a.added)
}
