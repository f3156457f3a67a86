package main

import (
	"image"
	rgb "image/color"
	"image/draw"
	"image/gif"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// color is that of a line.
type color int

const (
	plain color = iota
	prompt
	good
	alert
)

// The colors of the picture: a background, and shades of each color of a line between it and full strength, for smooth letters.
var (
	background = rgb.RGBA{0x1b, 0x1f, 0x27, 0xff}
	inks       = map[color]rgb.RGBA{plain: {0xd7, 0xdb, 0xe0, 0xff}, prompt: {0x8e, 0xc0, 0xf5, 0xff}, good: {0x7f, 0xd1, 0x8b, 0xff}, alert: {0xf0, 0x8a, 0x80, 0xff}}
)

const (
	shades  = 7  // of a color
	size    = 13 // of the letters, in pixels
	leading = 18
	margin  = 14
)

// painter draws a terminal.
type painter struct {
	face  font.Face
	wide  int // a character
	lines []line
	film  gif.GIF
	table rgb.Palette
	last  *image.Paletted // the picture before
}

type line struct {
	text string
	color
}

func newPainter() (*painter, error) {
	f, err := opentype.Parse(gomono.TTF)
	if err != nil {
		return nil, err
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		return nil, err
	}
	advance, _ := face.GlyphAdvance('m')
	p := &painter{face: face, wide: advance.Ceil(), table: rgb.Palette{background}}
	for c := plain; c <= alert; c++ {
		for i := 1; i <= shades; i++ {
			p.table = append(p.table, mixed(inks[c], i))
		}
	}
	return p, nil
}

// mixed returns a shade of a color: part of it over the background.
func mixed(c rgb.RGBA, part int) rgb.RGBA {
	mix := func(a, b uint8) uint8 { return uint8((int(a)*part + int(b)*(shades-part)) / shades) } //nolint:gosec // within a byte
	return rgb.RGBA{mix(c.R, background.R), mix(c.G, background.G), mix(c.B, background.B), 0xff}
}

// add adds a line, and lets the first ones scroll out. A long line is cut.
func (p *painter) add(text string, c color) {
	if utf8.RuneCountInString(text) > columns {
		text = string([]rune(text)[:columns-1]) + "…"
	}
	p.lines = append(p.lines, line{text, c})
	if len(p.lines) > rows {
		p.lines = p.lines[1:]
	}
}

// shoot adds a picture that stays for some hundredths of a second.
func (p *painter) shoot(pause int) {
	now := image.NewPaletted(image.Rect(0, 0, columns*p.wide+2*margin, rows*leading+2*margin), p.table)
	for i, l := range p.lines {
		d := font.Drawer{Dst: inked{now}, Src: image.NewUniform(inks[l.color]), Face: p.face, Dot: fixed.P(margin, margin+i*leading+size)}
		d.DrawString(l.text)
	}
	p.film.Image = append(p.film.Image, p.changed(now))
	p.film.Delay = append(p.film.Delay, pause)
	p.last = now
}

// changed returns the part of a picture that differs from the one before.
func (p *painter) changed(now *image.Paletted) *image.Paletted {
	if p.last == nil {
		return now
	}
	differs := image.Rectangle{}
	for y := now.Rect.Min.Y; y < now.Rect.Max.Y; y++ {
		for x := now.Rect.Min.X; x < now.Rect.Max.X; x++ {
			if now.ColorIndexAt(x, y) != p.last.ColorIndexAt(x, y) {
				differs = differs.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	part, _ := now.SubImage(differs).(*image.Paletted) // of a picture with a palette
	return part
}

// inked is a picture that takes the nearest color of its palette.
type inked struct{ *image.Paletted }

var _ draw.Image = inked{}
