package widgets

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Bar is a row of buttons at the end of the room that it has. Those that do not fit are in a menu behind its last one. A
// button that is hidden is not offered at all.
type Bar struct {
	widget.BaseWidget
	buttons []*widget.Button
	places  []*fyne.Container // of the buttons: hidden for those in the menu, which count as visible all the same
	more    *widget.Button
	inMenu  []*widget.Button
}

// NewBar makes a bar; the last buttons go into the menu first.
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

// Offer says whether one of the buttons is offered at all.
func (b *Bar) Offer(button *widget.Button, offered bool) {
	if button.Hidden == offered {
		button.Hidden = !offered
		b.Refresh()
	}
}

// Menu is what the last button offers now.
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

// arrange shows as many buttons as fit into a width.
func (b *Bar) arrange(width float32) {
	gap := theme.Padding()
	need := func(shown int) float32 { // of the first few that are offered, and the menu's where some are left
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
		if left > 0 {
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
	b.more.Hidden = len(b.inMenu) == 0
}

// Parts are the buttons, and that of the menu.
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

// MinSize has room for the menu's button alone.
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

// Refresh follows what is offered, and the theme.
func (r *barRenderer) Refresh() { r.Layout(r.bar.Size()) }
