package service

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/throng-sim/throng/engine"
)

const (
	blackedOut = "…" // stands for a secret
	// leastSecret is how long a secret is, in bytes, that is taken out of whole answers: a shorter one may be there by
	// chance.
	leastSecret = 8
)

// Spellings are the forms in which a service may repeat a secret: as it is, and escaped for JSON, for an address, in
// base64 (alone and inside a longer text, as behind the user of basic authorization) and in hexadecimal. The longest
// come first. A secret that is shorter than 8 bytes has no form but its own.
func Spellings(secret string) []string {
	if len(secret) < leastSecret {
		return []string{secret}
	}
	all := append(escaped(secret), hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))))
	all = append(all, InBase64(secret)...)
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(all)
}

// InBase64 is what base64 makes of a secret, alone and inside a longer text: the characters that come from it alone.
func InBase64(secret string) (all []string) {
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			all = append(all, inBase64(alphabet, secret, before))
		}
	}
	return all
}

// escaped are the forms of a secret that differ from it only where it has characters that are special somewhere. The
// secret itself comes last.
func escaped(secret string) (all []string) {
	if strings.ContainsFunc(secret, special) {
		var in bytes.Buffer
		e := json.NewEncoder(&in)
		for _, html := range []bool{true, false} {
			in.Reset()
			e.SetEscapeHTML(html)
			_ = e.Encode(secret) // texts cannot fail
			text := strings.TrimSpace(in.String())
			text = text[1 : len(text)-1] // without the quotes
			all = append(all, text, strings.ReplaceAll(text, "/", `\/`))
		}
		for _, text := range []string{url.QueryEscape(secret), url.PathEscape(secret)} {
			all = append(all, text, lowerHex(text))
		}
	}
	return append(all, secret)
}

// special reports whether a character of a secret may be escaped; those of tokens (RFC 6750) are not, but for the last.
func special(r rune) bool {
	return r > unicode.MaxASCII || !letter(byte(r)) && !digit(byte(r)) && !strings.ContainsRune("-._~", r)
}

// lowerHex writes the %XX of an address as %xx.
func lowerHex(text string) string {
	b := []byte(text)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

// inBase64 is what base64 makes of a secret that stands behind so many other bytes (of 3): the characters that come from
// the secret alone.
func inBase64(alphabet *base64.Encoding, secret string, before int) string {
	text := alphabet.EncodeToString(append(make([]byte, before), secret...))
	if (before+len(secret))%3 != 0 { // the last one may hold bits of what follows
		text = text[:len(text)-1]
	}
	return text[(before*8+5)/6:]
}

// forms are those of all secrets of the call: of its service, and of the token that it is signed in with.
func (c *Call) forms() []string {
	if c.token == nil {
		return c.Secrets
	}
	if c.spelled != c.token {
		c.spelled, c.spellings = c.token, append(Spellings(c.token.value), c.Secrets...)
	}
	return c.spellings
}

// each calls f for those of the forms that are not there by chance.
func each(forms []string, f func(form string)) {
	for _, form := range forms {
		if len(form) >= leastSecret {
			f(form)
		}
	}
}

// blackOut takes out of an answer what a service repeats of the secrets that it was sent, so that neither the journal
// nor an expression has them: a session does not depend on which token its agent has.
func (c *Call) blackOut(a *Answer) {
	forms := c.Secrets
	if c.token != nil && a.mayRepeat(c.token.value) { // the forms of a long token take their time
		forms = c.forms()
	}
	each(forms, a.blackOut)
	a.blackOutDecoded(forms)
	if isStream(a) { // a secret may begin in one piece and end in another
		p := piecesOf(a.Body)
		each(c.forms(), p.blackOut)
		if len(p.dirty) > 0 {
			a.Body = p.body()
		}
	}
}

// blackedOut does the same with a text that was put together from the pieces of an answer.
func (c *Call) blackedOut(text string) string {
	each(c.forms(), func(form string) { text = strings.ReplaceAll(text, form, blackedOut) })
	return text
}

// mayRepeat reports whether an answer has the beginning of a form of a token in it: every form begins with that of the
// token's beginning.
func (a *Answer) mayRepeat(token string) bool {
	const start = 12
	if len(token) <= start || a.isEscaped() || strings.ContainsFunc(token[:start], func(r rune) bool { return r > unicode.MaxASCII }) {
		return true
	}
	for _, form := range Spellings(token[:start]) {
		if bytes.Contains(a.Body, []byte(form)) {
			return true
		}
		for _, values := range a.Header {
			if slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, form) }) {
				return true
			}
		}
	}
	return false
}

func (a *Answer) blackOut(secret string) {
	if bytes.Contains(a.Body, []byte(secret)) {
		a.Body = bytes.ReplaceAll(a.Body, []byte(secret), []byte(blackedOut))
	}
	for _, values := range a.Header {
		for i := range values {
			values[i] = strings.ReplaceAll(values[i], secret, blackedOut)
		}
	}
}

// said is a text for people without the secrets of the call, short ones neither.
func (c *Call) said(text string) string {
	for _, form := range c.forms() {
		if form != "" {
			text = strings.ReplaceAll(text, form, blackedOut)
		}
	}
	return text
}

// muted is the failure of an attempt without what a service put into it of secrets, or of a private answer: the errors
// of Go's HTTP client repeat what they cannot read.
func (c *Call) muted(failure *engine.StepError) *engine.StepError {
	if failure == nil || failure.Err == nil {
		return failure
	}
	text := failure.Err.Error()
	quiet := c.said(text)
	if c.Private && (strings.Contains(text, "malformed") || strings.Contains(text, "transport connection broken")) {
		quiet = "the answer, which is private, is malformed"
	}
	if quiet == text {
		return failure
	}
	return &engine.StepError{Class: failure.Class, Err: mutedError{quiet, failure.Err}}
}

// mutedError says another text than the error that it is.
type mutedError struct {
	text string
	err  error
}

func (e mutedError) Error() string { return e.text }
func (e mutedError) Unwrap() error { return e.err }
