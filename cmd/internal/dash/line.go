package dash

import (
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/throng-sim/throng/engine/visible"
)

// tone is the style of a text. A word or symbol always carries the same meaning.
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

// sequences are the escape sequences of tones, with and without colors.
var sequences = [...]struct{ color, mono string }{
	plain: {"", ""}, strong: {"\x1b[1m", "\x1b[1m"}, quiet: {"\x1b[2m", "\x1b[2m"}, good: {"\x1b[32m", ""}, warning: {"\x1b[33m", "\x1b[1m"},
	bad: {"\x1b[1;31m", "\x1b[1m"}, accent: {"\x1b[36m", ""}, inverse: {"\x1b[7m", "\x1b[7m"},
}

// span is a part of a line in one tone.
type span struct {
	text string
	tone tone
}

// line is a line of the picture, or a part of one.
type line []span

// say returns a line in one tone.
func say(t tone, text string) line { return line{{text, t}} }

// and appends a span.
func (l line) and(t tone, text string) line { return append(l, span{text, t}) }

func (l line) width() (n int) {
	for _, s := range l {
		n += runewidth.StringWidth(s.text)
	}
	return n
}

// fit cuts or pads the line to a width. It escapes control characters in texts that do not come from Throng.
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
	left := width - 1 // leaves space for the ellipsis
	for _, s := range l {
		w := runewidth.StringWidth(s.text)
		if w > left {
			cut = append(cut, span{runewidth.Truncate(s.text, max(left, 0), "") + "…", s.tone})
			break
		}
		cut, left = append(cut, s), left-w
	}
	if short := width - cut.width(); short > 0 { // a wide character did not fit
		cut = append(cut, span{strings.Repeat(" ", short), plain})
	}
	return cut
}

// text returns the line without tones.
func (l line) text() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// encode returns the line with escape sequences.
func (l line) encode(look Look) string {
	var b strings.Builder
	for _, s := range l {
		sequence := sequences[s.tone].color
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

// letters replaces characters that ASCII terminals cannot show.
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

// wrap breaks a text at spaces into at most this many lines.
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
