package redact

import (
	"bytes"
	"html"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine/internal/charset"
)

// isEscaped reports whether decoding the body may show text that cannot be found in its bytes.
func isEscaped(body []byte, header http.Header) bool {
	return bytes.Contains(body, []byte(`\u`)) || bytes.ContainsAny(body, "%&\x00") || charsetOf(header) != ""
}

// charsetOf returns the encoding in a Content-Type, or "" for UTF-8 and if there is none.
func charsetOf(header http.Header) string {
	_, with, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || strings.EqualFold(with["charset"], "utf-8") {
		return ""
	}
	return with["charset"]
}

// decodedResponse removes from a response the secrets that decoding it would reveal: in escapes of JSON (\uXXXX), URLs (%XX) and
// HTML (&#XX;), whichever characters are escaped, nested in one another, in UTF-16, and in the encoding that the response names.
// forms are spellings of the secrets.
func decodedResponse(body []byte, header http.Header, forms []string) []byte {
	if len(forms) == 0 {
		return body
	}
	if charsetOf(header) != "" {
		text := charset.UTF8(body, header.Get("Content-Type"))
		clean := bytes.Clone(text)
		Each(forms, func(form string) { clean = bytes.ReplaceAll(clean, []byte(form), []byte(Mark)) })
		if clean = withoutEscaped(clean, forms); !bytes.Equal(clean, text) {
			kind, _, _ := strings.Cut(header.Get("Content-Type"), ";")
			body = clean
			header.Set("Content-Type", kind+"; charset=utf-8")
		}
	}
	body = withoutEscaped(body, forms)
	if bytes.IndexByte(body, 0) >= 0 {
		Each(forms, func(form string) {
			for _, low := range []int{0, 1} {
				body = bytes.ReplaceAll(body, inUTF16(form, low), inUTF16(Mark, low))
			}
		})
	}
	for _, values := range header {
		for i, v := range values {
			values[i] = string(withoutEscaped([]byte(v), forms))
		}
	}
	return body
}

// inUTF16 returns a text in UTF-16. low is the index of the low byte: 0 or 1.
func inUTF16(text string, low int) []byte {
	units := utf16.Encode([]rune(text))
	out := make([]byte, 2*len(units))
	for i, u := range units {
		out[2*i+low], out[2*i+1-low] = byte(u), byte(u>>8)
	}
	return out
}

// decoder decodes the first character of a text, and returns its size there.
type decoder func(text []byte) (char []byte, size int)

// escapings are the kinds of escapes, with their first byte.
var escapings = []struct {
	mark   []byte
	decode decoder
}{{mark: []byte(`\`), decode: unescapeJSON}, {mark: []byte("%"), decode: unescapePercent}, {mark: []byte("&"), decode: unescapeHTML}}

// span is a part of a text.
type span struct{ from, to int }

// withoutEscaped removes the forms that a text contains after unescaping it once or twice.
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

// unescaped is a decoded text, with the origin of each of its bytes and of its end.
type unescaped struct {
	text []byte
	at   []int
}

// decode decodes a text whose bytes have given origins; nil is their own positions.
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

// spans returns the parts that decode to one of the forms.
func (u unescaped) spans(forms []string) (all []span) {
	Each(forms, func(form string) {
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

// without replaces parts of a text by the mark.
func without(text []byte, out []span) []byte {
	if len(out) == 0 {
		return text
	}
	slices.SortFunc(out, func(a, b span) int { return a.from - b.from })
	var clean []byte
	end := 0
	for _, s := range out {
		if s.from >= end {
			clean = append(append(clean, text[end:s.from]...), Mark...)
		}
		end = max(end, s.to)
	}
	return append(clean, text[end:]...)
}

// unescapeJSON decodes a character of a JSON text.
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

// unit parses \uXXXX at the beginning of a text.
func unit(text []byte) (r rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}

// unescapePercent decodes a character of a text with %XX.
func unescapePercent(text []byte) (char []byte, size int) {
	if text[0] == '%' && len(text) >= 3 {
		if n, err := strconv.ParseUint(string(text[1:3]), 16, 8); err == nil {
			return []byte{byte(n)}, 3
		}
	}
	return text[:1], 1
}

// unescapeHTML decodes a character of a text with character references (&#XX; and &name;).
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
