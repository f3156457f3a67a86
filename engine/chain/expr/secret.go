package expr

import (
	"regexp"
	"strings"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/service/redact"
)

// SecretPrefix is the prefix of a text that stands for a secret.
const SecretPrefix = "secret:"

var secretForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// IsSecret reports whether name is a valid name of a secret.
func IsSecret(name string) bool { return len(name) <= 200 && secretForm.MatchString(name) }

// SecretName reads the name of a secret; "" if it is invalid, which is reported.
func SecretName(n *doc.Node) string {
	if n.Kind() != doc.Scalar {
		n.Text() // reports the error
		return ""
	}
	name, ok := strings.CutPrefix(n.Text(), SecretPrefix)
	if !ok || !IsSecret(name) {
		n.Errorf("`secret:NAME`, where NAME is an environment variable or an entry of the keychain (`throngctl secret set NAME`)",
			"a secret must not be in the file")
		return ""
	}
	return name
}

// secretIn finds secrets inside a text: ${secret:NAME}.
var secretIn = regexp.MustCompile(`\$?\$\{\s*secret:([^{}\s]*)\s*\}`)

// isWhole reports whether a whole text is secret:NAME.
func isWhole(text string) bool {
	name, ok := strings.CutPrefix(text, SecretPrefix)
	return ok && IsSecret(name)
}

// misnamed reports whether a text looks like secret:NAME, but has an invalid name.
func misnamed(text string) bool {
	name, ok := strings.CutPrefix(text, SecretPrefix)
	return ok && name != "" && !strings.HasPrefix(name, " ") && !strings.Contains(name, "${") && !IsSecret(name)
}

// marked returns the text of a scalar with marks in place of its secrets and cookies, and a text of the same length without
// them or marks, for diagnostics. Those in the wrong place are reported.
func (r *Compiler) marked(n *doc.Node) (text, plain string) {
	text, plain = r.withSecrets(n)
	return r.withCookies(n, text, plain)
}

// withSecrets is marked for secrets only.
func (r *Compiler) withSecrets(n *doc.Node) (text, plain string) {
	text = n.Text()
	if r.Secrets != nil && strings.Contains(text, SecretPrefix) {
		if r.File.Sent == nil {
			r.File.Sent = map[*doc.Node]bool{}
		}
		r.File.Sent[n] = true
	}
	switch {
	case isWhole(text) && r.Secrets != nil:
		r.Secrets.Needs(text[len(SecretPrefix):])
		return redact.SecretMark(text[len(SecretPrefix):]), strings.Repeat("x", len(text))
	case isWhole(text):
		reportSecret(n, 0)
		return text, text
	case r.Secrets != nil && misnamed(text):
		SecretName(n) // reports the error
		return text, text
	case !strings.Contains(text, SecretPrefix):
		return text, text
	}
	plain = secretIn.ReplaceAllStringFunc(text, func(one string) string {
		if strings.HasPrefix(one, "$$") {
			return one
		}
		return strings.Repeat("x", len(one))
	})
	at := 0
	text = secretIn.ReplaceAllStringFunc(text, func(one string) string {
		if strings.HasPrefix(one, "$$") {
			return one
		}
		found := strings.Index(n.Text()[at:], one) + at
		at = found + len(one)
		name := secretIn.FindStringSubmatch(one)[1]
		switch {
		case r.Secrets == nil:
			reportSecret(n, found)
		case !IsSecret(name):
			n.ErrorfAt(found, "letters, digits, _ and, but for the first, . and -", "%q cannot be the name of a secret", name)
		default:
			r.Secrets.Needs(name)
			return redact.SecretMark(name)
		}
		return ""
	})
	return text, plain
}

// reportSecret reports a secret that would be stored or shown.
func reportSecret(n *doc.Node, at int) {
	n.ErrorfAt(at, "use it in the path, query, headers, json, form, multipart or body of an http step, in args of an sql step, or under `auth` and `headers` of a service",
		"a secret cannot be used here: it would be stored or shown")
}

// RefuseSecrets reports the secrets in data that is stored or shown: those of a whole node, with exceptions.
func RefuseSecrets(n *doc.Node, but map[*doc.Node]bool) {
	switch n.Kind() {
	case doc.Map:
		for _, e := range n.Entries() {
			RefuseSecrets(e.Value, but)
		}
	case doc.List:
		for _, item := range n.List() {
			RefuseSecrets(item, but)
		}
	case doc.Scalar:
		if but[n] {
			return
		}
		text, _ := n.Scalar().(string)
		if isWhole(text) {
			reportSecret(n, 0)
		} else if at := secretIn.FindStringIndex(text); at != nil && !strings.HasPrefix(text[at[0]:], "$$") {
			reportSecret(n, at[0])
		}
	case doc.Absent, doc.Null:
	}
}
