// Package redact keeps secrets out of what is stored and shown, and inserts them into what is sent.
package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/throng-sim/throng/engine"
)

const (
	// Mark replaces a secret.
	Mark = "…"
	// leastSecret is the length in bytes from which a secret is removed from whole responses. A shorter one may occur by chance.
	leastSecret = 8
)

// Spellings returns the forms in which a service may repeat a secret: as it is, escaped for JSON and for URLs, in base64 (alone and
// inside a longer text, as after the user in basic authentication), and in hexadecimal. The longest come first. A secret shorter
// than 8 bytes has only its own form.
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

// InBase64 returns the base64 forms of a secret, alone and inside a longer text: the characters that depend on the secret alone.
func InBase64(secret string) (all []string) {
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			all = append(all, inBase64(alphabet, secret, before))
		}
	}
	return all
}

// escaped returns the forms of a secret that differ from it only in special characters. The secret itself comes last.
func escaped(secret string) (all []string) {
	if strings.ContainsFunc(secret, special) {
		var in bytes.Buffer
		e := json.NewEncoder(&in)
		for _, html := range []bool{true, false} {
			in.Reset()
			e.SetEscapeHTML(html)
			_ = e.Encode(secret) // strings always encode
			text := strings.TrimSpace(in.String())
			text = text[1 : len(text)-1] // without quotes
			all = append(all, text, strings.ReplaceAll(text, "/", `\/`))
		}
		for _, text := range []string{url.QueryEscape(secret), url.PathEscape(secret)} {
			all = append(all, text, lowerHex(text))
		}
	}
	return append(all, secret)
}

// special reports whether a character of a secret may be escaped. Those of tokens (RFC 6750) are not, except for the padding.
func special(r rune) bool {
	return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.~", r)
}

// lowerHex writes %XX in lower case.
func lowerHex(text string) string {
	b := []byte(text)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

// inBase64 returns the base64 form of a secret after before other bytes (modulo 3): the characters that depend on the secret alone.
func inBase64(alphabet *base64.Encoding, secret string, before int) string {
	text := alphabet.EncodeToString(append(make([]byte, before), secret...))
	if (before+len(secret))%3 != 0 { // the last character may contain bits of what follows
		text = text[:len(text)-1]
	}
	return text[(before*8+5)/6:]
}

// Each calls f for the forms that are long enough not to occur by chance.
func Each(forms []string, f func(form string)) {
	for _, form := range forms {
		if len(form) >= leastSecret {
			f(form)
		}
	}
}

// Shorten cuts a text to at most n bytes.
func Shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return fmt.Sprintf("%s…", strings.ToValidUTF8(text[:n], ""))
}

// Binary returns the text that is shown instead of binary data.
func Binary(sizeBytes int) string { return "binary data, " + engine.FormatBytes(int64(sizeBytes)) }
