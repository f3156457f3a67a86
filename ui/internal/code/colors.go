package code

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Span is a part of a line in one color, from one column to another.
type Span struct {
	from, to int
	color    fyne.ThemeColorName
}

// yaml colors a line: keys are highlighted, and comments are dimmed. A # in quotes is not a comment.
func yaml(line string) []Span {
	runes := []rune(line)
	end := comment(runes)
	key := 0
	for i := range end {
		if runes[i] == ':' && (i+1 == len(runes) || runes[i+1] == ' ') {
			key = i
			break
		}
		if strings.ContainsRune(`"'{[`, runes[i]) {
			break
		}
	}
	return spans(len(runes), Span{0, key, theme.ColorNamePrimary}, Span{end, len(runes), widgets.ColorMuted})
}

// starlark dims comments.
func starlark(line string) []Span {
	runes := []rune(line)
	return spans(len(runes), Span{comment(runes), len(runes), widgets.ColorMuted})
}

// titled highlights lines without indentation.
func titled(line string) []Span {
	if line == "" || line[0] == ' ' {
		return spans(len([]rune(line)))
	}
	n := len([]rune(line))
	return spans(n, Span{0, n, theme.ColorNamePrimary})
}

// spans fills the gaps between spans with the default color.
func spans(length int, parts ...Span) (all []Span) {
	at := 0
	for _, p := range append(parts, Span{length, length, ""}) {
		if p.from > at {
			all = append(all, Span{at, p.from, theme.ColorNameForeground})
		}
		if p.to > p.from {
			all = append(all, p)
		}
		at = max(at, p.to)
	}
	return all
}

// comment returns the column of a line's comment, or the line's length.
func comment(line []rune) int {
	var quote rune
	for i, r := range line {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'' && (i == 0 || !isWord(line[i-1])):
			quote = r
		case r == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return i
		}
	}
	return len(line)
}
