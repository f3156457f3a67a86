package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/services"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/service"
)

// models are those that a service is asked for, the first first: the one behind the address that is used instead of the
// file's, or those of the file.
func (l Services) models(s *chain.Service) []string {
	if _, model := services.SplitModel(l.Settings.Services[s.Name]); s.Kind == "llm" && model != "" {
		return []string{model}
	}
	if s.Named == nil {
		return s.Models
	}
	return s.Named
}

// unnamed reports whether nobody says which model a service is to be asked for: it is not where the file says, and what
// the file's provider is usually asked for need not be known there.
func (l Services) unnamed(s *chain.Service) bool {
	_, model := services.SplitModel(l.Settings.Services[s.Name])
	return s.Kind == "llm" && s.Unnamed && model == "" && l.address(s) != s.URL && !l.mocks(s)
}

// mockModel is what the mock model is called.
var mockModel = service.Providers[0].Model

// nameModels asks services whose model nobody names which ones they have, and takes what leaves no choice; it is kept
// with the run: addresses are those of all services then. Every service is asked for its models from then on.
func (l Services) nameModels(ctx context.Context, bearers map[string]string) (addresses map[string]string, err error) {
	var mistakes []error
	for _, s := range l.Scenario.Services {
		if !l.unnamed(s) {
			continue
		}
		address := l.address(s)
		model, err := l.nameModel(ctx, s, address, bearers[s.Name])
		if err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		l.Settings.Services = maps.Clone(l.Settings.Services)
		l.Settings.Services[s.Name] = services.WithModel(address, model)
		slog.Info("the service is asked for the model that it has", "service", s.Name, "model", model)
	}
	for _, s := range l.Scenario.Services {
		s.Models = l.models(s)
	}
	return l.Settings.Services, errors.Join(mistakes...)
}

// nameModel finds the model of one service.
func (l Services) nameModel(ctx context.Context, s *chain.Service, address, key string) (string, error) {
	u, err := service.CheckAddress(address)
	if err != nil {
		return "", &engine.FieldError{Field: "service " + s.Name, Problem: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, modelsTime)
	defer cancel()
	trusted, err := l.trust(s)
	if err != nil {
		return "", err
	}
	status, have, err := listModels(ctx, target{s.Name, address, trusted}, u, key)
	usual := l.models(s)[0]
	if err == nil && status != 200 {
		err = fmt.Errorf("%s answers %d when it is asked for its models", u.Host, status)
	}
	switch {
	case err != nil && usual != mockModel:
		return usual, nil
	case err != nil:
		return "", unnamedError(s.Name, address, err.Error(), "NAME")
	}
	if model, ok := onlyModel(have, usual); ok {
		return model, nil
	}
	example := "NAME"
	if len(have) > 0 {
		example = have[0]
	}
	return "", unnamedError(s.Name, address, hasModels(have), example)
}

// onlyModel is the model to ask for where nobody says: the usual one if it is there, or the only one that does not embed.
func onlyModel(have []string, usual string) (string, bool) {
	if hasModel(have, usual) {
		return usual, true
	}
	chats := slices.DeleteFunc(slices.Clone(have), func(id string) bool { return strings.Contains(strings.ToLower(id), "embed") })
	if len(chats) == 1 {
		return chats[0], true
	}
	return "", false
}

func hasModel(have []string, model string) bool {
	return slices.ContainsFunc(have, func(id string) bool { return id == model || id == model+":latest" })
}

// hasModels says in words which models there are.
func hasModels(have []string) string {
	const most = 5
	switch {
	case len(have) == 0:
		return "it lists no models"
	case len(have) > most:
		return "it has " + strings.Join(have[:most], ", ") + ", …"
	}
	return "it has " + strings.Join(have, ", ")
}

func unnamedError(name, address, why, example string) error {
	return &engine.FieldError{
		Field: "service " + name, Problem: "no model is named for " + address + ": " + why,
		Hint: fmt.Sprintf("put the model behind the address: --service '%s=%s'", name, services.WithModel(address, example)),
	}
}
