package desk

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/ui/editor"
	"github.com/throng-sim/throng/ui/wizard"
)

// shopDocument describes a shop with products and baskets.
const shopDocument = `openapi: 3.1.0
info: {title: Corner shop, version: "1.0"}
components:
  securitySchemes: {token: {type: http, scheme: bearer}}
security: [{token: []}]
paths:
  /products:
    get:
      operationId: listProducts
      responses: {"200": {description: ok, content: {application/json: {schema: {type: array, items: {type: object, required: [id], properties: {id: {type: integer}}}}}}}}
  /baskets:
    post:
      operationId: createBasket
      responses: {"201": {description: created, content: {application/json: {schema: {type: object, required: [id], properties: {id: {type: string}}}}}}}
  /baskets/{basket_id}:
    get:
      operationId: getBasket
      parameters: [{name: basket_id, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: ok, content: {application/json: {schema: {type: object, properties: {id: {type: string}}}}}}}
`

func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestImportFromADocument(t *testing.T) {
	d := importDesk{open(t, t.TempDir())}
	t.Setenv("HOME", t.TempDir())
	doc := written(t, "shop.yaml", shopDocument)
	if !d.Accepts(doc) || d.Accepts(written(t, "mine.yaml", edited)) || d.Accepts("/nowhere") {
		t.Error("a document is not told from a scenario")
	}
	found, err := d.Read(t.Context(), wizard.Request{Source: wizard.Source{Place: doc}})
	if err != nil || found.Recorded || found.Title != "Corner shop" || len(found.Steps) != 3 {
		t.Fatalf("found %+v, %v", found, err)
	}
	found.Services[0].URL = "http://127.0.0.1:8000"
	g, err := d.Chain(t.Context(), found.Write().Text, found.Files)
	if err != nil || len(g.Segments) == 0 {
		t.Fatalf("the chain is %+v, %v\n%s", g, err, found.Write().Text)
	}
	path := d.Propose(t.Context(), found.Title)
	if filepath.Base(path) != "corner-shop.throng.yaml" || filepath.Dir(path) != os.Getenv("HOME") {
		t.Errorf("proposed %s", path)
	}
	if p, err := d.Plan(t.Context(), found.Draft, path); err != nil || p.Exists {
		t.Errorf("planned %+v, %v", p, err)
	}
	name := found.Secrets[0].Name
	if got := d.Known(t.Context(), []string{name}); len(got) != 0 {
		t.Errorf("known %v", got)
	}
	found.Secrets[0].Value = "hush-hush"
	saved, err := d.Save(t.Context(), found.Draft, path)
	if err != nil || saved.File != path || len(saved.Unkept) > 0 {
		t.Fatalf("saved %+v, %v", saved, err)
	}
	if text := read(t, path); strings.Contains(text, "hush-hush") || !strings.Contains(text, "secret:"+name) {
		t.Errorf("written:\n%s", text)
	}
	if got := d.Known(t.Context(), []string{name}); got[name] == "" {
		t.Errorf("known %v", got)
	}
	if found, err := editorDesk(d).Check(t.Context(), editor.Order{Name: path}); err != nil || len(found.Problems) > 0 {
		t.Errorf("the scenario has %v, %v", found.Problems, err)
	}
	p, err := d.Plan(t.Context(), found.Draft, path)
	if err != nil || !p.Exists || p.Merged == nil || len(p.Merged.Added) > 0 {
		t.Errorf("planned %+v, %v", p, err)
	}
	if again := d.Propose(t.Context(), found.Title); filepath.Base(again) != "corner-shop-2.throng.yaml" {
		t.Errorf("proposed %s", again)
	}
	for _, wrong := range []string{"shop.throng.yaml", filepath.Join(t.TempDir(), "shop.txt"), written(t, "other.yaml", edited)} {
		if _, err := d.Plan(t.Context(), found.Draft, wrong); err == nil {
			t.Errorf("%s is accepted", wrong)
		}
	}
}

func TestImportErrorsAreInWordsOfTheWindow(t *testing.T) {
	d := importDesk{open(t, t.TempDir())}
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()
	safe := httptest.NewTLSServer(http.NotFoundHandler())
	defer safe.Close()
	for place, want := range map[string]string{
		empty.URL: "record a visit", safe.URL: "Certificate…", written(t, "mine.yaml", edited): "Open file…", written(t, "notes.txt", "hello"): "format cannot be imported",
	} {
		_, err := d.Read(t.Context(), wizard.Request{Source: wizard.Source{Place: place}})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "throngctl") || strings.Contains(err.Error(), "--") {
			t.Errorf("%s: %v", place, err)
		}
	}
	_, err := d.Record(t.Context(), wizard.Recording{Listen: "0.0.0.0:8899", Target: empty.URL}, func(wizard.Exchange) {})
	if of, ok := errors.AsType[*engine.FieldError](err); !ok || of.Field != "listen" || strings.Contains(of.Hint, "--") {
		t.Errorf("recording on every address: %v", err)
	}
}

func TestRecordTwoVisits(t *testing.T) {
	d := importDesk{open(t, t.TempDir())}
	n := 0
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/baskets" {
			n++
			_, _ = io.WriteString(w, `{"id": "basket-`+strings.Repeat("7", n+3)+`"}`)
			return
		}
		_, _ = io.WriteString(w, `{"items": []}`)
	}))
	defer backend.Close()
	visit := func() (s wizard.Source, seen []string) {
		got, err := d.Record(t.Context(), wizard.Recording{Listen: "127.0.0.1:0", Target: backend.URL}, func(x wizard.Exchange) { seen = append(seen, x.Request) })
		if err != nil {
			t.Fatal(err)
		}
		id := "basket-" + strings.Repeat("7", n+4)
		for _, call := range [][2]string{{http.MethodPost, "/baskets"}, {http.MethodGet, "/baskets/" + id + "?full=1"}} {
			r, err := http.NewRequestWithContext(t.Context(), call[0], got.Address()+call[1], strings.NewReader(""))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, answer.Body); err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
		}
		if s, err = got.Stop(); err != nil {
			t.Fatal(err)
		}
		return s, seen
	}
	first, seen := visit()
	if want := []string{"POST /baskets", "GET /baskets/basket-7777?full=1"}; !slices.Equal(seen, want) {
		t.Errorf("seen %v", seen)
	}
	second, _ := visit()
	found, err := d.Read(t.Context(), wizard.Request{Source: first, Second: &second})
	if err != nil || !found.Recorded || len(found.Steps) != 2 {
		t.Fatalf("found %+v, %v", found, err)
	}
	if text := string(found.Write().Text); !strings.Contains(text, "${steps.") || strings.Contains(text, "basket-7777\n") {
		t.Errorf("the basket is not taken from the answer:\n%s", text)
	}
	if left, err := filepath.Glob(filepath.Join(d.data, "recordings", "*")); err != nil || len(left) > 0 {
		t.Errorf("recordings are left: %v, %v", left, err)
	}
	if d.Accepts(written(t, "visit.har", string(first.Text))) != (importer.Detect("visit.har", first.Text) == importer.HAR) {
		t.Error("a recording is not accepted")
	}
}
