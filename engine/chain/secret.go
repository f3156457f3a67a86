package chain

import (
	"regexp"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
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

// secretValue is data of a login that is a secret: no expression sees it.
type secretValue struct {
	of   *Service
	name string
}

func (v secretValue) Eval(Contexts) (script.Value, error) {
	return starlark.String(v.of.secrets[v.name]), nil
}

func (r *reader) secret(n *doc.Node) Value {
	name := SecretName(n)
	r.holder.needs(name)
	return secretValue{r.holder, name}
}

// needs notes a secret that the service has to have.
func (s *Service) needs(name string) {
	if name != "" && !slices.Contains(s.wanted, name) {
		s.wanted = append(s.wanted, name)
	}
}

// Secrets are the names of those that the service signs in with, but for its bearer token.
func (s *Service) Secrets() []string { return s.wanted }

// Unlock gives the service its secrets, by name; Connect comes after it.
func (s *Service) Unlock(secrets map[string]string) {
	s.secrets = make(map[string]string, len(secrets))
	for name, value := range secrets {
		s.secrets[name] = strings.TrimSpace(value)
	}
}
