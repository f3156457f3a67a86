package apimock_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/throng-sim/throng/engine/mock/apimock"
	"github.com/throng-sim/throng/engine/mock/wire"
	"github.com/throng-sim/throng/engine/openapi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func document(t testing.TB, name string) *openapi.Document {
	t.Helper()
	text, err := os.ReadFile("../../openapi/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	d, err := openapi.Load(text, openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// mock is a running mock and what a test asks it.
type mock struct {
	t      testing.TB
	server *apimock.Server
	client *http.Client
}

func start(t testing.TB, cfg apimock.Config) *mock {
	t.Helper()
	if cfg.Secret == "" {
		cfg.Secret = "s3cret"
	}
	s, err := apimock.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	m := &mock{t, s, &http.Client{Transport: &http.Transport{}}}
	t.Cleanup(m.stop)
	return m
}

func (m *mock) stop() {
	m.client.CloseIdleConnections()
	if err := m.server.Close(); err != nil {
		m.t.Error(err)
	}
}

// ask sends "METHOD /path BODY" as an agent, with a tag and an idempotency key unless place is "".
func (m *mock) ask(agent, request, place string) (status int, body string, header http.Header) {
	m.t.Helper()
	method, rest, _ := strings.Cut(request, " ")
	path, content, _ := strings.Cut(rest, " ")
	r, err := http.NewRequestWithContext(m.t.Context(), method, m.server.URL()+path, strings.NewReader(content))
	if err != nil {
		m.t.Fatal(err)
	}
	switch {
	case strings.HasPrefix(content, "{"):
		r.Header.Set("Content-Type", "application/json")
	case content != "":
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if agent != "" {
		r.Header.Set("Authorization", "Bearer "+agent)
	}
	if place != "" {
		r.Header.Set("X-Throng-Request", "0/"+place+"/1 2026-01-02T08:00:00Z")
		r.Header.Set("Idempotency-Key", agent+place)
	}
	a, err := m.client.Do(r)
	if err != nil {
		m.t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	return a.StatusCode, string(text), a.Header
}

// id returns a field of a JSON object.
func field(t testing.TB, body, name string) string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return strings.Trim(string(m[name]), `"`)
}

const product = `{"name":"Lamp","price":9.5,"color":"red","sku":"ABC-1234"}`

func TestState(t *testing.T) {
	m := start(t, apimock.Config{Document: document(t, "fastapi.json")})
	want := func(request, place string, status int, parts ...string) string {
		t.Helper()
		got, body, _ := m.ask("s3cret.ann", request, place)
		if got != status {
			t.Fatalf("%s: got %d %s, want %d", request, got, body, status)
		}
		for _, p := range parts {
			if !strings.Contains(body, p) {
				t.Errorf("%s: %s lacks %s", request, body, p)
			}
		}
		return body
	}
	want("GET /products", "", 200, `"total":3`)
	id := field(t, want("POST /products "+product, "make", 201, `"name":"Lamp"`, `"price":9.5`), "id")
	want("GET /products/"+id, "", 200, `"name":"Lamp"`, `"sku":"ABC-1234"`)
	want("GET /products", "", 200, id, `"total":4`)
	want("PUT /products/"+id+" "+strings.Replace(product, "Lamp", "Table", 1), "change", 200, `"name":"Table"`, id)
	want("GET /products/"+id, "", 200, `"name":"Table"`)
	basket := field(t, want(`POST /baskets {"currency":"EUR"}`, "basket", 201), "id")
	item := field(t, want("POST /baskets/"+basket+`/items {"product_id":"`+id+`","quantity":2}`, "item", 201, id), "id")
	want("POST /baskets/999999999"+`/items {"product_id":"`+id+`","quantity":2}`, "none", 404)
	want("DELETE /baskets/"+basket+"/items/"+item, "gone", 204)
	want("DELETE /baskets/"+basket+"/items/"+item, "gone again", 404)
	want("DELETE /products/"+id, "delete", 204)
	want("GET /products/"+id, "", 404)
	want("GET /products?limit=2", "", 200, `"total":3`)
	want("GET /users/me", "", 200, `"email"`)
	// what is wrong
	want(`POST /products {"name":"Lamp"}`, "bad", 422, `"detail"`)
	want(`POST /baskets/`+basket+`/items {"product_id":"`+id+`","quantity":11}`, "bad2", 422)
	want("GET /products?limit=many", "", 422)
	want("GET /nothing", "", 404)
	if status, _, header := m.ask("s3cret.ann", "PATCH /products", ""); status != 405 || header.Get("Allow") != "GET, POST" {
		t.Errorf("got %d, %v", status, header)
	}
}

func TestSigningIn(t *testing.T) {
	m := start(t, apimock.Config{Document: document(t, "fastapi.json")})
	for _, agent := range []string{"", "wrong", "s3cret~ann", "login.00.616e6e"} {
		if status, _, header := m.ask(agent, "GET /users/me", ""); status != 401 || header.Get("WWW-Authenticate") == "" {
			t.Errorf("%q: got %d", agent, status)
		}
		if status, _, _ := m.ask(agent, "GET /health", ""); status != 200 {
			t.Errorf("%q: got %d from a public operation", agent, status)
		}
	}
	status, body, _ := m.ask("s3cret~ann", "POST /auth/token username=ann&password=pw", "")
	if status != 200 || field(t, body, "token_type") != "bearer" {
		t.Fatalf("got %d %s", status, body)
	}
	token := field(t, body, "access_token")
	_, made, _ := m.ask(token, "POST /products "+product, "make")
	if status, _, _ := m.ask("s3cret.ann", "GET /products/"+field(t, made, "id"), ""); status != 200 {
		t.Errorf("the token does not belong to ann: %d", status)
	}
	if status, _, _ := m.ask("s3cret.bob", "GET /products/"+field(t, made, "id"), ""); status != 404 {
		t.Errorf("bob sees what ann made: %d", status)
	}
	keys := start(t, apimock.Config{Document: document(t, "petstore.yaml")})
	for key, want := range map[string]int{"": 401, "wrong": 401, "s3cret": 200, "any of ann": 200, "of ann": 401} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, keys.server.URL()+"/api/v3/store/inventory", nil)
		if err != nil {
			t.Fatal(err)
		}
		key, ann := strings.CutSuffix(key, "of ann")
		if ann {
			r.Header.Set("Authorization", "Bearer s3cret~ann")
		}
		r.Header.Set("api_key", strings.TrimSpace(key))
		a, err := keys.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		if a.StatusCode != want {
			t.Errorf("key %q: got %d", key, a.StatusCode)
		}
	}
}

// TestKeys checks that a repeated key changes nothing and is answered as before.
func TestKeys(t *testing.T) {
	m := start(t, apimock.Config{Document: document(t, "petstore.yaml")})
	pet := `POST /pet {"name":"Rex","photoUrls":["x"]}`
	_, first, _ := m.ask("s3cret.ann", pet, "add")
	status, again, header := m.ask("s3cret.ann", pet, "add")
	if status != 200 || again != first || header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("got %d %s, want %s", status, again, first)
	}
	_, list, _ := m.ask("s3cret.ann", "GET /pet/findByStatus?status=available", "")
	if n := strings.Count(list, "Rex"); n > 1 {
		t.Errorf("%d pets of that name in %s", n, list)
	}
	if status, body, _ := m.ask("s3cret.ann", "PUT /pet "+`{"id":`+field(t, first, "id")+`,"name":"Max","photoUrls":[]}`, "rename"); status != 200 || field(t, body, "name") != "Max" {
		t.Errorf("got %d %s", status, body)
	}
}

// visit is what an agent does in the tests below.
func visit(m *mock, agent string) string {
	token := "s3cret." + agent
	var all strings.Builder
	say := func(request, place string) string {
		status, body, _ := m.ask(token, request, place)
		fmt.Fprintf(&all, "%s %d %s\n", place, status, body)
		return body
	}
	id := field(m.t, say("POST /products "+product, "make"), "id")
	say("GET /products", "list")
	basket := field(m.t, say(`POST /baskets {"currency":"EUR"}`, "basket"), "id")
	for i := range 3 {
		say("POST /baskets/"+basket+`/items {"product_id":"`+id+`","quantity":1}`, fmt.Sprintf("loop[%d].item", i))
	}
	order := field(m.t, say(`POST /orders {"basket_id":`+basket+`,"ship_on":"2026-01-02"}`, "order"), "id")
	say("GET /orders/"+order, "read")
	say("DELETE /products/"+id, "delete")
	say("GET /products", "list again")
	return all.String()
}

// TestIndependence checks that the answers to an agent are the same alone, among others, and after a restart in the middle.
func TestIndependence(t *testing.T) {
	d := document(t, "fastapi.json")
	want := map[string]string{}
	for i := range 8 {
		agent := fmt.Sprint("agent-", i)
		want[agent] = visit(start(t, apimock.Config{Document: d, Seed: 7}), agent)
	}
	if want["agent-0"] == want["agent-1"] {
		t.Error("two agents have the same products")
	}
	m := start(t, apimock.Config{Document: d, Seed: 7, Network: wire.Network{Profile: wire.ProfileLocal}})
	var wg sync.WaitGroup
	var mu sync.Mutex
	for agent, alone := range want {
		wg.Go(func() {
			got := visit(m, agent)
			mu.Lock()
			defer mu.Unlock()
			if got != alone {
				t.Errorf("%s:\n got %s\nwant %s", agent, got, alone)
			}
		})
	}
	wg.Wait()

	log := filepath.Join(t.TempDir(), "api.log")
	first := start(t, apimock.Config{Document: d, Seed: 7, Log: log})
	before := visit(first, "agent-3")
	first.stop()
	if err := appendText(log, `{"user":"agent-3","met`); err != nil { // a kill in the middle of a write
		t.Fatal(err)
	}
	second := start(t, apimock.Config{Document: d, Seed: 8, Log: log})
	if again := visit(second, "agent-3"); again == before {
		t.Error("the list is the same after a deletion")
	}
	_, now, _ := second.ask("s3cret.agent-3", "GET /products", "")
	_, then, _ := m.ask("s3cret.agent-3", "GET /products", "")
	if now != then {
		t.Errorf("after a restart:\n got %s\nwant %s", now, then)
	}
	if _, body, header := second.ask("s3cret.agent-3", "POST /products "+product, "make"); header.Get("Idempotency-Replayed") != "true" || !strings.Contains(before, body) {
		t.Errorf("the key is forgotten: %s", body)
	}
}

func appendText(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

func TestCopyLog(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	text := `{"seed":7}` + "\n" + `{"user":"a","cycle":1,"place":"1/x"}` + "\n" + `{"user":"a","cycle":2,"place":"2/x"}` + "\n"
	if err := os.WriteFile(from, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := apimock.CopyLog(to, from, 2); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(to)
	if err != nil || strings.Count(string(got), "\n") != 2 || strings.Contains(string(got), "2/x") {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestFaults checks that faults strike as configured, and that a change whose answer was cut is made once.
func TestFaults(t *testing.T) {
	d := document(t, "fastapi.json")
	for fault, want := range map[string]int{"rate": 429, "error": 500, "bad": 200} {
		cfg := apimock.Config{Document: d}
		switch fault {
		case "rate":
			cfg.Faults.RateLimited = 1
		case "error":
			cfg.Faults.ServerError = 1
		default:
			cfg.Faults.BadBody = 1
		}
		m := start(t, cfg)
		status, body, _ := m.ask("s3cret.ann", "POST /products "+product, "make")
		if status != want || fault == "bad" && json.Valid([]byte(body)) {
			t.Errorf("%s: got %d %s", fault, status, body)
		}
	}
	if _, err := apimock.Start(apimock.Config{Document: d, Network: wire.Network{Faults: wire.Faults{Quota: 5}}}); err == nil {
		t.Error("a quota is accepted")
	}
	if _, err := apimock.Start(apimock.Config{Document: d, Addr: "0.0.0.0:0"}); err == nil {
		t.Error("other machines could reach it")
	}
}

// TestAnswersFitTheDocument calls every operation with drawn values and checks all good answers.
func TestAnswersFitTheDocument(t *testing.T) {
	for _, name := range []string{"fastapi.json", "petstore.yaml"} {
		d := document(t, name)
		m := start(t, apimock.Config{Document: d})
		checked := 0
		for _, op := range d.Operations {
			if op.Method != "GET" || strings.Contains(op.Path, "{") {
				continue
			}
			path := op.Path
			for _, p := range op.Parameters {
				if p.Required {
					path += "?" + p.Name + "=available"
				}
			}
			status, body, _ := m.ask("s3cret.ann", "GET "+path, "")
			for _, r := range op.Responses {
				media := openapi.JSON(r.Media)
				if r.Status != fmt.Sprint(status) || media == nil || media.Schema == nil {
					continue
				}
				v, err := media.Schema.Compile(openapi.OfResponse)
				if err != nil {
					t.Fatal(err)
				}
				if err := v.Check([]byte(body)); err != nil || status != 200 {
					t.Errorf("%s: %d %s: %v", op.Key(), status, body, err)
				}
				checked++
			}
		}
		if checked < 3 {
			t.Errorf("%s: %d answers", name, checked)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	m := start(b, apimock.Config{Document: document(b, "fastapi.json")})
	b.ReportAllocs()
	for b.Loop() {
		if status, _, _ := m.ask("s3cret.ann", "GET /products", ""); status != 200 {
			b.Fatal(status)
		}
	}
}
