// Package visible makes untrusted text safe to show: it escapes terminal control characters and characters that change the direction of
// text.
package visible

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text escapes control and bidirectional characters and other invisible ones with an effect as \uXXXX, as in JSON: JSON stays valid and
// keeps its meaning. Line breaks and tabs stay. Bytes that are not UTF-8 become U+FFFD.
func Text(text string) string {
	if !strings.ContainsFunc(text, acts) && utf8.ValidString(text) {
		return text
	}
	return string(appendText(nil, []byte(text)))
}

// Line is [Text], but also escapes line breaks and tabs, so that the text stays in its line and column.
func Line(text string) string {
	if strings.ContainsAny(text, "\n\t") {
		text = lineBreaks.Replace(text)
	}
	return Text(text)
}

var lineBreaks = strings.NewReplacer("\n", `\n`, "\t", `\t`)

// appendText appends the safe form of a text.
func appendText(to, text []byte) []byte {
	for len(text) > 0 {
		if c := text[0]; c < utf8.RuneSelf {
			if acts(rune(c)) {
				to = appendEscape(to, rune(c))
			} else {
				to = append(to, c)
			}
			text = text[1:]
			continue
		}
		r, size := utf8.DecodeRune(text)
		if acts(r) {
			to = appendEscape(to, r)
		} else {
			to = utf8.AppendRune(to, r)
		}
		text = text[size:]
	}
	return to
}

const hex = "0123456789abcdef"

func appendEscape(to []byte, r rune) []byte {
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return appendEscape(appendEscape(to, high), low)
	}
	return append(to, '\\', 'u', hex[r>>12&0xf], hex[r>>8&0xf], hex[r>>4&0xf], hex[r&0xf])
}

// acts reports whether a character has an effect other than being visible: control characters except line breaks and tabs, direction
// marks (Unicode Standard Annex 9), line and paragraph separators, annotations, the byte order mark, zero-width characters and tags.
// Joiners are allowed, because writing systems and emoji need them.
func acts(r rune) bool {
	switch {
	case r < ' ':
		return r != '\n' && r != '\t'
	case r < 0x7f:
		return false
	case r <= 0x9f:
		return true
	case r < 0x061c:
		return false
	}
	switch r {
	case 0x061c, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0xfeff, 0xfff9, 0xfffa, 0xfffb:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r >= 0xe0000 && r <= 0xe007f
}
