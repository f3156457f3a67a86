package redact

import (
	"regexp"
	"slices"
	"strings"
)

// IsSecret reports whether a name looks like that of a secret, such as a password.
func IsSecret(name string) bool { return secretWord.MatchString(name) }

// Names of JSON fields, form fields and URL parameters whose values are secrets, including those that agents sign up with.
const (
	secretWords = `(?:passw|secret|token|authorization|api[_-]?key|credential)`
	secretName  = `[^"&?=\s]*` + secretWords + `[^"&?=\s]*`
)

var (
	secretWord  = regexp.MustCompile(`(?i)` + secretWords)
	secretField = regexp.MustCompile(`(?i)("` + secretName + `"\s*:\s*)"(?:[^"\\]|\\.)*(?:"|$)`)
	// secretInner matches JSON inside a JSON string, as in the prompt of a model.
	secretInner = regexp.MustCompile(`(?i)(\\"[^"&?=\s\\]*` + secretWords + `[^"&?=\s\\]*\\"\s*:\s*\\")(?:[^"\\]|\\\\(?:\\"|\\\\|[^"\\]))*`)
	secretParam = regexp.MustCompile(`(?i)((?:^|[?&])` + secretName + `=)[^&\s"]+`)
)

// corsField begins the names of CORS headers in JSON. They say what is allowed, and are not secrets.
const corsField = `"access-control-`

// mayName reports whether a text may match secretWords. It is much faster than the expressions, and most texts have no such
// word.
func mayName(text string) bool {
	for i := range len(text) {
		var words []string
		switch text[i] | 0x20 {
		case 'p':
			words = startingP
		case 's':
			words = startingS
		case 't':
			words = startingT
		case 'a':
			words = startingA
		case 'c':
			words = startingC
		default:
			if text[i] == longS && strings.HasPrefix(text[i:], "ſ") || text[i] == kelvin && strings.HasPrefix(text[i:], "\u212a") {
				return true // the letters fold to s and k
			}
			continue
		}
		for _, word := range words {
			if len(text)-i >= len(word) && strings.EqualFold(text[i:i+len(word)], word) {
				return true
			}
		}
	}
	return false
}

// Beginnings of secretWords, by their first letters.
var (
	startingP = []string{"passw"}
	startingS = []string{"secret"}
	startingT = []string{"token"}
	startingA = []string{"auth", "api"}
	startingC = []string{"credential"}
)

// First bytes of the letters outside ASCII that the expressions take for s and k.
const (
	longS  = 0xc5
	kelvin = 0xe2
)

// Unnamed removes the values whose names look like secrets.
func Unnamed(text string) string {
	if !mayName(text) {
		return text
	}
	text = secretField.ReplaceAllStringFunc(text, func(field string) string {
		if len(field) > len(corsField) && strings.EqualFold(field[:len(corsField)], corsField) {
			return field
		}
		return secretField.ReplaceAllString(field, `$1"`+Mark+`"`)
	})
	text = secretInner.ReplaceAllString(text, `${1}`+Mark)
	return secretParam.ReplaceAllString(text, `${1}`+Mark)
}

// secretHeaders are parts of the names of headers whose values are not shown, in lower case.
var secretHeaders = []string{"auth", "cookie", "session", "signature", "passw", "secret", "token", "apikey", "api-key", "credential"}

// IsSecretHeader reports whether the value of a header is not shown. CORS headers say what is allowed, and are shown.
func IsSecretHeader(name string) bool {
	lower := strings.ToLower(name)
	return slices.ContainsFunc(secretHeaders, func(part string) bool { return strings.Contains(lower, part) }) &&
		!strings.HasPrefix(name, "Access-Control-")
}
