package prose

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// The measures of a page, in heights of its text.
const (
	lineEms    = 1.5  // from line to line
	gapEms     = 0.75 // between paragraphs
	itemEms    = 0.35 // between the items of a list
	indentEms  = 1.5  // of a list
	proseEms   = 52.  // the most that a line of text is wide, as it reads best
	wideEms    = 72.  // the most that code, tables and pictures are wide
	padEms     = 0.7  // round code
	cellEms    = 1.2  // between the columns of a table
	buttonEms  = 1.8  // the button that copies code
	leastShare = 0.85 // of the text's size: code that is too wide is drawn so small before it is cut into lines
)

// hanging stands in front of what is left of a line of code that was cut.
const hanging = "      "

// piece is text in one style on one line of the page.
type piece struct {
	text  string
	style span
	size  float32
	x, y  float32
	w, h  float32
	after string // what is copied behind it
	code  bool   // of a block of code
}

// spot is where a line of the source is on the page.
type spot struct {
	line int
	y    float32
}

// frame is the ground of a block of code, or of a word of it.
type frame struct {
	x, y, w, h float32
	code       string // what its button copies; "" is a word
}

// placed is a picture's place.
type placed struct {
	source     string
	x, y, w, h float32
}

// rule is the line below the head of a table.
type rule struct{ x, y, w float32 }

// sheet is a document that is laid out in a width.
type sheet struct {
	width, height float32
	em            float32
	pieces        []piece
	spots         []spot
	anchors       map[string]float32
	frames        []frame
	images        []placed
	rules         []rule
	sizeOf        func(source string) fyne.Size // of a picture; zero where there is none
}

// arrange lays a document out.
func arrange(d *Document, width float32, sizeOf func(string) fyne.Size) *sheet {
	s := &sheet{width: width, em: theme.TextSize() * 14 / 13, anchors: map[string]float32{}, sizeOf: sizeOf}
	for i := range d.blocks {
		b := &d.blocks[i]
		if i > 0 {
			s.height += s.gap(&d.blocks[i-1], b)
		}
		s.spots = append(s.spots, spot{b.line, s.height})
		s.block(b)
	}
	return s
}

// gap is the space between two blocks.
func (s *sheet) gap(before, b *block) float32 {
	switch {
	case b.kind == heading && b.level <= 2:
		return 2 * gapEms * s.em
	case b.kind == heading:
		return 1.5 * gapEms * s.em
	case b.bullet != "" && before.depth > 0:
		return itemEms * s.em
	}
	return gapEms * s.em
}

func (s *sheet) block(b *block) {
	left := float32(b.depth) * indentEms * s.em
	wide := min(s.width, wideEms*s.em) - left
	if b.bullet != "" {
		w := measure(b.bullet, s.em, span{}).Width
		s.pieces = append(s.pieces, piece{text: b.bullet, size: s.em, x: left - w - 0.5*s.em, y: s.height + s.above(s.em, span{}), w: w, h: lineEms * s.em, after: " "})
	}
	switch b.kind {
	case paragraph:
		s.height = s.flow(b.spans, s.em, left, s.height, min(wide, proseEms*s.em-left))
		s.end("\n\n")
	case heading:
		size := [...]float32{theme.TextHeadingSize(), theme.TextSubHeadingSize(), s.em}[min(b.level, lesser)-1]
		s.anchors[b.anchor()] = s.height
		spans := make([]span, len(b.spans))
		for i, one := range b.spans {
			one.bold = true
			spans[i] = one
		}
		s.height = s.flow(spans, size, left, s.height, wide)
		s.end("\n\n")
	case code:
		s.code(b, left, wide)
	case picture:
		s.picture(b, left, wide)
	case table:
		s.table(b, left, wide)
	}
}

// end says what is copied behind the last piece.
func (s *sheet) end(after string) {
	if n := len(s.pieces); n > 0 {
		s.pieces[n-1].after = after
	}
}

// code draws lines as they are: smaller where they are too wide, and only then cut.
func (s *sheet) code(b *block, left, wide float32) {
	pad := padEms * s.em
	size, style := theme.TextSize(), span{mono: true}
	lines := strings.Split(strings.ReplaceAll(b.text, "\t", "    "), "\n")
	longest := ""
	for _, line := range lines {
		if len([]rune(line)) > len([]rune(longest)) {
			longest = line
		}
	}
	room := wide - 2*pad - buttonEms*s.em
	if w := measure(longest, size, style).Width; w > room {
		size *= max(room/w*0.99, leastShare)
	}
	letters := max(int(room/measure("0", size, style).Width), 2*len(hanging))
	top, high := s.height, size*1.4
	y := top + pad
	for _, line := range lines {
		for rest := []rune(line); ; {
			now, after := rest, "\n"
			if len(rest) > letters {
				now, after = rest[:broken(rest, letters)], ""
			}
			text := string(now)
			s.pieces = append(s.pieces, piece{text: text, style: style, size: size, x: left + pad, y: y, w: measure(text, size, style).Width, h: high, after: after, code: true})
			y += high
			if len(now) == len(rest) {
				break
			}
			rest = append([]rune(hanging), rest[len(now):]...)
		}
	}
	s.end("\n\n")
	s.height = y + pad
	s.frames = append(s.frames, frame{left, top, wide, s.height - top, b.text})
}

// broken is where a line is cut that is longer than so many letters: behind a space, if there is one in its second half.
func broken(line []rune, letters int) int {
	for i := letters; i > letters/2; i-- {
		if line[i-1] == ' ' {
			return i
		}
	}
	return letters
}

// picture is drawn as large as it is, if there is room.
func (s *sheet) picture(b *block, left, wide float32) {
	size := s.sizeOf(b.source)
	if size.Width <= 0 {
		s.height = s.flow([]span{{text: b.text, italic: true}}, s.em, left, s.height, wide)
		s.end("\n\n")
		return
	}
	w := min(size.Width, wide)
	h := size.Height * w / size.Width
	s.images = append(s.images, placed{b.source, left, s.height, w, h})
	s.height += h
	s.height = s.flow([]span{{text: b.text, italic: true}}, theme.TextSize(), left, s.height, wide)
	s.end("\n\n")
}

// table gives each column what its widest cell wants, and shares what is missing among those that want most.
func (s *sheet) table(b *block, left, wide float32) {
	if len(b.rows) == 0 {
		return
	}
	between := cellEms * s.em
	widths := s.columns(b.rows, wide-between*float32(len(b.rows[0])-1))
	for r, row := range b.rows {
		if len(row) > 0 {
			s.spots = append(s.spots, spot{row[0].line, s.height})
		}
		x, low := left, s.height
		for c := range min(len(row), len(widths)) {
			low = max(low, s.flow(row[c].spans, s.em, x, s.height, widths[c]))
			s.end("\t")
			x += widths[c] + between
		}
		s.end("\n")
		s.height = low + itemEms*s.em
		s.rules = append(s.rules, rule{left, s.height - itemEms*s.em/2, x - between - left})
		if r == len(b.rows)-1 {
			s.end("\n\n")
		}
	}
}

// columns are the widths of a table's columns.
func (s *sheet) columns(rows [][]cell, room float32) []float32 {
	widths := make([]float32, len(rows[0]))
	for _, row := range rows {
		for c := range min(len(row), len(widths)) {
			var w float32
			for _, one := range row[c].spans {
				w += measure(one.text, s.em, one).Width
			}
			widths[c] = max(widths[c], w+1)
		}
	}
	left, open := room, len(widths)
	fair := make([]bool, len(widths))
	for again := true; again; { // what wants less than an equal share has it; the others share the rest
		again = false
		for c, w := range widths {
			if !fair[c] && w <= left/float32(open) {
				fair[c], again = true, open > 1
				left, open = left-w, open-1
			}
			if open == 0 {
				return widths
			}
		}
	}
	for c := range widths {
		if !fair[c] {
			widths[c] = max(left/float32(open), 4*s.em)
		}
	}
	return widths
}

// place returns where a line of the source is; the nearest above where none begins there.
func (s *sheet) place(line int) (y float32) {
	at := -1
	for _, one := range s.spots {
		if one.line <= line && one.line > at {
			y, at = one.y, one.line
		}
	}
	return y
}

// moved returns where the text at y is on another sheet of the same document. On a sheet of another document it is at the same
// fraction of the height.
func (s *sheet) moved(y float32, to *sheet) float32 {
	if len(s.spots) != len(to.spots) || s.height <= 0 {
		return y * to.height / max(s.height, 1)
	}
	from, end, fromTo, endTo := float32(0), s.height, float32(0), to.height
	for i := range s.spots {
		if s.spots[i].y > y {
			end, endTo = s.spots[i].y, to.spots[i].y
			break
		}
		from, fromTo = s.spots[i].y, to.spots[i].y
	}
	return fromTo + (endTo-fromTo)*(y-from)/max(end-from, 1)
}
