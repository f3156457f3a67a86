package code

import (
	"slices"
	"strings"
	"unicode"
)

// place is a position in the text; row and column count from 0, columns in characters.
type place struct{ row, col int }

func (p place) before(q place) bool { return p.row < q.row || p.row == q.row && p.col < q.col }

// buffer is a text that is edited. It has at least one line.
type buffer struct {
	lines  [][]rune
	done   []change // newest last
	undone []change
	typing bool // the next character may join the newest change
}

// change is the replacement of a text.
type change struct {
	at       place
	was, now string
}

// mostChanges is the maximum number of changes for undo.
const mostChanges = 2000

func newBuffer(text string) *buffer {
	b := &buffer{}
	for line := range strings.SplitSeq(text, "\n") {
		b.lines = append(b.lines, []rune(line))
	}
	return b
}

// text returns the whole text.
func (b *buffer) text() string { return b.part(place{}, b.end()) }

func (b *buffer) end() place {
	last := len(b.lines) - 1
	return place{last, len(b.lines[last])}
}

// hold clamps a place to the text.
func (b *buffer) hold(p place) place {
	p.row = min(max(p.row, 0), len(b.lines)-1)
	p.col = min(max(p.col, 0), len(b.lines[p.row]))
	return p
}

// part returns the text between two places.
func (b *buffer) part(from, to place) string {
	if from.row == to.row {
		return string(b.lines[from.row][from.col:to.col])
	}
	var s strings.Builder
	s.WriteString(string(b.lines[from.row][from.col:]))
	for _, line := range b.lines[from.row+1 : to.row] {
		s.WriteByte('\n')
		s.WriteString(string(line))
	}
	s.WriteByte('\n')
	s.WriteString(string(b.lines[to.row][:to.col]))
	return s.String()
}

// put replaces the text between two places and returns the end of the new text. Characters typed in sequence are one change.
func (b *buffer) put(from, to place, text string) place {
	c := change{from, b.part(from, to), text}
	if c.was == "" && c.now == "" {
		return from
	}
	letter := c.was == "" && len([]rune(text)) == 1 && text != "\n"
	if n := len(b.done); letter && b.typing && n > 0 && b.done[n-1].end() == from {
		b.done[n-1].now += text
	} else {
		b.done = append(b.done, c)
		if len(b.done) > mostChanges {
			b.done = slices.Delete(b.done, 0, 1)
		}
	}
	b.typing, b.undone = letter, nil
	return b.splice(from, to, text)
}

// end returns the end of a change's new text.
func (c change) end() place { return after(c.at, c.now) }

// after returns the end of a text that starts at a place.
func after(at place, text string) place {
	n := strings.Count(text, "\n")
	if n == 0 {
		return place{at.row, at.col + len([]rune(text))}
	}
	return place{at.row + n, len([]rune(text[strings.LastIndexByte(text, '\n')+1:]))}
}

func (b *buffer) splice(from, to place, text string) place {
	head, tail := slices.Clone(b.lines[from.row][:from.col]), slices.Clone(b.lines[to.row][to.col:])
	var lines [][]rune
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, []rune(line))
	}
	lines[0] = append(head, lines[0]...)
	last := len(lines) - 1
	lines[last] = append(lines[last], tail...)
	b.lines = slices.Replace(b.lines, from.row, to.row+1, lines...)
	return after(from, text)
}

// undo undoes the newest change and returns its place; ok is false if there is none.
func (b *buffer) undo() (at place, ok bool) {
	n := len(b.done)
	if n == 0 {
		return at, false
	}
	c := b.done[n-1]
	b.done, b.undone, b.typing = b.done[:n-1], append(b.undone, c), false
	return b.splice(c.at, c.end(), c.was), true
}

// redo redoes the change that was undone last.
func (b *buffer) redo() (at place, ok bool) {
	n := len(b.undone)
	if n == 0 {
		return at, false
	}
	c := b.undone[n-1]
	b.undone, b.done, b.typing = b.undone[:n-1], append(b.done, c), false
	return b.splice(c.at, after(c.at, c.was), c.now), true
}

// step returns the place of the previous or next character.
func (b *buffer) step(p place, by int) place {
	switch {
	case by < 0 && p.col > 0:
		p.col--
	case by < 0 && p.row > 0:
		p = place{p.row - 1, len(b.lines[p.row-1])}
	case by > 0 && p.col < len(b.lines[p.row]):
		p.col++
	case by > 0 && p.row < len(b.lines)-1:
		p = place{p.row + 1, 0}
	}
	return p
}

// word returns the start of the word before a place, or the end of the word after it.
func (b *buffer) word(p place, by int) place {
	inside := false
	for {
		q := b.step(p, by)
		if q == p || q.row != p.row && inside {
			return p
		}
		if q.row == p.row && isWord(b.lines[p.row][min(p.col, q.col)]) {
			inside = true
		} else if inside {
			return p
		}
		p = q
	}
}

// wordAt returns the ends of the word at a place.
func (b *buffer) wordAt(p place) (from, to place) {
	line := b.lines[p.row]
	from, to = p, p
	for from.col > 0 && isWord(line[from.col-1]) {
		from.col--
	}
	for to.col < len(line) && isWord(line[to.col]) {
		to.col++
	}
	return from, to
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// home returns the first non-blank character of a line, or the start of the line if the place is there.
func (b *buffer) home(p place) place {
	line := b.lines[p.row]
	col := 0
	for col < len(line) && unicode.IsSpace(line[col]) {
		col++
	}
	if p.col == col {
		col = 0
	}
	return place{p.row, col}
}
