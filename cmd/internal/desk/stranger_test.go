package desk

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/editor"
	"github.com/throng-sim/throng/ui/setup"
)

// TestOpeningAFileSendsNothing checks that the automatic checks of an untrusted file send nothing to its addresses, and no
// secret even to allowed ones, until the user starts a check.
func TestOpeningAFileSendsNothing(t *testing.T) {
	keyring.MockInit()
	t.Setenv("OPENAI_API_KEY", "sk-stranger-4711")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "aws-stranger-4711")
	var mu sync.Mutex
	var heard []string
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, r.Method+" "+r.Header.Get("Authorization"))
		_, _ = w.Write([]byte(`{"data": []}`))
	}))
	defer admin.Close()
	took := func() []string {
		mu.Lock()
		defer mu.Unlock()
		defer func() { heard = nil }()
		return heard
	}
	const text = `
population: {count: 1}
services:
  helper: {kind: http, url: %[1]q, auth: {bearer: secret:AWS_SECRET_ACCESS_KEY}}
  model: {kind: llm, url: %[1]q, model: m, auth: {bearer: secret:OPENAI_API_KEY}}
  db: {kind: postgres, url: "postgres://me@%[2]s/x", auth: {password: secret:AWS_SECRET_ACCESS_KEY}}
chain c: {step a: {kind: http, service: helper, post: /}}
`
	address := strings.TrimPrefix(admin.URL, "http://")
	path := filepath.Join(t.TempDir(), "mystery.yaml")
	if err := os.WriteFile(path, fmt.Appendf(nil, text, admin.URL, address), 0o600); err != nil {
		t.Fatal(err)
	}
	d := open(t, t.TempDir())
	s := setupDesk{d}
	read, err := s.Scenario(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := setup.Order{Scenario: path, Settings: read.Settings}
	preflight := func(anew bool) []engine.Check {
		t.Helper()
		all, err := s.Preflight(t.Context(), o, anew, func([]engine.Check) {})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for _, anew := range []bool{false, true} {
		if all := preflight(anew); len(took()) > 0 || !slices.ContainsFunc(all, func(c engine.Check) bool {
			return strings.Contains(c.Text, "nothing was sent to "+address) && strings.Contains(c.Text, "AWS_SECRET_ACCESS_KEY") && c.Fix == engine.FixAllow+" "+address
		}) {
			t.Fatalf("before permission (requested: %t): %+v", anew, all)
		}
	}
	if said, err := s.TestService(t.Context(), o, read.Services[0]); err == nil || len(took()) > 0 {
		t.Errorf("a test of a host that is not allowed: %s, %v", said, err)
	}
	if err := s.Launch(t.Context(), o, nil); err == nil || len(took()) > 0 {
		t.Errorf("a launch with a host that is not allowed: %v", err)
	}
	trial := editor.Trial{Order: editor.Order{Name: path}}
	if _, err := (editorDesk{d}).Try(t.Context(), trial); err == nil || len(took()) > 0 {
		t.Errorf("a trial with a host that is not allowed: %v", err)
	}
	asks, err := s.Unallowed(t.Context(), o)
	if err != nil || len(asks) != 3 || !slices.Equal(engine.Merged(asks)[0].Secrets, []string{"AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY"}) {
		t.Fatalf("got targets %+v, %v", asks, err)
	}
	o.Allow = []string{address}
	if err := s.Allow(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	o.Allow = nil
	d.preflight.Forget()
	preflight(false)
	if got := took(); len(got) == 0 || slices.ContainsFunc(got, func(h string) bool { return h != "GET " }) {
		t.Errorf("automatic checks of an allowed host sent %q", got)
	}
	preflight(true)
	if got := took(); !slices.Contains(got, "GET Bearer aws-stranger-4711") || !slices.Contains(got, "GET Bearer sk-stranger-4711") {
		t.Errorf("requested checks sent %q", got)
	}
}

// TestWhatIsWrittenHereIsTrusted checks that an edited copy of a built-in scenario may call this machine, and that an
// untrusted file may not, even after it was saved.
func TestWhatIsWrittenHereIsTrusted(t *testing.T) {
	d := open(t, t.TempDir())
	e := editorDesk{d}
	dir := t.TempDir()
	const local = "http://127.0.0.1:1"
	doc, err := e.Open(t.Context(), "shopping")
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(doc.Files[0].Text), "mock:shop", local, 1)
	own, err := e.SaveAs(t.Context(), editor.Order{Name: "shopping", Texts: map[string][]byte{doc.Files[0].Name: []byte(edited)}}, filepath.Join(dir, "mine.throng.yaml"), false)
	if err != nil {
		t.Fatal(err)
	}
	stranger := filepath.Join(dir, "stranger.yaml")
	const text = "population: {count: 1}\nservices: {a: {kind: http, url: \"%s\"}}\nchain c: {step a: {kind: http, service: a, get: /}}\n"
	if err := os.WriteFile(stranger, fmt.Appendf(nil, text, local), 0o600); err != nil {
		t.Fatal(err)
	}
	save := func(path, more string) {
		t.Helper()
		doc, err := e.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		f := doc.Files[0]
		f.Text = append(slices.Clone(f.Text), more...)
		if _, err := e.Save(t.Context(), path, []editor.File{f}, false); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]int{own: 0, stranger: 1} {
		for _, more := range []string{"", "# more\n"} {
			if more != "" {
				save(path, more)
			}
			got, err := e.Unallowed(t.Context(), editor.Trial{Order: editor.Order{Name: path}})
			if err != nil || len(got) != want {
				t.Errorf("%s, saved with %q: got targets %+v, %v", filepath.Base(path), more, got, err)
			}
		}
	}
}
