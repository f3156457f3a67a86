package redact

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// setCookie matches the header that sets cookies in JSON.
var setCookie = regexp.MustCompile(`(?i)("set-cookie"\s*:\s*")(?:[^"\\]|\\.)*"`)

// Cookies removes the values of cookies from data in JSON for display: those of the header Set-Cookie, and wherever else they are,
// unless they are so short that they may occur by chance.
func Cookies(text []byte, values []string) []byte {
	if bytes.Contains(bytes.ToLower(text), []byte(`"set-cookie"`)) {
		text = setCookie.ReplaceAll(text, []byte(`${1}`+Mark+`"`))
	}
	Each(values, func(value string) {
		quoted, _ := json.Marshal(value) // texts always encode
		text = bytes.ReplaceAll(text, quoted[1:len(quoted)-1], []byte(Mark))
	})
	return text
}
