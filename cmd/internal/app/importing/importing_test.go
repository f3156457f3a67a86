package importing

import (
	"context"
	"encoding/pem"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
)

const document = `{"openapi": "3.1.0", "info": {"title": "Lamps", "version": "1"}, "paths": {
"/lamps": {"post": {"operationId": "createLamp", "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}}}},
 "responses": {"201": {"description": "ok", "content": {"application/json": {"schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "name": {"type": "string"}}}}}}}}},
"/lamps/{id}": {"get": {"operationId": "readLamp", "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}], "responses": {"200": {"description": "ok"}}}}}}`

// har is a recording of a request with a token, which answers have not had.
const har = `{"log": {"version": "1.2", "creator": {"name": "test", "version": "1"}, "entries": [{"startedDateTime": "2026-01-02T08:00:00Z", "time": 5,
"request": {"method": "GET", "url": "https://staging.example.com/lamps?limit=3", "headers": [{"name": "Authorization", "value": "Bearer hunter2-hunter2-hunter2"}]},
"response": {"status": 200, "headers": [{"name": "Content-Type", "value": "application/json"}], "content": {"mimeType": "application/json", "text": "[]"}}}]}}`

func serve(t *testing.T, tls bool, paths map[string]http.HandlerFunc) *httptest.Server {
	t.Helper()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := paths[r.URL.Path]; f != nil {
			f(w, r)
			return
		}
		http.NotFound(w, r)
	})
	s := httptest.NewServer(h)
	if tls {
		s.Close()
		s = httptest.NewTLSServer(h)
	}
	t.Cleanup(s.Close)
	return s
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
}

// TestAddresses checks where a document is found.
func TestAddresses(t *testing.T) {
	other := serve(t, false, map[string]http.HandlerFunc{"/openapi.json": func(http.ResponseWriter, *http.Request) { t.Error("another host was asked") }})
	for name, tt := range map[string]struct {
		paths map[string]http.HandlerFunc
		at    string // of the address that is given
		found string // place of the document; "" for an error
		wrong string
	}{
		"its own address":       {map[string]http.HandlerFunc{"/x/spec": text(document)}, "/x/spec", "/x/spec", ""},
		"FastAPI":               {map[string]http.HandlerFunc{"/": text("hello"), "/openapi.json": text(document)}, "", "/openapi.json", ""},
		"below a path":          {map[string]http.HandlerFunc{"/api/v3/api-docs": text(document)}, "/api", "/api/v3/api-docs", ""},
		"above a path":          {map[string]http.HandlerFunc{"/swagger.json": text(document)}, "/api/v1", "/swagger.json", ""},
		"a page with that name": {map[string]http.HandlerFunc{"/openapi.json": text("<html>sign in</html>"), "/swagger.json": text(document)}, "", "/swagger.json", ""},
		"nowhere":               {map[string]http.HandlerFunc{"/": text("hello")}, "", "", "throngctl record --target"},
		"a redirect to elsewhere": {map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/openapi.json", http.StatusFound)
		}}, "", "", "another host"},
	} {
		s := serve(t, false, tt.paths)
		d, err := Read(t.Context(), Options{Source: s.URL + tt.at})
		switch {
		case tt.found == "":
			if err == nil || !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("%s: got %v, want something of %q", name, err, tt.wrong)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case d.Services[0].URL != s.URL || len(d.Steps) != 2:
			t.Errorf("%s: the service is at %s and has %d operations", name, d.Services[0].URL, len(d.Steps))
		}
	}
}

func TestPrivateCA(t *testing.T) {
	s := serve(t, true, map[string]http.HandlerFunc{"/openapi.json": text(document)})
	if _, err := Read(t.Context(), Options{Source: s.URL}); err == nil || !strings.Contains(err.Error(), "--ca") {
		t.Errorf("an unknown CA: %v", err)
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if d, err := Read(t.Context(), Options{Source: s.URL, CA: ca}); err != nil || len(d.Steps) != 2 {
		t.Errorf("its CA: %v", err)
	}
	if _, err := Read(t.Context(), Options{Source: s.URL, CA: []byte("no")}); err == nil || !strings.Contains(err.Error(), "PEM") {
		t.Errorf("no CA: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	folder := t.TempDir()
	file := func(name, body string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, tt := range map[string]struct {
		o     Options
		wrong string
	}{
		"a scenario":                 {Options{Source: file("a.yaml", "chain a:\n  step b: {kind: stop}\n")}, "throngctl run"},
		"a picture":                  {Options{Source: file("a.png", "\x89PNG\r\n")}, "format cannot be imported"},
		"an empty file":              {Options{Source: file("e.json", "")}, "format cannot be imported"},
		"no file":                    {Options{Source: filepath.Join(folder, "none.har")}, "no such file"},
		"half a document":            {Options{Text: []byte(document[:len(document)-40])}, ""},
		"a password":                 {Options{Source: "https://me:hunter2@example.com"}, "password"},
		"an unknown step":            {Options{Text: []byte(document), Journey: "fly to the moon"}, "fly to the moon"},
		"a bad URL":                  {Options{Text: []byte(document), URL: "ftp://example.com"}, "http://"},
		"users without a first line": {Options{Text: []byte(document), Users: file("u.csv", "")}, "names the columns"},
		"two kinds":                  {Options{Text: []byte(har), Second: file("b.txt", "curl https://example.com")}, "not the same kind"},
		"a document twice":           {Options{Text: []byte(document), Second: "b.har"}, "no second recording"},
	} {
		d, err := Read(t.Context(), tt.o)
		if tt.wrong == "" { // read in part, or an error: both are fine, a whole result is not
			if err == nil && d.Partial == "" {
				t.Errorf("%s: read as if it were whole", name)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.wrong) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want something of %q", name, err, tt.wrong)
		}
	}
}

// TestSave checks that a new file is the user's own, that a second import merges, and that a foreign file is left alone.
func TestSave(t *testing.T) {
	data, folder := t.TempDir(), t.TempDir()
	d, err := Read(t.Context(), Options{Text: []byte(document), URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "lamps.yaml")
	s, err := Save(d, path, data)
	if err != nil || s.Merged != nil || !slices.Equal(s.Files, []string{"lamps.openapi.json"}) {
		t.Fatalf("%+v, %v", s, err)
	}
	scenario, err := authoring.Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !authoring.IsOwn(data, scenario.Source.Files) {
		t.Error("the file is not the user's own")
	}
	again, err := Save(d, path, data)
	if err != nil || again.Merged == nil || len(again.Files)+len(again.Merged.Added)+len(again.Merged.Updated) > 0 {
		t.Errorf("importing again: %+v, %v", again, err)
	}
	foreign := filepath.Join(folder, "foreign.yaml")
	if err := os.WriteFile(foreign, []byte("title: mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Save(d, foreign, data); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("a foreign file: %v", err)
	}
	if text, err := os.ReadFile(foreign); err != nil || string(text) != "title: mine\n" {
		t.Errorf("a foreign file is now %q, %v", text, err)
	}
}

// TestUsersFile checks that a different file of agents in the scenario's folder is not replaced, and not used by mistake.
func TestUsersFile(t *testing.T) {
	folder, other := t.TempDir(), t.TempDir()
	for path, body := range map[string]string{filepath.Join(folder, "users.csv"): "id,username\n1,ann\n", filepath.Join(other, "users.csv"): "id,username\n1,ben\n"} {
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Read(t.Context(), Options{Text: []byte(document), URL: "http://127.0.0.1:1", Users: filepath.Join(other, "users.csv")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Save(d, filepath.Join(folder, "lamps.yaml"), t.TempDir()); err == nil || !strings.Contains(err.Error(), "different file") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(folder, "lamps.yaml")); err == nil {
		t.Error("the scenario was written")
	}
}

// TestSecrets checks that a token of a recording is in the keychain, and in none of the files.
func TestSecrets(t *testing.T) {
	keyring.MockInit()
	folder, data := t.TempDir(), t.TempDir()
	d, err := Read(t.Context(), Options{Text: []byte(har)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Save(d, filepath.Join(folder, "lamps.yaml"), data)
	if err != nil || len(s.Kept) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	if value, _, err := secrets.Kept(s.Kept[0]); err != nil || value != "hunter2-hunter2-hunter2" {
		t.Errorf("the keychain has %q, %v", value, err)
	}
	for _, root := range []string{folder, data} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), "hunter2") {
				t.Errorf("%s has the token, or %v", e.Name(), err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestReferences checks that another host is asked only if the user allows it.
func TestReferences(t *testing.T) {
	asked := 0
	other := serve(t, false, map[string]http.HandlerFunc{"/lamp.json": func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write([]byte(`{"type": "object", "properties": {"id": {"type": "string"}}}`))
	}})
	with := strings.Replace(document, `{"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "name": {"type": "string"}}}`, `{"$ref": "`+other.URL+`/lamp.json"}`, 1)
	d, err := Read(t.Context(), Options{Text: []byte(with)})
	if asked > 0 {
		t.Error("the host was asked without permission")
	}
	if err == nil && d.Partial == "" && !strings.Contains(strings.Join(d.Notes, " "), "--allow") {
		t.Errorf("the notes %q do not say how to allow it", d.Notes)
	}
	if _, err := Read(t.Context(), Options{Text: []byte(with), Allow: []string{strings.TrimPrefix(other.URL, "http://")}}); err != nil || asked == 0 {
		t.Errorf("an allowed host was asked %d times: %v", asked, err)
	}
}

// TestCanceled checks that a search for a document ends.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	s := serve(t, false, map[string]http.HandlerFunc{"/openapi.json": func(w http.ResponseWriter, r *http.Request) {
		cancel(enough)
		http.NotFound(w, r)
	}})
	if _, err := Read(ctx, Options{Source: s.URL}); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
}

// TestUnreachable checks that the message about a backend that does not run leaves out how the connection was made.
func TestUnreachable(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Read(t.Context(), Options{Source: address})
	if of, ok := errors.AsType[*engine.FieldError](err); !ok || !strings.HasPrefix(of.Problem, address+" cannot be reached: ") || strings.Contains(of.Problem, "dial") || strings.Contains(of.Problem, "connect:") {
		t.Errorf("got %v", err)
	}
}
