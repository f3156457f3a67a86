// Package code edits a file as text: lines with their numbers, what is wrong ends them, and every byte that is not
// edited as it was. Values in, callbacks out.
package code

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Text is a file as it was read: its lines, how each ends, and the byte order mark that it may begin with. The zero value
// is an empty file.
type Text struct {
	mark  bool
	lines []string // without their ends
	ends  []string // as many; the last is "" where the file does not end with a break
}

const byteOrderMark = "\ufeff"

// Parse parses a file. ok is false if it is not UTF-8 text, which cannot be edited without loss.
func Parse(file []byte) (t Text, ok bool) {
	if !utf8.Valid(file) || bytes.IndexByte(file, 0) >= 0 {
		return t, false
	}
	text := string(file)
	text, t.mark = strings.CutPrefix(text, byteOrderMark)
	for text != "" {
		line, end := text, ""
		if i := strings.IndexAny(text, "\r\n"); i >= 0 {
			line, end = text[:i], text[i:i+1]
			if strings.HasPrefix(text[i:], "\r\n") {
				end = "\r\n"
			}
		}
		t.lines, t.ends = append(t.lines, line), append(t.ends, end)
		text = text[len(line)+len(end):]
	}
	return t, true
}

// Shown is the text as it is edited: every line ends with "\n".
func (t Text) Shown() string {
	var b strings.Builder
	for i, line := range t.lines {
		b.WriteString(line)
		if t.ends[i] != "" {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Edited returns the file with a text in the place of what Shown gave: lines that are still there end as they did, new
// ones as most lines of the file do.
func (t Text) Edited(shown string) []byte {
	lines := strings.Split(shown, "\n")
	ends := make([]string, len(lines))
	usual := t.usual()
	for i := range ends[:len(ends)-1] {
		ends[i] = usual
	}
	was := t.lines
	if n := len(t.ends); n > 0 && t.ends[n-1] != "" {
		was = append(was[:n:n], "") // behind the last break
	}
	take := func(old, now int) {
		if now < len(ends)-1 && old < len(t.ends) && t.ends[old] != "" {
			ends[now] = t.ends[old]
		}
	}
	for _, m := range same(was, lines) {
		take(m[0], m[1])
	}
	var b bytes.Buffer
	if t.mark {
		b.WriteString(byteOrderMark)
	}
	for i, line := range lines {
		b.WriteString(line)
		b.WriteString(ends[i])
	}
	return b.Bytes()
}

// usual is how most lines end.
func (t Text) usual() string {
	count := map[string]int{}
	best := "\n"
	for _, end := range t.ends {
		if count[end]++; end != "" && count[end] > count[best] {
			best = end
		}
	}
	return best
}

// mostCompared bounds the work of finding out which lines of an edited part are old: lines by lines.
const mostCompared = 1 << 22

// same pairs the lines of two texts that are the same: those before the first change, those behind the last, and between
// them a longest common sequence, unless that is too much work.
func same(was, now []string) (pairs [][2]int) {
	from := 0
	for from < min(len(was), len(now)) && was[from] == now[from] {
		pairs = append(pairs, [2]int{from, from})
		from++
	}
	to := 0
	for to < min(len(was), len(now))-from && was[len(was)-1-to] == now[len(now)-1-to] {
		to++
		pairs = append(pairs, [2]int{len(was) - to, len(now) - to})
	}
	a, b := was[from:len(was)-to], now[from:len(now)-to]
	if len(a)*len(b) > mostCompared {
		return pairs
	}
	for _, m := range common(a, b) {
		pairs = append(pairs, [2]int{m[0] + from, m[1] + from})
	}
	return pairs
}

// common is a longest common subsequence of two lists, by dynamic programming over their suffixes.
func common(a, b []string) (pairs [][2]int) {
	width := len(b) + 1
	longest := make([]int32, (len(a)+1)*width)
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if x == y {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case longest[(i+1)*width+j] >= longest[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
