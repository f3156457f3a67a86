package redact

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// A mark stands for a secret in a request until it is sent: markStart, the name in hexadecimal, markEnd. It consists of letters and
// digits, so that escaping does not change it. Expressions and hashes never contain the value. markStart differs between processes,
// so that a response cannot contain a mark.
var markStart = "Secret" + rand.Text()

const markEnd = "Z"

// cookieStart begins the mark of a cookie, which is replaced when the request is sent, like that of a secret.
var cookieStart = "Cookie" + rand.Text()

// SecretMark returns the mark of a secret.
func SecretMark(name string) string {
	return markStart + hex.EncodeToString([]byte(name)) + markEnd
}

// CookieMark returns the mark of a cookie.
func CookieMark(name string) string {
	return cookieStart + hex.EncodeToString([]byte(name)) + markEnd
}

// Secrets are the secrets of a service by name. Nil has none.
type Secrets map[string]string

// Marked reports whether a text contains the mark of a secret or a cookie.
func Marked(text string) bool { return strings.Contains(text, markStart) || NeedsCookie(text) }

// MarkedBytes reports whether a body contains the mark of a secret or a cookie.
func MarkedBytes(body []byte) bool {
	return bytes.Contains(body, []byte(markStart)) || bytes.Contains(body, []byte(cookieStart))
}

// NeedsCookie reports whether a text contains the mark of a cookie.
func NeedsCookie(text string) bool { return strings.Contains(text, cookieStart) }

// Unmarked returns a text with secret:NAME or cookie:NAME in place of each mark. It does not depend on the process or on the
// values.
func Unmarked(text string) string {
	text, _ = replaceMarks(text, markStart, func(name string) (string, bool) { return "secret:" + name, true })
	text, _ = replaceMarks(text, cookieStart, func(name string) (string, bool) { return "cookie:" + name, true })
	return text
}

// RevealCookies returns a text with the values of cookies in place of their marks, escaped by escape if that is not nil. missing is
// the name of a cookie without a value, or "".
func RevealCookies(text string, of func(name string) (string, bool), escape func(string) string) (revealed, missing string) {
	if !NeedsCookie(text) {
		return text, ""
	}
	revealed, ok := replaceMarks(text, cookieStart, func(name string) (string, bool) {
		value, known := of(name)
		if !known {
			missing = name
		} else if escape != nil {
			value = escape(value)
		}
		return value, known
	})
	if !ok {
		return "", missing
	}
	return revealed, ""
}

// Reveal returns a text with the values in place of the marks, escaped by escape if that is not nil. Its error is a
// *engine.StepError of class config that names an unknown secret.
func (s Secrets) Reveal(text string, escape func(string) string) (string, error) {
	if !strings.Contains(text, markStart) {
		return text, nil
	}
	missing := ""
	text, ok := replaceMarks(text, markStart, func(name string) (string, bool) {
		value, known := s[name]
		if !known {
			missing = name
		} else if escape != nil {
			value = escape(value)
		}
		return value, known
	})
	if !ok {
		return "", engine.Fail(engine.ConfigError, "the secret %s is not one of this service", missing)
	}
	return text, nil
}

// replaceMarks replaces each mark that begins with start; ok is false if there is no replacement for one.
func replaceMarks(text, start string, of func(name string) (string, bool)) (replaced string, ok bool) {
	if !strings.Contains(text, start) {
		return text, true
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, start)
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		digits, after, _ := strings.Cut(rest, markEnd)
		name, err := hex.DecodeString(digits)
		value, known := "", false
		if err == nil {
			value, known = of(string(name))
		}
		if !known {
			return "", false
		}
		b.WriteString(value)
		text = after
	}
}
