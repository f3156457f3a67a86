package app

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/app/services"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service"
)

// modelService is a service of kind llm, from a scenario or from the user.
type modelService struct {
	Name    string
	Address string
	Key     string   // name of the secret; "" if there is none
	Models  []string // to request
	Unnamed bool     // no model is named; Models holds the provider's default
	TLS     *tls.Config
	Wire    service.NamedAPI
}

// modelsTime bounds the request for the list of models.
const modelsTime = 10 * time.Second

// maxModelList bounds the size of the list of models in bytes.
const maxModelList = 8 << 20

// checkModels requests the list of a service's models, which is free, and describes the answer. It sends the key if withKey
// is set.
func checkModels(ctx context.Context, m modelService, withKey bool) (string, error) {
	field := "service " + m.Name
	if at, model := services.SplitModel(m.Address); model != "" {
		m.Address, m.Models, m.Unnamed = at, []string{model}, false
	}
	u, err := service.CheckAddress(m.Address)
	if err != nil {
		return "", &engine.FieldError{Field: field, Problem: err.Error()}
	}
	key := ""
	if m.Key != "" && withKey {
		if key, _, err = (secrets.Finder{}).Find(field, m.Key); err != nil {
			return "", err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, modelsTime)
	defer cancel()
	began := time.Now()
	asked := target{name: m.Name, address: m.Address, trusted: m.TLS, wire: m.Wire}
	status, models, err := listModels(ctx, asked, u, key)
	if err != nil {
		return "", err
	}
	took := engine.FormatDuration(time.Since(began))
	if refusesKey(status) && m.Key != "" && !withKey {
		return fmt.Sprintf("answered in %s; key %s not sent to %s", took, m.Key, u.Host), nil
	}
	if err := m.refused(u, key, status); err != nil {
		return "", err
	}
	text := "answered in " + took
	if key != "" {
		if open, _, err := listModels(ctx, asked, u, ""); err == nil && refusesKey(open) {
			text += " and accepts the key " + m.Key
		}
	}
	return m.found(text, models)
}

// ownsKey reports whether the service belongs to the provider that issued its key.
func (m modelService) ownsKey() bool {
	at, _ := services.SplitModel(m.Address)
	u, err := service.CheckAddress(at)
	return err == nil && ownsKey(u, m.Key)
}

// ownsKey reports whether an address belongs to the provider that issued a key.
func ownsKey(u *url.URL, key string) bool {
	return slices.ContainsFunc(service.Providers, func(p service.Provider) bool {
		own, err := url.Parse(p.URL)
		return err == nil && p.Secret != "" && p.Secret == key && own.Scheme == u.Scheme && own.Host == u.Host
	})
}

// refused explains the status of an answer without a list.
func (m modelService) refused(u *url.URL, key string, status int) error {
	problem, hint := "", ""
	switch {
	case status == http.StatusOK:
		return nil
	case refusesKey(status) && key == "":
		problem, hint = u.Host+" requires a key", "add auth: {bearer: secret:NAME} to the service in the scenario"
	case refusesKey(status):
		problem, hint = fmt.Sprintf("%s rejects the key %s (%d)", u.Host, m.Key, status), "check the key"
	case status == http.StatusNotFound:
		problem, hint = u.Host+" has no list of models at this address (404)", "the address usually ends in /v1"
	default:
		problem = fmt.Sprintf("%s answered %d %s", u.Host, status, http.StatusText(status))
	}
	return &engine.FieldError{Field: "service " + m.Name, Problem: problem, Hint: hint}
}

func refusesKey(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// chosen describes the model that a run would request if none is named.
func (m modelService) chosen(text string, have []string) (string, error) {
	if model, ok := onlyModel(have, m.Models[0]); ok {
		return fmt.Sprintf("%s; a run requests %s", text, model), nil
	}
	return "", unnamedError(m.Name, m.Address, hasModels(have), have)
}

// found checks that the service has the models to request.
func (m modelService) found(text string, have []string) (string, error) {
	if m.Unnamed || slices.Equal(m.Models, []string{mockModel}) {
		return m.chosen(text, have)
	}
	var missing []string
	for _, model := range m.Models {
		if !hasModel(have, model) {
			missing = append(missing, model)
		}
	}
	count := engine.FormatCount(int64(len(have))) + " models"
	if len(have) == 1 {
		count = "1 model"
	}
	if len(missing) == 0 {
		return fmt.Sprintf("%s; has %s, of %s", text, strings.Join(m.Models, ", "), count), nil
	}
	hint := ""
	if len(have) > 0 {
		hint = hasModels(have)
	}
	return "", &engine.FieldError{Field: "service " + m.Name, Problem: fmt.Sprintf("%s, but it has no %s among its %s", text, strings.Join(missing, ", "), count), Hint: hint}
}

// modelsTransport is replaced in tests.
var modelsTransport = http.DefaultTransport

// listModels requests the list of models.
func listModels(ctx context.Context, t target, base *url.URL, key string) (status int, models []string, err error) {
	at := base.JoinPath("models")
	at.RawQuery = t.wire.List
	resp, err := t.get(ctx, at, t.wire.Header(key), modelsTransport)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return resp.StatusCode, nil, nil
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxModelList)).Decode(&list); err != nil {
		return resp.StatusCode, nil, fmt.Errorf("the answer of %s is not a list of models: %w", base.Host, err)
	}
	for _, m := range list.Data {
		models = append(models, m.ID)
	}
	return resp.StatusCode, models, nil
}
