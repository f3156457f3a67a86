package widgets

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Bar is a row of buttons. Buttons that do not fit are in a menu after the last one. Hidden buttons are not in the menu.
type Bar struct {
	widget.BaseWidget
	rare    []*widget.Button // only in the menu
	buttons []*widget.Button
	places  []*fyne.Container // of the buttons; hidden for those in the menu, which still count as visible
	more    *widget.Button
	inMenu  []*widget.Button
}

// NewBar returns a bar; the last buttons move to the menu first.
func NewBar(buttons ...*widget.Button) *Bar {
	b := &Bar{buttons: buttons}
	for _, button := range buttons {
		b.places = append(b.places, container.NewStack(button))
	}
	b.more = widget.NewButtonWithIcon("More", theme.MenuDropDownIcon(), b.open)
	b.more.IconPlacement = widget.ButtonIconTrailingText
	b.ExtendBaseWidget(b)
	return b
}

// Rarely adds buttons that are always in the menu.
func (b *Bar) Rarely(buttons ...*widget.Button) *Bar {
	b.rare = append(b.rare, buttons...)
	return b
}

// Offer shows or hides one of the buttons.
func (b *Bar) Offer(button *widget.Button, offered bool) {
	switch {
	case offered && button.Hidden:
		button.Show() // this also applies a look that has changed since
	case !offered && !button.Hidden:
		button.Hide()
	default:
		return
	}
	b.Refresh()
}

// Menu returns the menu of the buttons that do not fit.
func (b *Bar) Menu() *fyne.Menu {
	menu := fyne.NewMenu("")
	for _, button := range b.inMenu {
		item := fyne.NewMenuItem(button.Text, button.OnTapped)
		item.Icon, item.Disabled = button.Icon, button.Disabled()
		menu.Items = append(menu.Items, item)
	}
	return menu
}

func (b *Bar) open() {
	driver := fyne.CurrentApp().Driver()
	menu := widget.NewPopUpMenu(b.Menu(), driver.CanvasForObject(b))
	at := driver.AbsolutePositionForObject(b.more)
	menu.ShowAtPosition(fyne.NewPos(max(at.X+b.more.Size().Width-menu.MinSize().Width, 0), at.Y+b.more.Size().Height))
}

// arrange shows as many buttons as fit in a width.
func (b *Bar) arrange(width float32) {
	gap := theme.Padding()
	need := func(shown int) float32 { // the width of the first visible buttons, with the menu's button if some are left
		sum, left := -gap, 0
		for _, button := range b.buttons {
			switch {
			case button.Hidden:
			case shown > 0:
				sum += button.MinSize().Width + gap
				shown--
			default:
				left++
			}
		}
		if left > 0 || len(b.rare) > 0 {
			sum += b.more.MinSize().Width + gap
		}
		return sum
	}
	shown := len(b.buttons)
	for shown > 0 && need(shown) > width {
		shown--
	}
	b.inMenu = nil
	for i, button := range b.buttons {
		b.places[i].Hidden = button.Hidden || shown == 0
		switch {
		case button.Hidden:
		case shown > 0:
			shown--
		default:
			b.inMenu = append(b.inMenu, button)
		}
	}
	for _, button := range b.rare {
		if !button.Hidden {
			b.inMenu = append(b.inMenu, button)
		}
	}
	b.more.Hidden = len(b.inMenu) == 0
}

// Parts returns the buttons and the menu's button.
func (b *Bar) Parts() []fyne.CanvasObject {
	parts := make([]fyne.CanvasObject, 0, len(b.places)+1)
	for _, place := range b.places {
		parts = append(parts, place)
	}
	return append(parts, b.more)
}

// CreateRenderer implements [fyne.Widget].
func (b *Bar) CreateRenderer() fyne.WidgetRenderer {
	return &barRenderer{bar: b, objects: b.Parts()}
}

type barRenderer struct {
	bar     *Bar
	objects []fyne.CanvasObject
}

func (r *barRenderer) Destroy()                     {}
func (r *barRenderer) Objects() []fyne.CanvasObject { return r.objects }

// MinSize returns the size of the menu's button.
func (r *barRenderer) MinSize() fyne.Size { return r.bar.more.MinSize() }

func (r *barRenderer) Layout(size fyne.Size) {
	r.bar.arrange(size.Width)
	x := size.Width
	for _, o := range slices.Backward(r.objects) {
		if !o.Visible() {
			continue
		}
		width := o.MinSize().Width
		x -= width
		o.Move(fyne.NewPos(x, 0))
		o.Resize(fyne.NewSize(width, size.Height))
		x -= theme.Padding()
	}
}

// Refresh updates the bar for its buttons and the theme.
func (r *barRenderer) Refresh() { r.Layout(r.bar.Size()) }
