package mcp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/service"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newServer returns an MCP server with some tools.
func newServer(t testing.TB) (*sdk.Server, http.Handler) {
	t.Helper()
	of := sdk.NewServer(&sdk.Implementation{Name: "s", Version: "1"}, nil)
	for name, result := range map[string]*sdk.CallToolResult{
		"text":       {Content: []sdk.Content{&sdk.TextContent{Text: "one"}, &sdk.TextContent{Text: "two"}}},
		"structured": {StructuredContent: map[string]any{"n": 1}},
		"mixed": {Content: []sdk.Content{
			&sdk.ImageContent{MIMEType: "image/png", Data: []byte("1234")}, &sdk.ResourceLink{Title: "Terms", URI: "https://x.example/terms"},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "a:b", Text: "inside"}},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "a:c", Blob: []byte("12"), MIMEType: "x/y"}},
		}},
		"wrong": {Content: []sdk.Content{&sdk.TextContent{Text: "no such customer"}}, IsError: true},
	} {
		of.AddTool(&sdk.Tool{Name: name, Description: "About " + name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return result, nil
		})
	}
	t.Cleanup(func() {
		for s := range of.Sessions() {
			_ = s.Close()
		}
	})
	return of, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return of }, nil)
}

// connected returns a service at a handler.
func connected(t testing.TB, h http.Handler) *Service {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	s, err := Connect("crm", server.URL, service.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// ask sends a request as the service client does; an empty tool lists them.
func ask(t testing.TB, s *Service, tool string) (status int, body string) {
	t.Helper()
	return askAs(t, s, "hunter2", tool)
}

// askAs sends a request with a token.
func askAs(t testing.TB, s *Service, token, tool string) (status int, body string) {
	t.Helper()
	method, text := http.MethodGet, []byte(nil)
	if tool != "" {
		var err error
		if text, err = json.Marshal(Call{Tool: tool, Arguments: json.RawMessage(`{}`)}); err != nil {
			t.Fatal(err)
		}
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(t.Context(), method, s.endpoint, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := s.RoundTrip(r)
	if err != nil {
		return 0, err.Error()
	}
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(all)
}

func TestResults(t *testing.T) {
	_, h := newServer(t)
	s := connected(t, h)
	status, listed := ask(t, s, "")
	if want := `{"tools":[{"name":"mixed","about":"About mixed","schema":{"type":"object"}},{"name":"structured",`; status != 200 || !strings.HasPrefix(listed, want) || strings.Count(listed, `"name"`) != 4 {
		t.Errorf("%d %s, want %s", status, listed, want)
	}
	for tool, want := range map[string]string{
		"text":       `{"text":"one\ntwo"}`,
		"structured": `{"text":"{\"n\":1}"}`,
		"mixed":      `{"text":"[an image, image/png, 4 B, left out]\nTerms https://x.example/terms\ninside\n[a file, x/y, 2 B, left out]"}`,
		"wrong":      `{"text":"no such customer","failed":true}`,
		"nowhere":    `{"text":"unknown tool \"nowhere\"","failed":true}`,
	} {
		if status, got := ask(t, s, tool); status != 200 || got != want {
			t.Errorf("%s: %d %s, want %s", tool, status, got, want)
		}
	}
}

// TestTrouble checks what the client of the service sees of errors: the status of the server, so that limits and retries apply.
func TestTrouble(t *testing.T) {
	_, good := newServer(t)
	var mode atomic.Int64
	var calls, headers atomic.Int64
	s := connected(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer hunter2" {
			headers.Add(1)
		}
		if calls.Add(1); mode.Load() != 0 {
			w.Header().Set("Retry-After", "7")
			http.Error(w, "busy", int(mode.Load()))
			return
		}
		good.ServeHTTP(w, r)
	}))
	if status, _ := ask(t, s, "text"); status != 200 {
		t.Fatal(status)
	}
	for _, status := range []int{401, 429, 500, 503} {
		mode.Store(int64(status))
		if got, body := ask(t, s, "text"); got != status || body != "busy\n" {
			t.Errorf("%d: got %d %s", status, got, body)
		}
	}
	mode.Store(0)
	if status, body := ask(t, s, "text"); status != 200 {
		t.Errorf("after trouble: %d %s", status, body)
	}
	s.ending.Wait() // the ends of broken sessions are requests too
	if headers.Load() != calls.Load() {
		t.Errorf("%d of %d requests had the token", headers.Load(), calls.Load())
	}
}

// TestServerRestarts checks that a call finds a new session if the server has forgotten the old one.
func TestServerRestarts(t *testing.T) {
	_, first := newServer(t)
	_, second := newServer(t)
	var restarted atomic.Bool
	s := connected(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if restarted.Load() {
			second.ServeHTTP(w, r)
			return
		}
		first.ServeHTTP(w, r)
	}))
	for range 2 {
		if status, body := ask(t, s, "text"); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
		restarted.Store(true)
	}
}

// TestCallsTogether checks that calls share no session while they run.
func TestCallsTogether(t *testing.T) {
	_, h := newServer(t)
	s := connected(t, h)
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			if status, body := ask(t, s, "text"); status != 200 || body != `{"text":"one\ntwo"}` {
				t.Errorf("%d %s", status, body)
			}
		})
	}
	all.Wait()
	if n := len(s.idle); n == 0 || n > 32 {
		t.Errorf("%d sessions are kept", n)
	}
}

// TestUsersShareNoSession checks that a session with the server has one user, and that idle sessions are bounded.
func TestUsersShareNoSession(t *testing.T) {
	_, h := newServer(t)
	var mu sync.Mutex
	users := map[string]map[string]bool{} // by session
	s := connected(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id := r.Header.Get("Mcp-Session-Id"); id != "" {
			mu.Lock()
			if users[id] == nil {
				users[id] = map[string]bool{}
			}
			users[id][r.Header.Get("Authorization")] = true
			mu.Unlock()
		}
		h.ServeHTTP(w, r)
	}))
	for round := range 2 {
		for user := range mostIdle + 6 {
			if status, body := askAs(t, s, strconv.Itoa(user%(mostIdle+3)), "text"); status != http.StatusOK {
				t.Fatalf("round %d, user %d: %d %s", round, user, status, body)
			}
		}
	}
	s.mu.Lock()
	idle := len(s.idle)
	s.mu.Unlock()
	mu.Lock()
	defer mu.Unlock()
	if idle != mostIdle || len(users) < mostIdle+3 {
		t.Errorf("%d idle sessions of %d", idle, len(users))
	}
	for id, of := range users {
		if len(of) != 1 {
			t.Errorf("session %s was used by %v", id, of)
		}
	}
}

func TestHugeAnswers(t *testing.T) {
	s := connected(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"text":"`+strings.Repeat("x", MostResult)+`"}}`)
	}))
	if status, body := ask(t, s, ""); status != 0 || !strings.Contains(body, "more than 1.0 MB") {
		t.Errorf("%d %.200s", status, body)
	}
}

// TestRedirectsAreNotFollowed checks that a token does not go elsewhere.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer elsewhere.Close()
	s := connected(t, http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	if status, body := ask(t, s, "text"); status != http.StatusTemporaryRedirect {
		t.Errorf("%d %s", status, body)
	}
}

// TestCallsAreNotSentAgain checks that a call that must not be repeated reaches the server once if that closes its connection instead of
// answering. Others are sent again.
func TestCallsAreNotSentAgain(t *testing.T) {
	for _, single := range []bool{false, true} {
		_, good := newServer(t)
		var calls atomic.Int64
		s := connected(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			if bytes.Contains(body, []byte("tools/call")) && calls.Add(1) == 1 {
				panic(http.ErrAbortHandler)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			good.ServeHTTP(w, r)
		}))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.endpoint, strings.NewReader(`{"tool":"text","arguments":{}}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Idempotency-Key", "key")
		if single {
			r.GetBody = nil
		}
		resp, err := s.RoundTrip(r)
		if n := calls.Load(); single != (err != nil) || single != (n == 1) {
			t.Errorf("single: %v: %d calls, error %v", single, n, err)
		}
		if err == nil {
			_ = resp.Body.Close()
		}
	}
}

// TestBehindAProxy checks that a server behind a proxy is spoken to in the protocol.
func TestBehindAProxy(t *testing.T) {
	_, h := newServer(t)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "crm.example" {
			t.Errorf("asked for %s", r.Host)
		}
		r.Host = "localhost" // the server is on this machine
		h.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Connect("crm", "http://crm.example/mcp", service.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Through(u)
	target, err := service.ParseTarget("/")
	if err != nil {
		t.Fatal(err)
	}
	c := clock.New(t.Context(), 0, nil)
	defer c.Stop()
	a, err := s.Do(&service.Call{Clock: c, Path: "list", Retry: engine.Retry{Attempts: 1}}, service.Request{Method: http.MethodGet, Target: target})
	if err != nil || !bytes.Contains(a.Body, []byte(`"About text"`)) {
		t.Errorf("got %+v, error %v", a, err)
	}
}

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestEndsOfSessionsSayNothing checks that a call whose connection broke is not taken for one that was never sent, or that the server
// refused, because of the request that ends its session.
func TestEndsOfSessionsSayNothing(t *testing.T) {
	errBroken := errors.New("broken")
	for name, end := range map[string]roundTrip{
		"no connection": func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
		},
		"no such session": func(r *http.Request) (*http.Response, error) {
			return response(r, http.StatusNotFound, nil, []byte("gone"))
		},
	} {
		of := &trip{}
		send := func(method string, by roundTrip) {
			r, err := http.NewRequestWithContext(context.WithValue(t.Context(), tripKey{}, of), method, "http://crm.example", nil)
			if err != nil {
				t.Fatal(err)
			}
			if resp, err := (&carrier{pool: by}).RoundTrip(r); err == nil {
				_ = resp.Body.Close()
			}
		}
		send(http.MethodPost, func(*http.Request) (*http.Response, error) { return nil, errBroken })
		send(http.MethodDelete, end)
		if !errors.Is(of.err, errBroken) || of.status != 0 {
			t.Errorf("%s: error %v, status %d", name, of.err, of.status)
		}
	}
}

// TestCompressedAnswers uses a service whose headers ask for a compression.
func TestCompressedAnswers(t *testing.T) {
	_, h := newServer(t)
	s := connected(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := httptest.NewRecorder()
		h.ServeHTTP(said, r)
		maps.Copy(w.Header(), said.Header())
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
		}
		w.WriteHeader(said.Code)
		if w.Header().Get("Content-Encoding") == "" || said.Body.Len() == 0 {
			_, _ = said.Body.WriteTo(w)
			return
		}
		packed := gzip.NewWriter(w)
		_, _ = said.Body.WriteTo(packed)
		_ = packed.Close()
	}))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.endpoint, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip")
	resp, err := s.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(resp.Body); err != nil || !bytes.Contains(text, []byte(`"About text"`)) {
		t.Errorf("got %s, error %v", text, err)
	}
}
