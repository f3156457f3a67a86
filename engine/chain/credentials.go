package chain

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/service/redact"
)

// needs records a secret that the service needs.
func (s *Service) needs(name string) {
	if name != "" && !slices.Contains(s.wanted, name) {
		s.wanted = append(s.wanted, name)
	}
}

// Needs records a secret that the service needs, although no request carries it.
func (s *Service) Needs(name string) { s.needs(name) }

// Secrets returns the names of the service's secrets, except its bearer token.
func (s *Service) Secrets() []string { return s.wanted }

// Unlock sets the service's secrets, by name; call Connect afterward. Missing secrets get a placeholder, because mocks
// and replays need none.
func (s *Service) Unlock(secrets map[string]string) {
	s.secrets = make(map[string]string, len(secrets))
	s.values = make(redact.Secrets, len(s.wanted))
	for _, name := range s.wanted {
		s.values[name] = "mock-" + name
	}
	for name, value := range secrets {
		s.secrets[name] = strings.TrimSpace(value)
		s.values[name] = s.secrets[name]
	}
}
