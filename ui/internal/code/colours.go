package code

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Span is a part of a line in one colour; its ends are columns.
type Span struct {
	from, to int
	color    fyne.ThemeColorName
}

// yaml colours a line: its key stands out, a comment steps back. What looks like a comment inside of quotes is none.
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

// starlark steps comments back.
func starlark(line string) []Span {
	runes := []rune(line)
	return spans(len(runes), Span{comment(runes), len(runes), widgets.ColorMuted})
}

// titled has lines that are not indented stand out.
func titled(line string) []Span {
	if line == "" || line[0] == ' ' {
		return spans(len([]rune(line)))
	}
	n := len([]rune(line))
	return spans(n, Span{0, n, theme.ColorNamePrimary})
}

// spans fills what lies between coloured parts with the usual colour.
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

// comment is where a line's comment begins; its length where there is none.
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
