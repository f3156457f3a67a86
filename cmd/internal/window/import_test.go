package window_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// bookshop is a backend with books and orders. It describes itself.
func bookshop(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	object := func(fields string) string {
		return `{"description":"ok","content":{"application/json":{"schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}` + fields + `}}}}}`
	}
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"openapi":"3.0.3","info":{"title":"Bookshop","version":"2"},"servers":[{"url":"http://%s"}],"paths":{
			"/carts":{"post":{"operationId":"createCart","responses":{"201":%s}}},
			"/carts/{cart_id}":{"get":{"operationId":"getCart","parameters":[{"name":"cart_id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"200":%s}}},
			"/health":{"get":{"operationId":"health","responses":{"200":%s}}}}}`, r.Host, object(""), object(`,"items":{"type":"array","items":{"type":"string"}}`), object(""))
	})
	mux.HandleFunc("POST /carts", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusCreated, map[string]any{"id": "cart-1"})
	})
	mux.HandleFunc("GET /carts/cart-1", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"id": "cart-1", "items": []string{}})
	})
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"id": "me"})
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// TestImport goes from the address of a backend, and from its document as a file, to a scenario that one agent tries.
func TestImport(t *testing.T) {
	t.Parallel()
	all := []look{{1000, 640, "dark", "1"}}
	if os.Getenv("THRONG_SCREENS") != "" {
		all = looks()
	}
	for _, l := range all {
		t.Run(l.String(), func(t *testing.T) { l.importing(t) })
	}
}

func (l look) importing(t *testing.T) {
	d := newDesktop(t, l.width, l.height)
	shop := bookshop(t)
	l.open(d)
	d.command("New scenario from")
	d.until("the dialog", func() bool { return d.shows("Step 1 of 3") })
	l.shot(d, "import-source")
	l.recording(d, shop)
	d.click("Back")
	d.xdotool("type", strings.TrimPrefix(shop.URL, "http://"))
	d.xdotool("key", "Return")
	d.until("the journey", func() bool { return d.shows("Step 2 of 3") && d.shows("http · ") })
	l.shot(d, "import-journey")
	d.xdotool("type", "get cart")
	d.xdotool("key", "Return")
	d.until("the journey in words", func() bool { return d.shows("3 steps, 2 in the journey") })
	d.click("Next")
	d.until("the file", func() bool { return d.shows("A new file.") })
	l.shot(d, "import-finish")
	d.click("Create scenario")
	d.until("the editor", func() bool { return d.shows("chain visit:") && d.find("No problems") != nil })
	l.shot(d, "import-editor")
	path := filepath.Join(d.home, "bookshop.throng.yaml")
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "imported: POST /carts") || strings.Contains(string(text), "imported: GET /health") {
		t.Fatalf("written:\n%s\n%v", text, err)
	}
	d.key("F5")
	d.until("a session", func() bool { return d.shows("chain visit: ok") })
	l.shot(d, "import-tried")
	d.xdotool("key", "ctrl+q")
	if code := d.ended(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, d.log)
	}

	document := filepath.Join(t.TempDir(), "books.json")
	answer, err := shop.Client().Get(shop.URL + "/openapi.json") //nolint:noctx // on this machine
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	out, err := os.Create(document)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.ReadFrom(answer.Body); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	d.start("FYNE_THEME="+l.theme, "FYNE_SCALE="+l.scale, document)
	l.fill(d)
	d.until("the journey of the file", func() bool { return d.shows("Step 2 of 3") })
	d.click("Next")
	d.until("another file", func() bool { return d.shows("A new file.") && d.shows("bookshop-2.throng.yaml") })
	d.xdotool("key", "ctrl+a", "type", path)
	d.until("the merge", func() bool { return d.shows("The journey is merged into it") && d.shows("added") })
	l.shot(d, "import-merge")
	d.click("Update scenario")
	d.until("the editor", func() bool { return d.shows("imported: GET /health") })
	if text, err = os.ReadFile(path); err != nil || strings.Count(string(text), "imported: POST /carts") != 1 {
		t.Errorf("merged:\n%s\n%v", text, err)
	}
}

// recorded is the address of the recorder in the text that says how to use it.
var recorded = regexp.MustCompile(`Use (http://127\.0\.0\.1:\d+) in place of`)

// recording records a visit of a shop, and looks at its journey.
func (l look) recording(d *desktop, shop *httptest.Server) {
	d.t.Helper()
	d.click("Record…")
	d.until("the recorder", func() bool { return d.shows("Listen on") })
	d.xdotool("type", strings.TrimPrefix(shop.URL, "http://"))
	d.xdotool("key", "Tab", "key", "ctrl+a", "type", "127.0.0.1:0")
	d.xdotool("key", "Return")
	var at string
	d.until("its address", func() bool {
		if found := recorded.FindStringSubmatch(strings.Join(d.texts(), " ")); found != nil {
			at = found[1]
		}
		return at != ""
	})
	for _, call := range [][2]string{{http.MethodPost, "/carts"}, {http.MethodGet, "/carts/cart-1"}} {
		r, err := http.NewRequestWithContext(d.t.Context(), call[0], at+call[1], http.NoBody)
		if err != nil {
			d.t.Fatal(err)
		}
		answer, err := shop.Client().Do(r)
		if err != nil {
			d.t.Fatal(err)
		}
		_ = answer.Body.Close()
	}
	d.until("the requests", func() bool { return d.shows("2 requests recorded.") })
	l.shot(d, "import-record")
	d.click("Stop and use")
	d.until("the journey of the visit", func() bool {
		return d.shows("Step 2 of 3") && d.shows("http · ")
	})
	l.shot(d, "import-recorded")
}
