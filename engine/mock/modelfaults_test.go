package mock

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// raw sends a body over its own connection and returns the raw answer.
func (m *Model) raw(t *testing.T, body string) got {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.URL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+m.Secret())
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(r)
	if err != nil {
		return got{err: err}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return got{response.StatusCode, response.Header, string(text), err}
}

// TestModelFaults injects each fault into a whole answer and into a stream.
func TestModelFaults(t *testing.T) {
	for _, c := range []struct {
		faults Faults
		fault  Fault
		status int // 0: no answer
	}{
		{Faults{RateLimited: 1}, FaultRateLimited, 429},
		{Faults{ServerError: 1}, FaultServerError, 500},
		{Faults{OutageFor: time.Hour}, FaultOutage, 503},
	} {
		m := indoorModel(ModelConfig{Faults: c.faults}, nil)
		for _, body := range []string{hello(``), hello(`,"stream":true`)} {
			g := m.post(chatPath, body)
			if g.status != c.status || !strings.HasPrefix(g.body, `{"error":{"message":`) || (g.header.Get("Retry-After") == "1") != (c.status == 429) {
				t.Errorf("%s: %d %s %v", c.fault, g.status, g.body, g.header)
			}
		}
		if s := m.Stats(); s.Faults[c.fault] != 2 || s.Statuses[c.status] != 2 || s.CompletionTokens != 0 {
			t.Errorf("%s: %+v", c.fault, s)
		}
	}
}

func TestModelFaultsOnTheWire(t *testing.T) {
	heard := make(chan Request, 100)
	m := startModel(t, ModelConfig{Faults: Faults{BadBody: 1}, OnRequest: func(r Request) { heard <- r }})
	if g := m.raw(t, hello(``)); g.err != nil || g.status != 200 || json.Valid([]byte(g.body)) {
		t.Errorf("unreadable: %d %s %v", g.status, g.body, g.err)
	}
	if g := m.raw(t, hello(`,"stream":true`)); g.err != nil || !strings.HasSuffix(g.body, "data: [DONE]\n\n") || validStream(g.body) {
		t.Errorf("unreadable stream: %s %v", g.body, g.err)
	}
	m.SetFaults(Faults{Cut: 1})
	half := 0
	for range 20 {
		if g := m.raw(t, hello(``)); g.err == nil {
			t.Errorf("cut: %d %s", g.status, g.body)
		}
		g := m.raw(t, hello(`,"stream":true`))
		if g.err == nil || strings.Contains(g.body, "[DONE]") {
			t.Errorf("a cut stream: %s %v", g.body, g.err)
		}
		if strings.Contains(g.body, "data: {") {
			half++
		}
	}
	if half < 3 || half > 17 {
		t.Errorf("%d of 20 streams were cut half way, want about half", half)
	}
	for i := range 42 {
		r := <-heard
		if want := map[bool]int{true: 200, false: 0}[i < 2]; r.Status != want || r.N != int64(i+1) {
			t.Errorf("received %+v as number %d", r, i+1)
		}
	}
	m.SetFaults(Faults{RateLimited: 1})
	_, err := m.client(t).post("/chat/completions", chatWith(say("Hello")), nil)
	var no *modelError
	if !errors.As(err, &no) || no.Status != 429 || no.Type != "rate_limit_error" {
		t.Errorf("too many: %v", err)
	}
}

// validStream reports whether every event is JSON.
func validStream(body string) bool {
	for event := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
		if data := strings.TrimPrefix(event, "data: "); data != "[DONE]" && !json.Valid([]byte(data)) {
			return false
		}
	}
	return true
}

// TestModelFaultsDependOnTheRequestAlone sends the same requests to two servers in different orders. Calls with the same user and step
// but different bodies differ.
func TestModelFaultsDependOnTheRequestAlone(t *testing.T) {
	cfg := ModelConfig{Seed: 5, Faults: Faults{RateLimited: 0.25, ServerError: 0.25}}
	type request struct{ body, tag, token string }
	var all []request
	for i := range 60 {
		for attempt := range 2 {
			all = append(all, request{
				hello(fmt.Sprintf(`,"seed":%d`, i/2)), stamp(1, "think", attempt), []string{"Bearer key", "Bearer key.ann"}[i%2],
			})
		}
	}
	statuses := func(order func(i int) int) string {
		m := indoorModel(cfg, nil)
		m.post(chatPath, hello(``)) // another call, without a tag
		found := make([]string, len(all))
		for i := range all {
			at := order(i)
			g := m.post(chatPath, all[at].body, "X-Throng-Request", all[at].tag, "Authorization", all[at].token)
			found[at] = fmt.Sprint(g.status, " ", g.header.Get("X-Request-Id"))
		}
		return strings.Join(found, "\n")
	}
	forwards := statuses(func(i int) int { return i })
	if backwards := statuses(func(i int) int { return len(all) - 1 - i }); forwards != backwards {
		t.Errorf("forwards\n%s\nbackwards\n%s", forwards, backwards)
	}
	for _, status := range []string{"200", "429", "500"} {
		if n := strings.Count(forwards, status+" "); n < 15 {
			t.Errorf("%d answers of 120 have %s", n, status)
		}
	}
	m := indoorModel(cfg, nil)
	seen := map[string]bool{}
	for range 40 {
		seen[m.post(chatPath, hello(``)).header.Get("X-Request-Id")] = true
	}
	if len(seen) != 40 {
		t.Errorf("%d ids of 40 calls without a tag", len(seen))
	}
}

// TestModelHook checks the hook's user, request and status.
func TestModelHook(t *testing.T) {
	var heard Request
	m := indoorModel(ModelConfig{OnRequest: func(r Request) { heard = r }}, nil)
	m.post(chatPath, hello(``), "Authorization", "Bearer key.ann", "X-Throng-Request", stamp(3, "think", 2))
	if want := (Request{N: 1, Method: "POST", Path: chatPath, User: "ann", Cycle: 3, Attempt: 2, Step: "think", Status: 200}); heard != want {
		t.Errorf("received %+v, want %+v", heard, want)
	}
}
