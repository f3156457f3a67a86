package service

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// isEscaped reports whether the body may hold characters in another way than as they are, so that decoding it shows texts
// that cannot be found in its bytes.
func (a *Answer) isEscaped() bool {
	return bytes.Contains(a.Body, []byte(`\u`)) || bytes.IndexByte(a.Body, '%') >= 0 || bytes.IndexByte(a.Body, 0) >= 0
}

// blackOutDecoded takes out of an answer the secrets that decoding it would show: in escapes of JSON (\uXXXX), of addresses
// (%XX), whichever characters are escaped, and in UTF-16. forms are spellings of the secrets.
func (a *Answer) blackOutDecoded(forms []string) {
	if len(forms) == 0 {
		return
	}
	a.Body = withoutEscaped(a.Body, forms)
	if bytes.IndexByte(a.Body, 0) >= 0 {
		each(forms, func(form string) {
			for _, low := range []int{0, 1} {
				a.Body = bytes.ReplaceAll(a.Body, inUTF16(form, low), inUTF16(blackedOut, low))
			}
		})
	}
	for _, values := range a.Header {
		for i, v := range values {
			values[i] = string(withoutEscaped([]byte(v), forms))
		}
	}
}

// inUTF16 is a text in UTF-16; low is which byte of two is the lower one, the first or the second.
func inUTF16(text string, low int) []byte {
	units := utf16.Encode([]rune(text))
	out := make([]byte, 2*len(units))
	for i, u := range units {
		out[2*i+low], out[2*i+1-low] = byte(u), byte(u>>8)
	}
	return out
}

// withoutEscaped is a text without the forms that its unescaped text has.
func withoutEscaped(text []byte, forms []string) []byte {
	if bytes.Contains(text, []byte(`\u`)) {
		text = withoutDecoded(text, forms, unescapeJSON)
	}
	if bytes.IndexByte(text, '%') >= 0 {
		text = withoutDecoded(text, forms, unescapePercent)
	}
	return text
}

// withoutDecoded takes out of a text the places that decode to one of the forms. decode reads the next character of a
// text: what it is, and how many bytes it has there.
func withoutDecoded(text []byte, forms []string, decode func(text []byte) (char []byte, size int)) []byte {
	plain := make([]byte, 0, len(text))
	at := make([]int, 0, len(text)+1) // where each byte of plain comes from
	for i := 0; i < len(text); {
		char, size := decode(text[i:])
		for range char {
			at = append(at, i)
		}
		plain = append(plain, char...)
		i += size
	}
	at = append(at, len(text))
	type span struct{ from, to int }
	var out []span
	each(forms, func(form string) {
		for from := 0; ; {
			i := bytes.Index(plain[from:], []byte(form))
			if i < 0 {
				return
			}
			from += i + len(form)
			out = append(out, span{at[from-len(form)], at[from]})
		}
	})
	if len(out) == 0 {
		return text
	}
	slices.SortFunc(out, func(a, b span) int { return a.from - b.from })
	var clean []byte
	end := 0
	for _, s := range out {
		if s.from >= end {
			clean = append(append(clean, text[end:s.from]...), blackedOut...)
		}
		end = max(end, s.to)
	}
	return append(clean, text[end:]...)
}

// unescapeJSON reads a character of a text of JSON.
func unescapeJSON(text []byte) (char []byte, size int) {
	if text[0] != '\\' || len(text) < 2 {
		return text[:1], 1
	}
	if i := strings.IndexByte(`"\/bfnrt`, text[1]); i >= 0 {
		return []byte{"\"\\/\b\f\n\r\t"[i]}, 2
	}
	first, ok := unit(text)
	if !ok {
		return text[:1], 1
	}
	if second, ok := unit(text[6:]); ok && utf16.IsSurrogate(first) {
		if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
			return utf8.AppendRune(nil, r), 12
		}
	}
	return utf8.AppendRune(nil, first), 6
}

// unit reads \uXXXX at the beginning of a text.
func unit(text []byte) (r rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}

// unescapePercent reads a character of a text with %XX in it.
func unescapePercent(text []byte) (char []byte, size int) {
	if text[0] == '%' && len(text) >= 3 {
		if n, err := strconv.ParseUint(string(text[1:3]), 16, 8); err == nil {
			return []byte{byte(n)}, 3
		}
	}
	return text[:1], 1
}
