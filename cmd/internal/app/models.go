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

// ModelService is a service of kind llm, as a scenario or a person names it.
type ModelService struct {
	Name    string
	Address string
	Key     string   // the name of the secret; "" is none
	Models  []string // that are to answer
	Unnamed bool     // nobody says which; Models is what its provider is usually asked for
	TLS     *tls.Config
}

// modelsTime is how long the list of models may take.
const modelsTime = 10 * time.Second

// mostModels is the longest list that is read, in bytes.
const mostModels = 8 << 20

// CheckModels asks a service which models it has, which costs nothing, and says in words what answered. Its key is sent if
// withKey is set.
func CheckModels(ctx context.Context, m ModelService, withKey bool) (string, error) {
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
	asked := target{m.Name, m.Address, m.TLS}
	status, models, err := listModels(ctx, asked, u, key)
	if err != nil {
		return "", err
	}
	took := engine.FormatDuration(time.Since(began))
	if refusesKey(status) && m.Key != "" && !withKey {
		return fmt.Sprintf("answered in %s; the key %s was not sent to %s", took, m.Key, u.Host), nil
	}
	if err := m.refused(u, key, status); err != nil {
		return "", err
	}
	text := "answered in " + took
	if key != "" {
		if open, _, err := listModels(ctx, asked, u, ""); err == nil && refusesKey(open) {
			text += " and takes the key " + m.Key
		}
	}
	return m.found(text, models)
}

// OwnsKey reports whether a service is that of the provider whose key it is.
func (m ModelService) OwnsKey() bool {
	at, _ := services.SplitModel(m.Address)
	u, err := service.CheckAddress(at)
	return err == nil && ownsKey(u, m.Key)
}

// ownsKey reports whether an address is that of the provider whose key has a name.
func ownsKey(u *url.URL, key string) bool {
	return slices.ContainsFunc(service.Providers, func(p service.Provider) bool {
		own, err := url.Parse(p.URL)
		return err == nil && p.Secret != "" && p.Secret == key && own.Scheme == u.Scheme && own.Host == u.Host
	})
}

// refused says what a status means that is no list.
func (m ModelService) refused(u *url.URL, key string, status int) error {
	problem, hint := "", ""
	switch {
	case status == http.StatusOK:
		return nil
	case refusesKey(status) && key == "":
		problem, hint = u.Host+" wants a key", "auth: {bearer: secret:NAME} in the scenario"
	case refusesKey(status):
		problem, hint = fmt.Sprintf("%s refuses the key %s (%d)", u.Host, m.Key, status), "another key"
	case status == http.StatusNotFound:
		problem, hint = u.Host+" has no list of models there (404)", "the address usually ends in /v1"
	default:
		problem = fmt.Sprintf("%s answered %d %s", u.Host, status, http.StatusText(status))
	}
	return &engine.FieldError{Field: "service " + m.Name, Problem: problem, Hint: hint}
}

func refusesKey(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// chosen is the model that a run would ask for where nobody names one.
func (m ModelService) chosen(text string, have []string) (string, error) {
	if model, ok := onlyModel(have, m.Models[0]); ok {
		return fmt.Sprintf("%s; it will be asked for %s", text, model), nil
	}
	example := "NAME"
	if len(have) > 0 {
		example = have[0]
	}
	return "", unnamedError(m.Name, m.Address, hasModels(have), example)
}

// found says whether the models that are to answer are among those that a service has.
func (m ModelService) found(text string, have []string) (string, error) {
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
	return "", &engine.FieldError{Field: "service " + m.Name, Problem: fmt.Sprintf("%s, but %s is not among its %s", text, strings.Join(missing, ", "), count), Hint: hint}
}

// modelsTransport is replaced by tests.
var modelsTransport = http.DefaultTransport

// listModels asks for the list of models. Redirects are not followed: they could lead the key elsewhere.
func listModels(ctx context.Context, t target, base *url.URL, key string) (status int, models []string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath("models").String(), nil)
	if err != nil {
		return 0, nil, err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if err := payRequest(ctx); err != nil {
		return 0, nil, err
	}
	client := http.Client{Transport: t.transport(modelsTransport), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, t.away(base.Host, err)
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
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostModels)).Decode(&list); err != nil {
		return resp.StatusCode, nil, fmt.Errorf("%s does not answer with a list of models: %w", base.Host, err)
	}
	for _, m := range list.Data {
		models = append(models, m.ID)
	}
	return resp.StatusCode, models, nil
}
