// Package services resolves the addresses of the services of a scenario.
package services

import (
	"net/url"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
)

// mock begins the addresses of mocks.
const mock = "mock:"

// Address returns the address of a service: the replacement in the settings, or the scenario's. If a service is replaced by a mock,
// so is the one that issues its tokens.
func Address(settings *engine.Settings, s *chain.Service) string {
	u, ok := settings.Services[s.Name]
	switch {
	case s.For != nil && strings.HasPrefix(settings.Services[s.For.Name], mock):
		return settings.Services[s.For.Name]
	case !ok:
		return s.URL
	case s.Kind == "llm":
		u, _ = SplitModel(u)
	}
	return u
}

// SplitModel splits the address of a model service from the model after a #; model is "" if there is none.
func SplitModel(address string) (at, model string) {
	at, model, _ = strings.Cut(address, "#")
	if name, err := url.PathUnescape(model); err == nil {
		model = name
	}
	return at, strings.TrimSpace(model)
}

// WithModel appends a model to an address.
func WithModel(address, model string) string {
	u := url.URL{Fragment: model}
	return address + u.String()
}
