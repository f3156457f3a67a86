package redact

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"unicode"
)

// Response removes the spellings of secrets from a response, whichever way their characters are escaped. It changes the header in
// place and returns the body without them.
func Response(body []byte, header http.Header, spellings []string) []byte {
	Each(spellings, func(form string) {
		if bytes.Contains(body, []byte(form)) {
			body = bytes.ReplaceAll(body, []byte(form), []byte(Mark))
		}
		for _, values := range header {
			for i := range values {
				values[i] = strings.ReplaceAll(values[i], form, Mark)
			}
		}
	})
	return decodedResponse(body, header, spellings)
}

// MayRepeat reports whether a response may contain a token: it contains the beginning of one of the token's spellings. Every
// spelling begins with a spelling of the token's beginning.
func MayRepeat(body []byte, header http.Header, token string) bool {
	const start = 12
	if len(token) <= start || isEscaped(body, header) || strings.ContainsFunc(token[:start], func(r rune) bool { return r > unicode.MaxASCII }) {
		return true
	}
	for _, form := range Spellings(token[:start]) {
		if bytes.Contains(body, []byte(form)) {
			return true
		}
		for _, values := range header {
			if slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, form) }) {
				return true
			}
		}
	}
	return false
}

// Text removes spellings from a text, except those so short that they may occur by chance.
func Text(text string, spellings []string) string {
	Each(spellings, func(form string) { text = strings.ReplaceAll(text, form, Mark) })
	return text
}

// ShownText removes all spellings from a text for display, however short they are.
func ShownText(text string, spellings []string) string {
	for _, form := range spellings {
		all := []string{form}
		if len(form) < leastSecret { // its spellings are not among them
			all = escaped(form)
		}
		for _, form := range all {
			if form != "" {
				text = strings.ReplaceAll(text, form, Mark)
			}
		}
	}
	return text
}
