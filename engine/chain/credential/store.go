// Package credential holds the secrets, headers and certificates with which a service is called.
package credential

import (
	"maps"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/service/redact"
)

// Store holds the secrets of one service: the names that the file uses and, once unlocked, their values.
type Store struct {
	Encoded bool // its secrets are also sent in base64, as in basic authentication

	wanted    []string // names
	secrets   map[string]string
	Values    redact.Secrets // values for the marks
	Concealed []string       // values to remove from error texts
}

// Needs records a secret that the service needs. It ignores "".
func (s *Store) Needs(name string) {
	if name != "" && !slices.Contains(s.wanted, name) {
		s.wanted = append(s.wanted, name)
	}
}

// Secrets returns the names of the service's secrets, except its bearer token.
func (s *Store) Secrets() []string { return s.wanted }

// Unlock sets the service's secrets, by name; connect the service afterward. Missing secrets get a placeholder, because
// mocks and replays need none.
func (s *Store) Unlock(secrets map[string]string) {
	s.secrets = make(map[string]string, len(secrets))
	s.Values = make(redact.Secrets, len(s.wanted))
	for _, name := range s.wanted {
		s.Values[name] = "mock-" + name
	}
	for name, value := range secrets {
		s.secrets[name] = strings.TrimSpace(value)
		s.Values[name] = s.secrets[name]
	}
}

// Secret returns the value of a secret, or "" if it is locked.
func (s *Store) Secret(name string) string { return s.secrets[name] }

// Conceal sets the values to remove from error texts: the secrets and further ones. With encoded, their base64 forms may be
// encoded again.
func (s *Store) Conceal(encoded bool, further ...string) {
	s.Concealed = nil
	for _, value := range append(slices.Sorted(maps.Values(s.secrets)), further...) {
		if value == "" {
			continue
		}
		s.Concealed = append(s.Concealed, redact.Spellings(value)...)
		if encoded || s.Encoded {
			for _, form := range redact.InBase64(value) {
				s.Concealed = append(s.Concealed, redact.Spellings(form)...)
			}
		}
	}
}
