package doc

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// source is the text of a file and where its lines start. Lines and columns count from 1, columns in characters.
type source struct {
	file, text string
	starts     []int // byte offset of the first byte of each line
	counts     []int // characters before each multiple of stride, so that long lines are not counted through each time
}

const stride = 256

func newSource(file string, text []byte) *source {
	s := &source{file: file, text: strings.TrimPrefix(string(text), "\ufeff")}
	s.starts = append(make([]int, 0, 1+strings.Count(s.text, "\n")), 0)
	for i := 0; i < len(s.text); {
		if n := breakLen(s.text[i:]); n > 0 {
			i += n
			s.starts = append(s.starts, i)
			continue
		}
		i++
	}
	count := 0
	for i := range len(s.text) {
		if i%stride == 0 {
			s.counts = append(s.counts, count)
		}
		if utf8.RuneStart(s.text[i]) {
			count++
		}
	}
	return s
}

// characters returns the number of characters before a byte offset.
func (s *source) characters(offset int) int {
	i := min(offset/stride, len(s.counts)-1)
	if i < 0 {
		return 0
	}
	count := s.counts[i]
	for _, c := range []byte(s.text[i*stride : offset]) {
		if utf8.RuneStart(c) {
			count++
		}
	}
	return count
}

// breakLen returns the length of the line break that text starts with, or 0.
func breakLen(text string) int {
	switch {
	case strings.HasPrefix(text, "\r\n"):
		return 2
	case text != "" && (text[0] == '\n' || text[0] == '\r'):
		return 1
	}
	return 0
}

// check returns the offset of the first invalid character, the problem and a hint. Line breaks other than LF, CR and CRLF
// are invalid, because editors and YAML disagree on line numbers then.
func (s *source) check() (at int, problem, hint string) {
	for i, r := range s.text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s.text[i:], "\ufffd"):
			return i, "the file is not UTF-8 text", "save it as UTF-8"
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0x85, r == 0x2028, r == 0x2029, r > 0xfffd && r < 0x10000:
			return i, fmt.Sprintf("the character U+%04X is not allowed in a file", r), `remove it, or write it as an escape in "…"`
		}
	}
	return -1, "", ""
}

// position returns the line and column of a byte offset, which is limited to the text.
func (s *source) position(offset int) (line, col int) {
	offset = min(max(offset, 0), len(s.text))
	line = sort.SearchInts(s.starts, offset+1)
	if line > 1 && offset == len(s.text) && s.starts[line-1] == offset { // after the last line break: the end of the last line
		line--
		offset = s.starts[line-1] + len(s.line(line))
	}
	return line, s.characters(offset) - s.characters(s.starts[line-1]) + 1
}

// offset returns the byte offset of a line and column, which are limited to the text.
func (s *source) offset(line, col int) int {
	if line < 1 {
		return 0
	}
	if line > len(s.starts) {
		return len(s.text)
	}
	start := s.starts[line-1]
	end := start + len(s.line(line))
	before := s.characters(start) + max(col-1, 0) // characters before the wanted one
	if i := sort.SearchInts(s.counts, before+1) - 1; i >= 0 && i*stride > start {
		start = min(i*stride, end)
	}
	for start < end && !utf8.RuneStart(s.text[start]) {
		start++
	}
	return start + runeOffset(s.text[start:end], before-s.characters(start))
}

// line returns the text of a line without its break.
func (s *source) line(line int) string {
	if line < 1 || line > len(s.starts) {
		return ""
	}
	text := s.text[s.starts[line-1]:]
	if line < len(s.starts) {
		text = text[:s.starts[line]-s.starts[line-1]]
	}
	return strings.TrimRight(text, "\r\n")
}

// lineStart returns the offset of the first byte of the line that offset is on.
func (s *source) lineStart(offset int) int {
	return s.starts[sort.SearchInts(s.starts, offset+1)-1]
}

// lineEnd returns the offset of the break, or of the end of the text, that ends the line that offset is on.
func (s *source) lineEnd(offset int) int {
	if n := strings.IndexAny(s.text[offset:], "\r\n"); n >= 0 {
		return offset + n
	}
	return len(s.text)
}

// runeOffset returns the byte offset of the nth character of text, at most its length.
func runeOffset(text string, n int) int {
	for i := range text {
		if n <= 0 {
			return i
		}
		n--
	}
	return len(text)
}

// Offset returns the byte offset in text of a line and column, both counted from 1 and columns in characters, as
// a parser of that text reports them. Positions outside are limited to the text.
func Offset(text string, line, col int) int {
	s := newSource("", []byte(text))
	return s.offset(line, col)
}
