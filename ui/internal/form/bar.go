package form

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// NewBar puts buttons and what belongs to them in a line, the ones of right at the right end. Where the line is too short
// they go on in further ones.
func NewBar(left, right []fyne.CanvasObject) *fyne.Container {
	all := append(append([]fyne.CanvasObject{}, left...), right...)
	return &fyne.Container{Layout: &bar{left: len(left)}, Objects: all}
}

// bar lays objects out in lines. Its height is for the width of the last layout, so it stands in a [NewStack].
type bar struct {
	left  int // how many stand at the left
	width float32
}

// Layout is part of [fyne.Layout].
func (b *bar) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	b.width = size.Width
	lines := b.lines(objects)
	y := float32(0)
	for _, line := range lines {
		x, height := float32(0), highest(line.objects)
		for i, o := range line.objects {
			if len(lines) == 1 && i == line.left {
				x = max(x, size.Width-line.rest)
			}
			least := o.MinSize()
			o.Move(fyne.NewPos(x, y+(height-least.Height)/2))
			o.Resize(least)
			x += least.Width + theme.Padding()
		}
		y += height + theme.Padding()
	}
}

// MinSize is part of [fyne.Layout].
func (b *bar) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var size fyne.Size
	for i, line := range b.lines(objects) {
		if i > 0 {
			size.Height += theme.Padding()
		}
		size.Height += highest(line.objects)
		for _, o := range line.objects {
			size.Width = max(size.Width, o.MinSize().Width)
		}
	}
	return size
}

// barLine is what fits beside each other.
type barLine struct {
	objects []fyne.CanvasObject
	left    int     // how many of them stand at the left
	rest    float32 // how wide the others are
}

func (b *bar) lines(objects []fyne.CanvasObject) (lines []barLine) {
	x := float32(0)
	for i, o := range objects {
		if !o.Visible() {
			continue
		}
		wide := o.MinSize().Width
		if len(lines) == 0 || b.width > 0 && x+wide > b.width {
			lines, x = append(lines, barLine{}), 0
		}
		line := &lines[len(lines)-1]
		line.objects = append(line.objects, o)
		if i < b.left {
			line.left++
		} else {
			line.rest += wide
			if i > b.left {
				line.rest += theme.Padding()
			}
		}
		x += wide + theme.Padding()
	}
	return lines
}

func highest(objects []fyne.CanvasObject) (height float32) {
	for _, o := range objects {
		height = max(height, o.MinSize().Height)
	}
	return height
}
