package redact

import (
	"bytes"
	"html"
	"mime"
	"net/http"
	"slices"
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

// decoder appends the first character of a text, decoded, and returns its size there.
type decoder func(to, text []byte) (longer []byte, size int)

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
		once := first.decode.all(text)
		found := spans(once, forms)
		for _, second := range escapings {
			if bytes.Contains(once, second.mark) {
				found = append(found, second.decode.origins(once, spans(second.decode.all(once), forms))...)
			}
		}
		text = without(text, first.decode.origins(text, found))
	}
	return text
}

// all decodes a text.
func (next decoder) all(text []byte) []byte {
	plain := make([]byte, 0, len(text))
	for i, size := 0, 0; i < len(text); i += size {
		plain, size = next(plain, text[i:])
	}
	return plain
}

// origins returns the parts of a text that some parts of the decoded text come from. It decodes again: an answer may be long, and the
// origins of all of its bytes take many times its memory.
func (next decoder) origins(text []byte, parts []span) []span {
	if len(parts) == 0 {
		return nil
	}
	var ends []*int // sorted
	out := slices.Clone(parts)
	for i := range out {
		ends = append(ends, &out[i].from, &out[i].to)
	}
	slices.SortFunc(ends, func(a, b *int) int { return *a - *b })
	var char []byte
	at := 0 // in the decoded text
	for i, size := 0, 0; i < len(text); i += size {
		char, size = next(char[:0], text[i:])
		for at += len(char); len(ends) > 0 && *ends[0] < at; ends = ends[1:] {
			*ends[0] = i
		}
	}
	for _, end := range ends {
		*end = len(text)
	}
	return out
}

// spans returns the parts of a text that are one of the forms.
func spans(text []byte, forms []string) (all []span) {
	Each(forms, func(form string) {
		for from := 0; ; {
			i := bytes.Index(text[from:], []byte(form))
			if i < 0 {
				return
			}
			from += i + len(form)
			all = append(all, span{from - len(form), from})
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
func unescapeJSON(to, text []byte) (longer []byte, size int) {
	if text[0] != '\\' || len(text) < 2 {
		return append(to, text[0]), 1
	}
	if i := strings.IndexByte(`"\/bfnrt`, text[1]); i >= 0 {
		return append(to, "\"\\/\b\f\n\r\t"[i]), 2
	}
	first, ok := unit(text)
	if !ok {
		return append(to, text[0]), 1
	}
	if second, ok := unit(text[6:]); ok && utf16.IsSurrogate(first) {
		if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
			return utf8.AppendRune(to, r), 12
		}
	}
	return utf8.AppendRune(to, first), 6
}

// unit parses \uXXXX at the beginning of a text.
func unit(text []byte) (r rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	return hexadecimal(text[2:6])
}

// hexadecimal parses a number. [strconv.ParseUint] allocates an error for any other text, and an answer may have many.
func hexadecimal(digits []byte) (n rune, ok bool) {
	for _, c := range digits {
		i := strings.IndexByte("0123456789abcdef", c|0x20)
		if i < 0 || c < '0' {
			return 0, false
		}
		n = n<<4 | rune(i)
	}
	return n, true
}

// unescapePercent decodes a character of a text with %XX.
func unescapePercent(to, text []byte) (longer []byte, size int) {
	if text[0] == '%' && len(text) >= 3 {
		if n, ok := hexadecimal(text[1:3]); ok {
			return append(to, byte(n)), 3
		}
	}
	return append(to, text[0]), 1
}

// unescapeHTML decodes a character of a text with character references (&#XX; and &name;).
func unescapeHTML(to, text []byte) (longer []byte, size int) {
	const longest = 12
	if text[0] != '&' {
		return append(to, text[0]), 1
	}
	end := bytes.IndexByte(text[:min(len(text), longest)], ';')
	if end < 0 {
		return append(to, text[0]), 1
	}
	reference := string(text[:end+1])
	if plain := html.UnescapeString(reference); plain != reference {
		return append(to, plain...), end + 1
	}
	return append(to, text[0]), 1
}
