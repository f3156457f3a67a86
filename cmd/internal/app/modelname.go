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

// models returns the models to request from a service, in the order of preference: the model behind a replaced address, or
// those of the file.
func (l Services) models(s *chain.Service) []string {
	if _, model := services.SplitModel(l.Settings.Services[s.Name]); s.Kind == "llm" && model != "" {
		return []string{model}
	}
	if s.Named == nil {
		return s.Models
	}
	return s.Named
}

// unnamed reports whether no model is named for a service: its address is replaced, and the default model of the file's
// provider may not exist there.
func (l Services) unnamed(s *chain.Service) bool {
	_, model := services.SplitModel(l.Settings.Services[s.Name])
	return s.Kind == "llm" && s.Unnamed && model == "" && l.address(s) != s.URL && !l.mocks(s)
}

// mockModel is the name of the mock model.
var mockModel = service.Providers[0].Model

// nameModels asks services without a named model for their models, and chooses the model if there is only one choice. It
// returns the addresses of all services with the chosen models, which are stored with the run, and sets the models of every
// service.
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
		slog.Info("model chosen from the service's list", "service", s.Name, "model", model)
	}
	for _, s := range l.Scenario.Services {
		s.Models = l.models(s)
	}
	return l.Settings.Services, errors.Join(mistakes...)
}

// nameModel chooses the model of one service.
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
	status, have, err := listModels(ctx, target{name: s.Name, address: address, trusted: trusted, wire: s.Wire}, u, key)
	usual := l.models(s)[0]
	if err == nil && status != 200 {
		err = fmt.Errorf("%s answered %d to the request for its models", u.Host, status)
	}
	switch {
	case err != nil && usual != mockModel:
		return usual, nil
	case err != nil:
		return "", unnamedError(s.Name, address, err.Error(), nil)
	}
	if model, ok := onlyModel(have, usual); ok {
		return model, nil
	}
	return "", unnamedError(s.Name, address, hasModels(have), have)
}

// onlyModel returns the model to request if none is named: the usual one if the service has it, or the only one that is not
// an embedding model.
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

// hasModel reports whether a list has a model: by its name, or as the newest of several versions, which some services list by their
// dates only.
func hasModel(have []string, model string) bool {
	return slices.ContainsFunc(have, func(id string) bool {
		version, ok := strings.CutPrefix(id, model+"-")
		return id == model || id == model+":latest" || ok && len(version) == len("20060102") && strings.Trim(version, "0123456789") == ""
	})
}

// hasModels describes the models of a service.
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

// unnamedError says that no model is named for a service that has some models.
func unnamedError(name, address, why string, have []string) error {
	example := append(slices.Clone(have), "NAME")[0]
	return &engine.FieldError{
		Field: "service " + name, Problem: "no model specified for " + address + ": " + why,
		Hint: fmt.Sprintf("append the model to the address: --service '%s=%s'", name, services.WithModel(address, example)),
	}
}
