package redact

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// A mark stands for a secret in what a step is about to send: markStart, the name in hexadecimal, markEnd. It has only
// letters and digits, so that no escaping changes it. Its value takes its place when the request leaves; neither
// expressions nor hashes ever have the value. markStart differs from process to process, so that an answer of a service
// cannot contain a mark.
var markStart = "Secret" + rand.Text()

const markEnd = "Z"

// SecretMark is the text that stands for a secret until a request leaves.
func SecretMark(name string) string {
	return markStart + hex.EncodeToString([]byte(name)) + markEnd
}

// Secrets are values by name; nil has none. A service has its own and no other's.
type Secrets map[string]string

// Marked reports whether a text has a secret's mark in it.
func Marked(text string) bool { return strings.Contains(text, markStart) }

// MarkedBytes reports whether a body has a secret's mark in it.
func MarkedBytes(body []byte) bool { return bytes.Contains(body, []byte(markStart)) }

// Unmarked is a text with secret:NAME in place of each mark: the same in every process, whatever the values are.
func Unmarked(text string) string {
	text, _ = replaceMarks(text, func(name string) (string, bool) { return "secret:" + name, true })
	return text
}

// Reveal is a text with the values in place of the marks, each as escape writes it; nil leaves values as they are. Its
// error is a *engine.StepError of class config that names a secret which the service does not have.
func (s Secrets) Reveal(text string, escape func(string) string) (string, error) {
	if !Marked(text) {
		return text, nil
	}
	missing := ""
	text, ok := replaceMarks(text, func(name string) (string, bool) {
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

// replaceMarks is a text with something else in place of each mark; ok is false if there is nothing for one.
func replaceMarks(text string, of func(name string) (string, bool)) (replaced string, ok bool) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, markStart)
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
