package service

import (
	"bytes"
	"html"
	"mime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// isEscaped reports whether the body may hold characters in another way than as they are, so that decoding it shows texts
// that cannot be found in its bytes.
func (a *Answer) isEscaped() bool {
	return bytes.Contains(a.Body, []byte(`\u`)) || bytes.ContainsAny(a.Body, "%&\x00") || a.charset() != ""
}

// charset is the encoding that the answer names, if that is not UTF-8.
func (a *Answer) charset() string {
	_, with, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if err != nil || strings.EqualFold(with["charset"], "utf-8") {
		return ""
	}
	return with["charset"]
}

// blackOutDecoded takes out of an answer the secrets that decoding it would show: in escapes of JSON (\uXXXX), of addresses
// (%XX) and of HTML (&#XX;), whichever characters are escaped, also in one another, in UTF-16, and in the encoding that the
// answer names. forms are spellings of the secrets.
func (a *Answer) blackOutDecoded(forms []string) {
	if len(forms) == 0 {
		return
	}
	if a.charset() != "" {
		text := InUTF8(a.Body, a.Header.Get("Content-Type"))
		clean := bytes.Clone(text)
		each(forms, func(form string) { clean = bytes.ReplaceAll(clean, []byte(form), []byte(blackedOut)) })
		if clean = withoutEscaped(clean, forms); !bytes.Equal(clean, text) {
			kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
			a.Body = clean
			a.Header.Set("Content-Type", kind+"; charset=utf-8")
		}
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

// decoder reads the next character of a text: what it is, and how many bytes it has there.
type decoder func(text []byte) (char []byte, size int)

// escapings are the ways in which characters are escaped, with what begins one.
var escapings = []struct {
	mark   []byte
	decode decoder
}{{[]byte(`\`), unescapeJSON}, {[]byte("%"), unescapePercent}, {[]byte("&"), unescapeHTML}}

// span is a part of a text.
type span struct{ from, to int }

// withoutEscaped is a text without the forms that its unescaped text has, unescaped once or twice.
func withoutEscaped(text []byte, forms []string) []byte {
	for _, first := range escapings {
		if !bytes.Contains(text, first.mark) {
			continue
		}
		once := decode(text, nil, first.decode)
		out := once.spans(forms)
		for _, second := range escapings {
			if bytes.Contains(once.text, second.mark) {
				out = append(out, decode(once.text, once.at, second.decode).spans(forms)...)
			}
		}
		text = without(text, out)
	}
	return text
}

// unescaped is a decoded text, and where each of its bytes, and its end, comes from.
type unescaped struct {
	text []byte
	at   []int
}

// decode decodes a text whose bytes come from some places; nil is that they are where they are.
func decode(text []byte, at []int, next decoder) unescaped {
	from := func(i int) int {
		if at == nil {
			return i
		}
		return at[i]
	}
	plain := unescaped{make([]byte, 0, len(text)), make([]int, 0, len(text)+1)}
	for i := 0; i < len(text); {
		char, size := next(text[i:])
		for range char {
			plain.at = append(plain.at, from(i))
		}
		plain.text = append(plain.text, char...)
		i += size
	}
	plain.at = append(plain.at, from(len(text)))
	return plain
}

// spans are the places that decode to one of the forms.
func (u unescaped) spans(forms []string) (all []span) {
	each(forms, func(form string) {
		for from := 0; ; {
			i := bytes.Index(u.text[from:], []byte(form))
			if i < 0 {
				return
			}
			from += i + len(form)
			all = append(all, span{u.at[from-len(form)], u.at[from]})
		}
	})
	return all
}

// without is a text without some parts.
func without(text []byte, out []span) []byte {
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

// unescapeHTML reads a character of a text with references to characters (&#XX; and &name;) in it.
func unescapeHTML(text []byte) (char []byte, size int) {
	const longest = 12
	if text[0] != '&' {
		return text[:1], 1
	}
	end := bytes.IndexByte(text[:min(len(text), longest)], ';')
	if end < 0 {
		return text[:1], 1
	}
	reference := string(text[:end+1])
	if plain := html.UnescapeString(reference); plain != reference {
		return []byte(plain), end + 1
	}
	return text[:1], 1
}
