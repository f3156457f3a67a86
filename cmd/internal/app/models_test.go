package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/engine/service"

	"github.com/throng-sim/throng/engine/mock"
)

// TestCheckModels checks the descriptions of services, and that the check makes no paid calls.
func TestCheckModels(t *testing.T) {
	keyring.MockInit()
	t.Setenv("GOOD_KEY", "good")
	t.Setenv("BAD_KEY", "bad")
	model, err := mock.StartModel(mock.ModelConfig{Secret: "good", Models: []string{"small", "large"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = model.Close() }()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/open/models":
			fmt.Fprint(w, `{"data": [{"id": "small:latest"}]}`)
		case "/text/models":
			fmt.Fprint(w, `hello`)
		case "/broken/models":
			w.WriteHeader(http.StatusInternalServerError)
		case "/away/models":
			http.Redirect(w, r, model.URL()+"/models", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer other.Close()
	for _, tt := range []struct{ name, address, key, models, says, fails string }{
		{"all is well", model.URL(), "GOOD_KEY", "small large", "and accepts the key GOOD_KEY; has small, large, of 2 models", ""},
		{"a model is missing", model.URL(), "GOOD_KEY", "small huge", "", "but it has no huge among its 2 models (it has small, large)"},
		{"a key that is refused", model.URL(), "BAD_KEY", "small", "", "rejects the key BAD_KEY (401)"},
		{"no key", model.URL(), "", "small", "", "requires a key"},
		{"an unknown key", model.URL(), "NO_KEY", "small", "", "the secret NO_KEY is neither in the environment nor in the keychain"},
		{"a service without keys", other.URL + "/open", "GOOD_KEY", "small", "; has small, of 1 model", ""},
		{"a model behind the address", other.URL + "/open#small", "", "mock-1", "; has small, of 1 model", ""},
		{"the mock's model", other.URL + "/open", "", "mock-1", "; a run requests small:latest", ""},
		{"the mock's model where there are two", model.URL(), "GOOD_KEY", "mock-1", "", "no model specified for " + model.URL() + ": it has small, large (append the model to the address: --service 'model=" + model.URL() + "#small')"},
		{"no list", other.URL + "/nothing", "", "small", "", "has no list of models at this address (404) (the address usually ends in /v1)"},
		{"another list", other.URL + "/text", "", "small", "", "is not a list of models"},
		{"trouble", other.URL + "/broken", "", "small", "", "answered 500 Internal Server Error"},
		{"a redirect", other.URL + "/away", "GOOD_KEY", "small", "", "answered 302 Found"},
		{"no address", "ftp://x", "", "small", "", "does not begin with http"},
		{"no server", "http://127.0.0.1:1", "", "small", "", "127.0.0.1:1 does not answer: connection refused"},
	} {
		said, err := checkModels(t.Context(), modelService{Name: "model", Address: tt.address, Key: tt.key, Models: strings.Fields(tt.models)}, true)
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		if !strings.Contains(said, tt.says) || (said == "") == (err == nil) || !strings.Contains(problem, tt.fails) {
			t.Errorf("%s: got %q, %v", tt.name, said, err)
		}
		if tt.name == "a service without keys" && strings.Contains(said, "takes the key") {
			t.Errorf("%s: a key was not read: %q", tt.name, said)
		}
	}
}

// TestListInAnotherFormat checks how a list of models is requested from the Messages API, whose versions have dates.
func TestListInAnotherFormat(t *testing.T) {
	t.Setenv("GOOD_KEY", "sk-good")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := r.Header
		if h.Get("X-Api-Key") != "sk-good" || h.Get("Authorization") != "" || h.Get("Anthropic-Version") == "" || r.URL.RequestURI() != "/v1/models?limit=1000" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"data":[{"type":"model","id":"small-20251001"}],"has_more":false}`)
	}))
	defer server.Close()
	m := modelService{Name: "model", Address: server.URL + "/v1", Key: "GOOD_KEY", Models: []string{"small"}, Wire: service.APIs[1]}
	if said, err := checkModels(t.Context(), m, true); err != nil || !strings.Contains(said, "accepts the key GOOD_KEY; has small, of 1 model") {
		t.Errorf("got %q, %v", said, err)
	}
	m.Models = []string{"small-2025"}
	if said, err := checkModels(t.Context(), m, true); err == nil {
		t.Errorf("a model that is missing: %q", said)
	}
}

// TestKeysStayHere checks that a key is sent only to addresses that may receive it.
func TestKeysStayHere(t *testing.T) {
	keyring.MockInit()
	t.Setenv("OPENAI_API_KEY", "sk-1")
	var mu sync.Mutex
	var seen []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer proxy.Close()
	old := modelsTransport
	modelsTransport = redirected{proxy.Listener.Addr().String()}
	defer func() { modelsTransport = old }()
	m := modelService{Name: "model", Address: "http://models.example.com/v1", Key: "OPENAI_API_KEY", Models: []string{"small"}}
	said, err := checkModels(t.Context(), m, m.ownsKey())
	if err != nil || !strings.Contains(said, "key OPENAI_API_KEY not sent to models.example.com") {
		t.Errorf("%q, %v", said, err)
	}
	for _, tt := range []struct {
		address string
		allowed bool
	}{{"http://models.example.com/v1", true}, {"https://api.openai.com/v1", false}} {
		m.Address = tt.address
		if _, err := checkModels(t.Context(), m, tt.allowed || m.ownsKey()); err == nil || !strings.Contains(err.Error(), "rejects the key") {
			t.Errorf("%s: %v", tt.address, err)
		}
	}
	m.Address, m.Key = "http://api.openai.com/v1", "OPENAI_API_KEY" // not encrypted
	if _, err := checkModels(t.Context(), m, m.ownsKey()); err != nil {
		t.Error(err)
	}
	if want := "[ Bearer sk-1 Bearer sk-1 ]"; fmt.Sprint(seen) != want {
		t.Errorf("sent %q, want %q", fmt.Sprint(seen), want)
	}
}

// redirected sends every request to one address.
type redirected struct{ address string }

func (d redirected) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", d.address
	return http.DefaultTransport.RoundTrip(r)
}
