// Package services says where the services of a scenario are.
package services

import (
	"net/url"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
)

// Address is where settings have a service: at the address that replaces the scenario's, or at that.
func Address(settings *engine.Settings, s *chain.Service) string {
	u, ok := settings.Services[s.Name]
	switch {
	case !ok:
		return s.URL
	case s.Kind == "llm":
		u, _ = SplitModel(u)
	}
	return u
}

// SplitModel splits the address of a service of models from the model that stands behind a #; "" is that none does.
func SplitModel(address string) (at, model string) {
	at, model, _ = strings.Cut(address, "#")
	if name, err := url.PathUnescape(model); err == nil {
		model = name
	}
	return at, strings.TrimSpace(model)
}

// WithModel is an address with a model behind it.
func WithModel(address, model string) string {
	u := url.URL{Fragment: model}
	return address + u.String()
}
