package dash

import (
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/throng-sim/throng/engine/visible"
)

// tone is how a piece of text is shown. What it means is always said by a word or a glyph, too.
type tone uint8

const (
	plain tone = iota
	strong
	quiet
	good
	warning
	bad
	accent
	inverse
)

// sequences show a tone, with colours and without.
var sequences = [...]struct{ colour, mono string }{
	plain: {"", ""}, strong: {"\x1b[1m", "\x1b[1m"}, quiet: {"\x1b[2m", "\x1b[2m"}, good: {"\x1b[32m", ""}, warning: {"\x1b[33m", "\x1b[1m"},
	bad: {"\x1b[1;31m", "\x1b[1m"}, accent: {"\x1b[36m", ""}, inverse: {"\x1b[7m", "\x1b[7m"},
}

// span is a piece of a line in one tone.
type span struct {
	text string
	tone tone
}

// line is a line of the picture, or a part of one.
type line []span

// say is a line in one tone.
func say(t tone, text string) line { return line{{text, t}} }

// and appends a piece.
func (l line) and(t tone, text string) line { return append(l, span{text, t}) }

func (l line) width() (n int) {
	for _, s := range l {
		n += runewidth.StringWidth(s.text)
	}
	return n
}

// fit is the line at a width: cut, or filled with blanks. What text of others would do to a terminal is escaped first.
func (l line) fit(width int) line {
	l = slices.Clone(l)
	for i := range l {
		l[i].text = visible.Line(l[i].text)
	}
	have := l.width()
	if have <= width {
		return append(slices.Clip(l), span{strings.Repeat(" ", width-have), plain})
	}
	var cut line
	left := width - 1 // for the mark of a cut
	for _, s := range l {
		w := runewidth.StringWidth(s.text)
		if w > left {
			cut = append(cut, span{runewidth.Truncate(s.text, max(left, 0), "") + "…", s.tone})
			break
		}
		cut, left = append(cut, s), left-w
	}
	if short := width - cut.width(); short > 0 { // a wide letter did not fit
		cut = append(cut, span{strings.Repeat(" ", short), plain})
	}
	return cut
}

// text is the line without tones.
func (l line) text() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// encode writes the line for a terminal.
func (l line) encode(look Look) string {
	var b strings.Builder
	for _, s := range l {
		sequence := sequences[s.tone].colour
		if look.Mono {
			sequence = sequences[s.tone].mono
		}
		text := s.text
		if look.ASCII {
			text = ascii(text)
		}
		if sequence == "" {
			b.WriteString(text)
			continue
		}
		b.WriteString(sequence + text + "\x1b[m")
	}
	return b.String()
}

// letters stand in a terminal that knows no others for those that it does not know.
var letters = strings.NewReplacer(
	"▁", "_", "▂", "_", "▃", "-", "▄", "-", "▅", "=", "▆", "=", "▇", "#", "█", "#", "░", ".", "─", "-", "│", "|", "…", "~", "→", ">", "·", "-",
	"✓", "+", "▲", "!", "✖", "X", "●", "*", "■", "#", "◐", "~", "×", "x", "–", "-", "−", "-", "µ", "u",
)

func ascii(text string) string {
	return strings.Map(func(r rune) rune {
		if r > 126 {
			return '?'
		}
		return r
	}, letters.Replace(text))
}

// wrap breaks a text into at most so many lines, at blanks.
func wrap(text string, width, most int) (lines []string) {
	words := strings.Fields(text)
	for len(words) > 0 && len(lines) < most {
		at := words[0]
		words = words[1:]
		for len(words) > 0 && (len(lines) == most-1 || runewidth.StringWidth(at)+1+runewidth.StringWidth(words[0]) <= width) {
			at, words = at+" "+words[0], words[1:]
		}
		lines = append(lines, at)
	}
	return lines
}
