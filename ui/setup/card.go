package setup

import (
	"image/color"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// card is a scenario in the gallery.
type card struct {
	widget.BaseWidget
	choice           Choice
	chosen           bool
	hovered, focused bool
	pick, star       func(name string)
	mark             *favoriteStar
}

var (
	_ fyne.Tappable     = (*card)(nil)
	_ fyne.Focusable    = (*card)(nil)
	_ desktop.Hoverable = (*card)(nil)
)

func newCard(c Choice, chosen bool, pick, star func(name string)) *card {
	k := &card{choice: c, chosen: chosen, pick: pick, star: star}
	k.mark = newStar(k)
	k.mark.Hidden = c.New
	k.ExtendBaseWidget(k)
	return k
}

// Tapped implements [fyne.Tappable].
func (k *card) Tapped(*fyne.PointEvent) { k.pick(k.choice.Name) }

// TypedKey implements [fyne.Focusable].
func (k *card) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace || e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter {
		k.pick(k.choice.Name)
	}
}

// TypedRune implements [fyne.Focusable]: * adds the scenario to the favorites or removes it.
func (k *card) TypedRune(r rune) {
	if r == '*' && !k.choice.New {
		k.star(k.choice.Name)
	}
}

// FocusGained implements [fyne.Focusable].
func (k *card) FocusGained() { k.set(&k.focused, true) }

// FocusLost implements [fyne.Focusable].
func (k *card) FocusLost() { k.set(&k.focused, false) }

// MouseIn implements [desktop.Hoverable].
func (k *card) MouseIn(*desktop.MouseEvent) { k.set(&k.hovered, true) }

// MouseMoved implements [desktop.Hoverable].
func (k *card) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements [desktop.Hoverable].
func (k *card) MouseOut() { k.set(&k.hovered, false) }

func (k *card) set(flag *bool, value bool) {
	*flag = value
	k.Refresh()
}

// CreateRenderer implements [fyne.Widget].
func (k *card) CreateRenderer() fyne.WidgetRenderer {
	pick := func() { k.pick(k.choice.Name) }
	r := &cardRenderer{card: k, back: canvas.NewRectangle(color.Transparent), title: form.NewCaption(k.choice.Title, pick), about: form.NewCaption(k.about(), pick)}
	r.title.TextSize, r.title.Lines, r.about.Lines = theme.SizeNameText, 2, 1
	r.WidgetRenderer = widgets.NewRenderer(k, container.NewStack(r.back, container.New(cardLayout{}, form.NewStack(r.title, r.about), k.mark)))
	r.paint()
	return r
}

// Text returns the title.
func (k *card) Text() string { return k.choice.Title }

// Parts returns the text below the title.
func (k *card) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{widgets.NewText(k.about())} }

// about returns the line below the title: whether there are unsaved edits, and the description, or the name and the folder of a file
// without one.
func (k *card) about() string {
	switch {
	case k.choice.New:
		return "New scenario, not saved"
	case k.choice.Draft:
		return strings.TrimSuffix("Unsaved edits · "+k.described(), " · ")
	}
	return k.described()
}

func (k *card) described() string {
	if k.choice.About != "" || k.choice.BuiltIn {
		return k.choice.About
	}
	file, folder := filepath.Base(k.choice.Name), filepath.Dir(k.choice.Name)
	if file == k.choice.Title {
		return folder
	}
	return file + " in " + folder
}

type cardRenderer struct {
	fyne.WidgetRenderer
	card         *card
	back         *canvas.Rectangle
	title, about *form.Caption
}

func (r *cardRenderer) paint() {
	r.back.CornerRadius = theme.InputRadiusSize()
	r.back.FillColor, r.back.StrokeWidth = color.Transparent, 0
	title, about := theme.ColorNameForeground, widgets.ColorMuted
	switch {
	case r.card.chosen:
		r.back.FillColor = theme.Color(theme.ColorNamePrimary)
		title, about = theme.ColorNameForegroundOnPrimary, theme.ColorNameForegroundOnPrimary
	case r.card.hovered:
		r.back.FillColor = theme.Color(theme.ColorNameHover)
	}
	if r.card.focused {
		r.back.StrokeColor, r.back.StrokeWidth = theme.Color(theme.ColorNameFocus), theme.InputBorderSize()*2
	}
	r.title.SetColor(title)
	r.about.SetColor(about)
	r.card.mark.paint(about)
}

// Refresh updates the card for its state and the theme.
func (r *cardRenderer) Refresh() {
	r.paint()
	r.WidgetRenderer.Refresh()
}
