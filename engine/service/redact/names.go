package redact

import (
	"regexp"
	"strings"
)

// IsSecret reports whether what goes by a name is a secret by the looks of it, such as a password.
func IsSecret(name string) bool { return secretWord.MatchString(name) }

// Names of fields of JSON, of forms and of addresses whose values are secrets, whoever gave them: those that agents sign
// up with as well.
const (
	secretWords = `(?:passw|secret|token|authorization|api[_-]?key|credential)`
	secretName  = `[^"&?=\s]*` + secretWords + `[^"&?=\s]*`
)

var (
	secretWord  = regexp.MustCompile(`(?i)` + secretWords)
	secretField = regexp.MustCompile(`(?i)("` + secretName + `"\s*:\s*)"(?:[^"\\]|\\.)*(?:"|$)`)
	// secretInner are those of JSON that stands in a text of JSON, as in what a model is asked.
	secretInner = regexp.MustCompile(`(?i)(\\"[^"&?=\s\\]*` + secretWords + `[^"&?=\s\\]*\\"\s*:\s*\\")(?:[^"\\]|\\\\(?:\\"|\\\\|[^"\\]))*`)
	secretParam = regexp.MustCompile(`(?i)((?:^|[?&])` + secretName + `=)[^&\s"]+`)
)

// corsField begins the headers of CORS in JSON, which say what is allowed, and no secret.
const corsField = `"access-control-`

// Unnamed is a text without the values in it that are named like secrets.
func Unnamed(text string) string {
	text = secretField.ReplaceAllStringFunc(text, func(field string) string {
		if len(field) > len(corsField) && strings.EqualFold(field[:len(corsField)], corsField) {
			return field
		}
		return secretField.ReplaceAllString(field, `$1"`+Mark+`"`)
	})
	text = secretInner.ReplaceAllString(text, `${1}`+Mark)
	return secretParam.ReplaceAllString(text, `${1}`+Mark)
}

// secretHeader are the names of headers whose values are not shown.
var secretHeader = regexp.MustCompile(`(?i)auth|cookie|session|signature|passw|secret|token|api-?key|credential`)

// IsSecretHeader reports whether the value of a header is not shown. Those of CORS say what is allowed, and no secret.
func IsSecretHeader(name string) bool {
	return secretHeader.MatchString(name) && !strings.HasPrefix(name, "Access-Control-")
}
