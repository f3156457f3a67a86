package chain

import (
	"regexp"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/service"
)

// SecretPrefix begins the text of a file that stands for a secret.
const SecretPrefix = "secret:"

var secretForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$`)

// IsSecret reports whether a secret can be called so.
func IsSecret(name string) bool { return secretForm.MatchString(name) }

// SecretName reads the name of a secret; "" where there is none, which is reported.
func SecretName(n *doc.Node) string {
	if n.Kind() != doc.Scalar {
		n.Text() // says what is wrong
		return ""
	}
	name, ok := strings.CutPrefix(n.Text(), SecretPrefix)
	if !ok || !IsSecret(name) {
		n.Errorf("`secret:NAME`, where NAME is an environment variable or an entry of the keychain (`throngctl secret set NAME`)",
			"a secret does not belong into the file")
		return ""
	}
	return name
}

// secretIn finds secrets inside of a text: ${secret:NAME}.
var secretIn = regexp.MustCompile(`\$?\$\{\s*secret:([^{}\s]*)\s*\}`)

// isWhole reports whether a text is secret:NAME as a whole.
func isWhole(text string) bool {
	name, ok := strings.CutPrefix(text, SecretPrefix)
	return ok && IsSecret(name)
}

// misnamed reports whether a text is meant as secret:NAME, and the name cannot be one.
func misnamed(text string) bool {
	name, ok := strings.CutPrefix(text, SecretPrefix)
	return ok && name != "" && !strings.HasPrefix(name, " ") && !strings.Contains(name, "${") && !IsSecret(name)
}

// marked returns the text of a scalar with marks in place of its secrets, and a text of the same length without either,
// which is for diagnostics. What may not have secrets here is reported.
func (r *reader) marked(n *doc.Node) (text, plain string) {
	text = n.Text()
	if r.holder != nil && strings.Contains(text, SecretPrefix) {
		if r.sent == nil {
			r.sent = map[*doc.Node]bool{}
		}
		r.sent[n] = true
	}
	switch {
	case isWhole(text) && r.holder != nil:
		r.holder.needs(text[len(SecretPrefix):])
		return service.SecretMark(text[len(SecretPrefix):]), strings.Repeat("x", len(text))
	case isWhole(text):
		reportSecret(n, 0)
		return text, text
	case r.holder != nil && misnamed(text):
		SecretName(n) // says what is wrong
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
		case r.holder == nil:
			reportSecret(n, found)
		case !IsSecret(name):
			n.ErrorfAt(found, "letters, digits, _ and, but for the first, . and -", "%q cannot be the name of a secret", name)
		default:
			r.holder.needs(name)
			return service.SecretMark(name)
		}
		return ""
	})
	return text, plain
}

// reportSecret says that a secret stands where it could not be kept secret.
func reportSecret(n *doc.Node, at int) {
	n.ErrorfAt(at, "use it in the path, query, headers, json, form or body of an http step, in args of an sql step, or under `auth` and `headers` of a service",
		"a secret cannot be used here: it would be stored or shown")
}

// RefuseSecrets reports the secrets in a part of a file, but for those that are read as values that are sent.
func (r *Reader) RefuseSecrets(n *doc.Node) { refuseSecrets(n, r.sent) }

// refuseSecrets reports the secrets in data that are kept or shown: those of a whole node, but for some.
func refuseSecrets(n *doc.Node, but map[*doc.Node]bool) {
	switch n.Kind() {
	case doc.Map:
		for _, e := range n.Entries() {
			refuseSecrets(e.Value, but)
		}
	case doc.List:
		for _, item := range n.List() {
			refuseSecrets(item, but)
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

// needs notes a secret that the service has to have.
func (s *Service) needs(name string) {
	if name != "" && !slices.Contains(s.wanted, name) {
		s.wanted = append(s.wanted, name)
	}
}

// Needs notes a secret that the service has to have, though no request carries it.
func (s *Service) Needs(name string) { s.needs(name) }

// Secrets are the names of those that the service signs in with, but for its bearer token.
func (s *Service) Secrets() []string { return s.wanted }

// Unlock gives the service its secrets, by name; Connect comes after it. What is missing has a value that is none: the
// mocks and replays need no secrets.
func (s *Service) Unlock(secrets map[string]string) {
	s.secrets = make(map[string]string, len(secrets))
	s.values = make(service.Secrets, len(s.wanted))
	for _, name := range s.wanted {
		s.values[name] = "mock-" + name
	}
	for name, value := range secrets {
		s.secrets[name] = strings.TrimSpace(value)
		s.values[name] = s.secrets[name]
	}
}
