package widgets

import (
	"reflect"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// frame sets one inset for the title, the content and the buttons of a dialog that is open on top of the window: the toolkit puts the title
// farther left than the content.
func frame(on fyne.CanvasObject) {
	popUp := popUpOf(on)
	if popUp == nil {
		return
	}
	box, ok := popUp.Content.(*fyne.Container)
	if !ok || len(box.Objects) != frameParts {
		return
	}
	if _, titled := box.Objects[frameTitle].(*widget.Label); !titled { // a file dialog has other parts
		return
	}
	size := box.Size()
	box.Layout = dialogFrame{}
	popUp.Resize(size.Max(box.MinSize()))
	box.Refresh()
}

// popUpOf returns the pop-up that an overlay shows, or nil. The overlay's type is internal to the toolkit; its field is not.
func popUpOf(on fyne.CanvasObject) *widget.PopUp {
	v := reflect.Indirect(reflect.ValueOf(on))
	if v.Kind() != reflect.Struct {
		return nil
	}
	field := v.FieldByName("Content")
	if !field.IsValid() || !field.CanInterface() {
		return nil
	}
	popUp, _ := reflect.TypeAssert[*widget.PopUp](field)
	return popUp
}

// The parts of the toolkit's dialogs. The first is an icon, which none of ours has.
const (
	frameIcon = iota
	frameBack
	frameContent
	frameButtons
	frameTitle
	frameParts
)

// Distances in a dialog, in device-independent pixels.
const (
	frameInset = 16
	frameGap   = 12 // above and below the content
)

// dialogFrame lays out a dialog: the title, the content, and the buttons at the right.
type dialogFrame struct{}

// head returns the height above the content.
func (dialogFrame) head(objects []fyne.CanvasObject) float32 {
	return frameInset + objects[frameTitle].MinSize().Height - 2*theme.InnerPadding() + frameGap
}

// foot returns the height below the content.
func (dialogFrame) foot(objects []fyne.CanvasObject) float32 {
	if high := objects[frameButtons].MinSize().Height; high > 0 {
		return frameGap + high + frameInset
	}
	return frameInset
}

// MinSize implements [fyne.Layout].
func (f dialogFrame) MinSize(objects []fyne.CanvasObject) fyne.Size {
	content := objects[frameContent].MinSize()
	title := objects[frameTitle].MinSize().Width - 2*theme.InnerPadding()
	return fyne.NewSize(max(content.Width, objects[frameButtons].MinSize().Width, title)+2*frameInset, f.head(objects)+content.Height+f.foot(objects))
}

// Layout implements [fyne.Layout].
func (f dialogFrame) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	put := func(i int, x, y float32, size fyne.Size) {
		objects[i].Move(fyne.NewPos(x, y))
		objects[i].Resize(size)
	}
	put(frameIcon, 0, 0, fyne.Size{})
	put(frameBack, 0, 0, size)
	inner, title, buttons := theme.InnerPadding(), objects[frameTitle].MinSize(), objects[frameButtons].MinSize()
	put(frameTitle, frameInset-inner, frameInset-inner, title)
	head := f.head(objects)
	put(frameContent, frameInset, head, fyne.NewSize(size.Width-2*frameInset, size.Height-head-f.foot(objects)))
	put(frameButtons, size.Width-frameInset-buttons.Width, size.Height-frameInset-buttons.Height, buttons)
}

// DialogSize returns the size of the dialog that is open on top of a window; zero if there is none.
func DialogSize(c fyne.Canvas) (size fyne.Size) {
	if top := c.Overlays().Top(); top != nil {
		if popUp := popUpOf(top); popUp != nil {
			return popUp.Content.Size()
		}
	}
	return size
}
