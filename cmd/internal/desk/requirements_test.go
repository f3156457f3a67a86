package desk

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/runs"
	"github.com/throng-sim/throng/ui/setup"
)

// TestRequirements checks that a missing secret and personas to write are reported, and that a stored secret is no longer
// missing.
func TestRequirements(t *testing.T) {
	d := setupDesk{open(t, t.TempDir())}
	path := filepath.Join(t.TempDir(), "town.yaml")
	const text = "population: {count: 3, write: {service: model, prompt: who, answer: {name: string}}}\n" +
		"services: {model: {kind: llm, provider: openai, auth: {bearer: \"secret:THRONG_TEST_KEY\"}}}\nchain c: {step a: {kind: stop}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := d.Scenario(t.Context(), path, nil)
	want := setup.Service{Name: "model", Kind: "llm", URL: "https://api.openai.com/v1", Secret: "THRONG_TEST_KEY", Models: "gpt-4o-mini"}
	if err != nil || len(s.Services) != 1 || s.Services[0] != want {
		t.Fatalf("%+v, %v", s, err)
	}
	o := setup.Order{Scenario: path, Settings: engine.DefaultSettings()}
	out, err := d.Requirements(t.Context(), o)
	lacks := setup.Missing{Service: "model", Secret: "THRONG_TEST_KEY", Problem: "the secret THRONG_TEST_KEY is neither in the environment nor in the keychain", Kept: "in the keychain"}
	if err != nil || len(out.Missing) != 1 || out.Missing[0] != lacks {
		t.Errorf("missing %+v, %v", out.Missing, err)
	}
	if out.Unwritten != 3 || !strings.Contains(out.Writing, "3 personas to write by model (gpt-4o-mini)") {
		t.Errorf("got %d personas to write: %s", out.Unwritten, out.Writing)
	}
	if err := d.KeepSecret(t.Context(), "THRONG_TEST_KEY", "sk-1"); err != nil {
		t.Fatal(err)
	}
	if out, err = d.Requirements(t.Context(), o); err != nil || out.Missing != nil {
		t.Errorf("missing %+v, %v", out.Missing, err)
	}
	if err := d.KeepSecret(t.Context(), "THRONG_TEST_KEY", " "); err == nil {
		t.Error("an empty secret was stored")
	}
	if out, err = d.Requirements(t.Context(), setup.Order{Scenario: "shopping"}); err != nil || out.Missing != nil || out.Writing != "" {
		t.Errorf("the shoppers: got %+v, %v", out, err)
	}
}

// TestForecast checks the forecast of an order before a run, and that the next forecast is based on the newest similar run.
func TestForecast(t *testing.T) {
	d := setupDesk{open(t, t.TempDir())}
	f, err := d.Forecast(t.Context(), order(t, d.Desk, nil))
	if err != nil || !f.Sessions.Known() || f.Run != "" {
		t.Fatalf("got %+v, %v", f, err)
	}
	sessions := f.Sessions.High
	launch(t, d.Desk, nil)
	<-d.Settled()
	if f, err = d.Forecast(t.Context(), order(t, d.Desk, nil)); err != nil || f.Run == "" || f.Basis() != engine.Measured || f.Sessions.High != sessions {
		t.Errorf("after a run: %+v, %v", f, err)
	}
	_, err = d.Forecast(t.Context(), order(t, d.Desk, func(o *setup.Order) { o.Settings.Filter = "agnet" }))
	if mistake, ok := errors.AsType[*engine.FieldError](err); !ok || mistake.Field != "filter" {
		t.Errorf("an invalid filter: %v", err)
	}
	if _, err = d.Forecast(t.Context(), setup.Order{Scenario: "nowhere"}); err == nil {
		t.Error("a missing scenario was accepted")
	}
}

// TestSecretsWithoutAKeychain checks that secrets last until the program ends if there is no keychain.
func TestSecretsWithoutAKeychain(t *testing.T) {
	d := setupDesk{open(t, t.TempDir())}
	keyring.MockInitWithError(errors.New("locked"))
	t.Cleanup(func() { _ = secrets.Forget("THRONG_TEST_KEY") })
	path := filepath.Join(t.TempDir(), "town.yaml")
	const text = "services: {shop: {kind: http, url: \"https://shop.example.com\", auth: {bearer: \"secret:THRONG_TEST_KEY\"}}}\n" +
		"chain c: {step a: {kind: http, service: shop, get: /}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := setup.Order{Scenario: path, Settings: engine.DefaultSettings()}
	out, err := d.Requirements(t.Context(), o)
	if err != nil || len(out.Missing) != 1 || !strings.HasPrefix(out.Missing[0].Kept, "until the program ends") {
		t.Errorf("missing %+v, %v", out.Missing, err)
	}
	if err := d.KeepSecret(t.Context(), "THRONG_TEST_KEY", "sk-1"); err != nil {
		t.Fatal(err)
	}
	if out, err = d.Requirements(t.Context(), o); err != nil || out.Missing != nil || os.Getenv("THRONG_TEST_KEY") != "" {
		t.Errorf("missing %+v, %v, or it is in the environment", out.Missing, err)
	}
	want := setup.Stored{Service: "shop", Secret: "THRONG_TEST_KEY", Place: secrets.InMemory, Kept: "until the program ends"}
	if len(out.Stored) != 1 || out.Stored[0] != want {
		t.Errorf("stored %+v, want %+v", out.Stored, want)
	}
	if known := importDesk(d).Known(t.Context(), []string{"THRONG_TEST_KEY"}); known["THRONG_TEST_KEY"] != secrets.InMemory {
		t.Errorf("the import finds it in %q", known)
	}
	_ = secrets.Forget("THRONG_TEST_KEY")
	t.Setenv("THRONG_TEST_KEY", "wrong") // a value that is entered comes first
	if err := d.KeepSecret(t.Context(), "THRONG_TEST_KEY", "right"); err != nil {
		t.Fatal(err)
	}
	if value, _, err := (secrets.Finder{}).Find("secret", "THRONG_TEST_KEY"); value != "right" || err != nil {
		t.Errorf("after a change it is %q, %v", value, err)
	}
}

// TestResumeWithoutItsSecrets checks that a run cannot be resumed without its secret after a restart, and that the error
// names the secret.
func TestResumeWithoutItsSecrets(t *testing.T) {
	d := open(t, t.TempDir())
	keyring.MockInitWithError(errors.New("locked"))
	t.Cleanup(func() { _ = secrets.Forget("THRONG_TEST_KEY") })
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	path := filepath.Join(t.TempDir(), "town.yaml")
	text := "services: {shop: {kind: http, url: \"" + server.URL + "\", auth: {bearer: \"secret:THRONG_TEST_KEY\"}}}\n" +
		"chain c: {step a: {kind: http, service: shop, get: /}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.KeepSecret(t.Context(), "THRONG_TEST_KEY", "sk-1"); err != nil {
		t.Fatal(err)
	}
	settings := engine.DefaultSettings()
	settings.Cycles = 1
	if err := (setupDesk{d}).Launch(t.Context(), setup.Order{Scenario: path, Settings: settings, Allow: []string{strings.TrimPrefix(server.URL, "http://")}}, nil); err != nil {
		t.Fatal(err)
	}
	<-d.Settled()
	run := (liveDesk{d}).Job().ID()
	resume := func() error {
		_, err := runsDesk{d}.Resume(t.Context(), run, runs.Resumption{})
		return err
	}
	_ = secrets.Forget("THRONG_TEST_KEY") // as if the program had ended
	if locked, ok := errors.AsType[*runs.LockedError](resume()); !ok || strings.Join(locked.Secrets, " ") != "THRONG_TEST_KEY" || !strings.HasPrefix(locked.Kept, "until") {
		t.Errorf("without the secret: %v", locked)
	}
	if err := d.KeepSecret(t.Context(), "THRONG_TEST_KEY", "sk-1"); err != nil {
		t.Fatal(err)
	}
	if err := resume(); err == nil || !strings.Contains(err.Error(), "has completed all") {
		t.Errorf("with the secret: %v", err)
	}
}
