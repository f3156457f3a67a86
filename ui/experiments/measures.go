package experiments

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/ui/internal/form"
)

// measures is the measure that all tabs show.
type measures struct{ chosen string }

// picker is a selection of the measure on a tab.
type picker struct {
	field   *widget.Select
	of      *measures
	filling bool // the program sets the selection
}

// newPicker returns a selection that calls picked when the user chooses another measure.
func (m *measures) newPicker(picked func()) *picker {
	p := &picker{of: m}
	p.field = widget.NewSelect(nil, func(name string) {
		if !p.filling {
			m.chosen = name
			picked()
		}
	})
	return p
}

// index returns the chosen measure of a table, the first one if there is no such measure, and shows it; -1 without measures.
func (p *picker) index(t *findings.Table) int {
	names := make([]string, len(t.Measures))
	for i := range t.Measures {
		names[i] = t.Measures[i].Name
	}
	if len(names) == 0 {
		return -1
	}
	at := max(slices.Index(names, p.of.chosen), 0)
	setOptions(p.field, &p.filling, names, at)
	return at
}

// wide returns the selection in a frame of a fixed width.
func (p *picker) wide() fyne.CanvasObject {
	return container.NewBorder(nil, nil, form.NewWide(measureEms, form.NewFrame(p.field)), nil)
}

// measureEms is the width of a selection of the measure, in text heights.
const measureEms = 22

// setOptions sets the options of a selection and the chosen one, if they differ.
func setOptions(s *widget.Select, filling *bool, options []string, at int) {
	*filling = true
	if !slices.Equal(s.Options, options) {
		s.SetOptions(options)
	}
	if s.SelectedIndex() != at {
		s.SetSelectedIndex(at)
	}
	*filling = false
}
