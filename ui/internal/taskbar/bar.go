package taskbar

import (
	"bytes"
	"image"
	"image/color"
	"image/png"

	"golang.org/x/image/draw"
)

// Colors of the bar.
var (
	barEdge   = color.NRGBA{255, 255, 255, 255}
	barGround = color.NRGBA{40, 44, 56, 255}
	barFilled = color.NRGBA{64, 156, 255, 255}
)

// tileSize is the width of a tile, in pixels.
const tileSize = 256

// tile returns an icon with a progress bar of 0 to 100 percent at its lower edge, as PNG. The icon is a PNG too.
func tile(icon []byte, percent int) ([]byte, error) {
	from, err := png.Decode(bytes.NewReader(icon))
	if err != nil {
		return nil, err
	}
	to := image.NewNRGBA(image.Rect(0, 0, tileSize, tileSize))
	draw.ApproxBiLinear.Scale(to, to.Rect, from, from.Bounds(), draw.Src, nil)
	const edge = 3
	bar := image.Rect(tileSize/10, tileSize*78/100, tileSize*9/10, tileSize*88/100)
	inner := bar.Inset(edge)
	filled := inner
	filled.Max.X = inner.Min.X + inner.Dx()*min(max(percent, 0), 100)/100
	for _, layer := range []struct {
		at image.Rectangle
		in color.Color
	}{{bar, barEdge}, {inner, barGround}, {filled, barFilled}} {
		draw.Draw(to, layer.at, image.NewUniform(layer.in), image.Point{}, draw.Src)
	}
	var out bytes.Buffer
	err = png.Encode(&out, to)
	return out.Bytes(), err
}
