package prose

import (
	"bytes"
	"image"
	_ "image/png" // the guide's pictures

	"fyne.io/fyne/v2"
)

// sizeOf is how large a picture is drawn where there is room.
func (v *View) sizeOf(source string) fyne.Size {
	if v.ways.Picture == nil {
		return fyne.Size{}
	}
	r := v.ways.Picture(source)
	if r == nil {
		return fyne.Size{}
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(r.Content()))
	if err != nil {
		return fyne.Size{}
	}
	return fyne.NewSize(float32(c.Width), float32(c.Height))
}
