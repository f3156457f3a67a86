package prose

import (
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
)

// word is text without a space in it that stands on one line with what is glued to it.
type word struct {
	text   string
	style  span
	width  float32
	spaced bool // a space stands in front of it
}

// flow writes spans into a column, and returns where it ends.
func (s *sheet) flow(spans []span, size, left, top, width float32) (bottom float32) {
	high := lineEms * size
	x, y, fresh := float32(0), top, true // fresh is that nothing stands on the line yet
	all := words(spans, size)
	for len(all) > 0 {
		glued, wide := 1, all[0].width
		for glued < len(all) && !all[glued].spaced {
			wide += all[glued].width
			glued++
		}
		space := float32(0)
		if all[0].spaced && !fresh {
			space = s.space(all[0].style, size)
		}
		if x+space+wide > width && !fresh {
			s.end(" ")
			x, y, space, fresh = 0, y+high, 0, true
		}
		for i, w := range all[:glued] {
			for w.width > width-x && fresh && len(w.text) > 1 { // wider than the column
				head := cut(w.text, width-x, size, w.style)
				s.put(piece{text: head, style: w.style, size: size, x: left + x, y: y, w: measure(head, size, w.style).Width, h: high}, 0, true)
				w.text = w.text[len(head):]
				w.width = measure(w.text, size, w.style).Width
				x, y = 0, y+high
			}
			if i > 0 {
				space = 0
			}
			s.put(piece{text: w.text, style: w.style, size: size, x: left + x, y: y, w: w.width, h: high}, space, fresh)
			x, fresh = x+space+w.width, false
		}
		all = all[glued:]
	}
	return y + high
}

// space is how wide the space in front of a word is: code has a ground, which is wider than it.
func (s *sheet) space(style span, size float32) float32 {
	before := s.pieces[len(s.pieces)-1].style
	switch {
	case before == style:
		return measure(" ", size, style).Width
	case before.mono || style.mono:
		return measure(" ", size, span{}).Width + chipPadding
	}
	return measure(" ", size, span{}).Width
}

// put adds a word to the last piece, if that is of its style and on its line, or begins another. The toolkit draws an
// arrow with a space behind it as a box: they come apart.
func (s *sheet) put(p piece, space float32, fresh bool) {
	if n := len(s.pieces); n > 0 && !fresh {
		last := &s.pieces[n-1]
		arrow, _ := utf8.DecodeLastRuneInString(last.text)
		if last.style == p.style && (space == 0 || !strings.ContainsRune("→←↑↓", arrow)) {
			if space > 0 {
				last.text += " "
			}
			last.text += p.text
			last.w += space + p.w
			return
		}
		if space > 0 {
			last.after = " "
		}
	}
	p.x += space
	p.y += s.above(p.size, p.style)
	s.pieces = append(s.pieces, p)
}

// above is how much lower text of a style begins than its line, so that all stand on one base.
func (s *sheet) above(size float32, style span) float32 {
	driver := fyne.CurrentApp().Driver()
	_, base := driver.RenderedTextSize("x", size, textStyle(style), nil)
	plain, plainBase := driver.RenderedTextSize("x", size, fyne.TextStyle{}, nil)
	return (lineEms*size-plain.Height)/2 + plainBase - base
}

// words takes spans apart.
func words(spans []span, size float32) (all []word) {
	spaced := false
	for _, one := range spans {
		style := one
		style.text = ""
		for i, text := range strings.Split(one.text, " ") {
			spaced = spaced || i > 0
			if text == "" {
				continue
			}
			all = append(all, word{text, style, measure(text, size, style).Width, spaced})
			spaced = false
		}
	}
	return all
}

// cut is as much of a text as fits, a letter at least.
func cut(text string, width, size float32, style span) string {
	end := 0
	for i, r := range text {
		next := i + utf8.RuneLen(r)
		if end > 0 && measure(text[:next], size, style).Width > width {
			break
		}
		end = next
	}
	return text[:end]
}

func textStyle(s span) fyne.TextStyle {
	return fyne.TextStyle{Bold: s.bold, Italic: s.italic && !s.mono, Monospace: s.mono}
}

// measure is how large text is drawn; the toolkit remembers it for a while.
func measure(text string, size float32, s span) fyne.Size {
	return fyne.MeasureText(text, size, textStyle(s))
}
