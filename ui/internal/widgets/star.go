package widgets

import (
	_ "embed"

	"fyne.io/fyne/v2"
)

//go:embed star.svg
var starFull []byte

//go:embed staroutline.svg
var starEmpty []byte

var (
	fullStar  = fyne.NewStaticResource("star.svg", starFull)
	emptyStar = fyne.NewStaticResource("staroutline.svg", starEmpty)
)

// StarIcon returns a full star, or an empty one.
func StarIcon(full bool) fyne.Resource {
	if full {
		return fullStar
	}
	return emptyStar
}
