package mock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// startModel starts a server for the duration of the test.
func startModel(t testing.TB, cfg ModelConfig) *Model {
	t.Helper()
	m, err := StartModel(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return m
}

// indoorModel returns a server without a listener: it answers through serve and does not wait.
func indoorModel(cfg ModelConfig, now *time.Time) *Model {
	cfg.Secret = "key"
	m := buildModel(cfg, testClock(now))
	m.wait = func(*call, time.Duration) {}
	return m
}

// post sends a body and returns the answer.
func (m *Model) post(path, body string, headers ...string) got {
	return m.send(http.MethodPost, path, body, headers...)
}

func (m *Model) send(method, path, body string, headers ...string) got {
	r := httptest.NewRequestWithContext(context.Background(), method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer key")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	m.serve(w, r)
	return got{status: w.Code, header: w.Header(), body: w.Body.String()}
}

const chatPath, embedPath = "/v1/chat/completions", "/v1/embeddings"

// hello returns a chat request with additional members.
func hello(more string) string {
	return `{"model":"mock-1","messages":[{"role":"user","content":"What do you think of gardens in winter?"}]` + more + `}`
}

func TestModelConfigValidate(t *testing.T) {
	for _, c := range []struct {
		cfg  ModelConfig
		want string // in the error; "" for success
	}{
		{ModelConfig{}, ""},
		{ModelConfig{Models: []string{"a"}, RequestsPerMinute: 1}, ""},
		{ModelConfig{Addr: "0.0.0.0:1"}, "loopback"},
		{ModelConfig{Secret: "a b"}, "secret"},
		{ModelConfig{Profile: 9}, "profile"},
		{ModelConfig{Faults: Faults{Cut: 2}}, "cut"},
		{ModelConfig{TokensPerMinute: -1}, "quota"},
		{ModelConfig{Models: []string{""}}, "name"},
	} {
		err := c.cfg.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
		if err != nil {
			if _, err := StartModel(c.cfg); err == nil {
				t.Errorf("%+v started", c.cfg)
			}
		}
	}
	m := startModel(t, ModelConfig{})
	if _, err := StartModel(ModelConfig{Addr: strings.TrimPrefix(m.server.URL(), "http://")}); err == nil {
		t.Error("two servers on one port")
	}
	if other := startModel(t, ModelConfig{}); len(m.Secret()) < 20 || m.Secret() == other.Secret() {
		t.Errorf("key %q", m.Secret())
	}
}

func TestChat(t *testing.T) {
	m := startModel(t, ModelConfig{RequestsPerMinute: 100, TokensPerMinute: 10_000})
	var answer chatReply
	header, err := m.client(t).post("/chat/completions", chatWith(say("How do the gardens of Lisbon fare in winter?")), &answer)
	if err != nil {
		t.Fatal(err)
	}
	text := answer.Choices[0].Message.Content
	if len(answer.Choices) != 1 || len(text) < 40 || answer.Choices[0].FinishReason != "stop" ||
		answer.Choices[0].Message.Role != "assistant" || answer.Model != "mock-1" || answer.Object != "chat.completion" ||
		!strings.HasPrefix(answer.ID, "chatcmpl-") || answer.Created == 0 {
		t.Errorf("answer %+v", answer)
	}
	if use := answer.Usage; use.PromptTokens != 3+4+11 || use.CompletionTokens != (len(text)+3)/4 || use.TotalTokens != use.PromptTokens+use.CompletionTokens {
		t.Errorf("usage %+v of %q", use, text)
	}
	for name, want := range map[string]int{
		"X-Ratelimit-Limit-Requests": 100, "X-Ratelimit-Remaining-Requests": 99,
		"X-Ratelimit-Limit-Tokens": 10_000, "X-Ratelimit-Remaining-Tokens": 10_000 - answer.Usage.TotalTokens,
	} {
		if got := header.Get(name); got != strconv.Itoa(want) {
			t.Errorf("%s is %q, want %d", name, got, want)
		}
	}
	if !strings.HasPrefix(header.Get("X-Request-Id"), "req_") {
		t.Errorf("headers %v", header)
	}
	if s := m.Stats(); s.Requests != 1 || s.Statuses[200] != 1 || s.PromptTokens != 18 || int(s.CompletionTokens) != answer.Usage.CompletionTokens {
		t.Errorf("stats %+v", s)
	}
}

func TestStream(t *testing.T) {
	client := startModel(t, ModelConfig{}).client(t)
	question := chatWith(say("Tell me of rivers and bridges."))
	var whole chatReply
	if _, err := client.post("/chat/completions", question, &whole); err != nil {
		t.Fatal(err)
	}
	question.Stream, question.StreamOptions = true, map[string]bool{"include_usage": true}
	var text strings.Builder
	var finish string
	var use *tokenUsage
	parts := 0
	err := client.stream("/chat/completions", question, func(chunk chatPiece) {
		if chunk.ID != whole.ID || chunk.Object != "chat.completion.chunk" || chunk.Created != whole.Created {
			t.Errorf("chunk %+v", chunk)
		}
		for _, c := range chunk.Choices {
			if parts == 0 && c.Delta.Role != "assistant" {
				t.Errorf("the first chunk is %+v", c)
			}
			parts++
			text.WriteString(c.Delta.Content)
			finish += c.FinishReason
		}
		if chunk.Usage != nil {
			use = chunk.Usage
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != whole.Choices[0].Message.Content || finish != "stop" || parts < 10 {
		t.Errorf("streamed %q in %d parts to %q, want %q", text.String(), parts, finish, whole.Choices[0].Message.Content)
	}
	if use == nil || *use != whole.Usage {
		t.Errorf("usage %+v, want %+v", use, whole.Usage)
	}
}

func TestModels(t *testing.T) {
	m := startModel(t, ModelConfig{Models: []string{"small", "team/large"}})
	client := m.client(t)
	var list struct{ Data []listedModel }
	if err := client.get("/models", &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range list.Data {
		names = append(names, one.ID)
	}
	if !slices.Equal(names, m.Models()) {
		t.Errorf("models %v", names)
	}
	var one listedModel
	if err := client.get("/models/team/large", &one); err != nil || one.ID != "team/large" || one.Object != "model" {
		t.Errorf("model %+v %v", one, err)
	}
	var no *modelError
	if err := client.get("/models/huge", &one); !errors.As(err, &no) || no.Status != 404 || no.Code != "model_not_found" || !strings.Contains(no.Message, "small") {
		t.Errorf("an unknown model: %v", err)
	}
}

func TestModelErrors(t *testing.T) {
	m := startModel(t, ModelConfig{})
	stranger := m.client(t)
	stranger.key = "stolen"
	temperature := 3.0
	for _, c := range []struct {
		client *modelClient
		change func(*chatQuestion)
		status int
		code   string
		param  string
	}{
		{stranger, nil, 401, "invalid_api_key", ""},
		{m.client(t), func(q *chatQuestion) { q.Model = "gpt" }, 404, "model_not_found", ""},
		{m.client(t), func(q *chatQuestion) { q.Temperature = &temperature }, 400, "invalid_value", "temperature"},
		{m.client(t), func(q *chatQuestion) { q.N = 2 }, 400, "invalid_value", "n"},
		{m.client(t), func(q *chatQuestion) { q.Messages = nil }, 400, "missing_required_parameter", "messages"},
		{m.client(t), func(q *chatQuestion) { q.Messages[0].Role = "queen" }, 400, "invalid_value", "messages[0].role"},
	} {
		q := chatWith(say("Hello"))
		if c.change != nil {
			c.change(&q)
		}
		_, err := c.client.post("/chat/completions", q, nil)
		var no *modelError
		if !errors.As(err, &no) {
			t.Errorf("%v: %v", c.code, err)
			continue
		}
		if no.Status != c.status || no.Code != c.code || no.Param != c.param || no.Type != "invalid_request_error" || no.Message == "" {
			t.Errorf("got %+v, want %d %v at %q", no, c.status, c.code, c.param)
		}
	}
}

func TestModelKeysAndPaths(t *testing.T) {
	m := indoorModel(ModelConfig{}, nil)
	for _, c := range []struct {
		method, path, token string
		status              int
	}{
		{"GET", "/v1/models", "Bearer key", 200},
		{"GET", "/v1/models", "Bearer key.ann", 200},
		{"GET", "/v1/models", "Bearer key.", 200},
		{"GET", "/v1/models", "Bearer key-ann", 401},
		{"GET", "/v1/models", "Bearer ke", 401},
		{"GET", "/v1/models", "Bearer kez", 401},
		{"GET", "/v1/models", "key", 401},
		{"GET", "/v1/models", "", 401},
		{"GET", "/v1/models", "Bearer key." + strings.Repeat("a", maxUserID), 401},
		{"GET", "/healthz", "", 200},
		{"POST", "/v1/models", "Bearer key", 405},
		{"GET", chatPath, "Bearer key", 405},
		{"GET", "/v1/models/mock-2", "Bearer key", 200},
		{"GET", "/v1/nothing", "Bearer key", 404},
		{"GET", "/chat/completions", "Bearer key", 404},
	} {
		g := m.send(c.method, c.path, "", "Authorization", c.token)
		if g.status != c.status || !json.Valid([]byte(g.body)) {
			t.Errorf("%s %s with %q: %d %s, want %d", c.method, c.path, c.token, g.status, g.body, c.status)
		}
		if g.status == 405 && g.header.Get("Allow") == "" || g.status == 401 && g.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s %s: headers %v", c.method, c.path, g.header)
		}
	}
}

// TestAnswersAreAFunctionOfTheRequest sends many requests concurrently to two servers, in two orders.
func TestAnswersAreAFunctionOfTheRequest(t *testing.T) {
	bodies := []string{
		hello(``), hello(`,"seed":5`), hello(`,"max_tokens":9`), hello(`,"stream":true`), hello(`,"response_format":{"type":"json_object"}`),
		hello(`,"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"array","items":{"type":"integer"}}}}`),
	}
	for i := range 20 {
		bodies = append(bodies, fmt.Sprintf(`{"model":"mock-2","messages":[{"role":"user","content":"Question %d about bridges?"}]}`, i))
	}
	ask := func(m *Model, order []string) map[string]string {
		var mu sync.Mutex
		var wg sync.WaitGroup
		answers := map[string]string{}
		for _, body := range order {
			wg.Go(func() {
				g := m.post(chatPath, body)
				mu.Lock()
				defer mu.Unlock()
				answers[body] = g.body
			})
		}
		wg.Wait()
		return answers
	}
	first := ask(indoorModel(ModelConfig{Seed: 3}, nil), bodies)
	later := time.Now()
	backwards := slices.Clone(bodies)
	slices.Reverse(backwards)
	second := ask(indoorModel(ModelConfig{Seed: 3, Profile: ProfileSlow}, &later), backwards)
	seen := map[string]string{}
	for _, body := range bodies {
		if first[body] != second[body] || first[body] == "" {
			t.Errorf("%s returned\n%s and\n%s", body, first[body], second[body])
		}
		if other := seen[first[body]]; other != "" {
			t.Errorf("%s and %s have one answer", body, other)
		}
		seen[first[body]] = body
	}
}

// TestInfluencesOnAnAnswer checks the members of a request that affect the answer, and those that do not.
func TestInfluencesOnAnAnswer(t *testing.T) {
	text := func(m *Model, body string) string {
		var answer chatAnswer
		if err := json.Unmarshal([]byte(m.post(chatPath, body).body), &answer); err != nil || len(answer.Choices) == 0 {
			t.Fatalf("%s: %v %+v", body, err, answer)
		}
		return answer.ID + answer.Choices[0].Message.Content
	}
	m := indoorModel(ModelConfig{Seed: 3}, nil)
	usual := text(m, hello(``))
	for _, same := range []string{
		`,"temperature":1.5`, `,"seed":3`, `,"seed":null`, `,"user":"ann"`, `,"top_p":0.5`, `,"tools":[]`, `,"response_format":{"type":"text"}`, `,"logit_bias":{}`,
	} {
		if got := text(m, hello(same)); got != usual {
			t.Errorf("%s changes the answer", same)
		}
	}
	if got := text(indoorModel(ModelConfig{Seed: 4}, nil), hello(`,"seed":3`)); got != usual {
		t.Error("the server's seed changes the answer to a request with a seed")
	}
	for _, other := range []string{
		hello(`,"seed":4`), strings.Replace(hello(``), "mock-1", "mock-2", 1), strings.Replace(hello(``), "user", "assistant", 1),
		strings.Replace(hello(``), "winter", "summer", 1), hello(`,"response_format":{"type":"json_object"}`),
	} {
		if got := text(m, other); got == usual {
			t.Errorf("%s has the usual answer", other)
		}
	}
	parts := strings.Replace(hello(``), `"What do you think of gardens in winter?"`,
		`[{"type":"text","text":"What do you think "},{"type":"text","text":"of gardens in winter?"}]`, 1)
	if got := text(m, parts); got != usual {
		t.Error("a text in parts has another answer")
	}
}

// TestLatencyGrowsWithTheAnswer records the waits instead of waiting.
func TestLatencyGrowsWithTheAnswer(t *testing.T) {
	for _, c := range []struct {
		profile  Profile
		min, max time.Duration
	}{
		{ProfileNone, 0, 0},
		{ProfileLocal, time.Millisecond, 5 * time.Millisecond},
		{ProfileRemote, 50 * time.Millisecond, 150 * time.Millisecond},
		{ProfileSlow, 500 * time.Millisecond, 2 * time.Second},
	} {
		m := indoorModel(ModelConfig{Profile: c.profile}, nil)
		var waits []time.Duration
		m.wait = func(_ *call, d time.Duration) { waits = append(waits, d) }
		g := m.post(chatPath, hello(``))
		var answer chatAnswer
		if err := json.Unmarshal([]byte(g.body), &answer); err != nil {
			t.Fatal(err)
		}
		want := time.Duration(answer.Usage.Completion) * c.profile.PerToken()
		if len(waits) != 2 || waits[0] < c.min || waits[0] > c.max || waits[1] != want {
			t.Errorf("%s: waited %v, want %v to %v and %v", c.profile, waits, c.min, c.max, want)
		}
		waits = nil
		chunks := strings.Count(m.post(chatPath, hello(`,"stream":true`)).body, "data: {")
		var sum, longest time.Duration
		for _, d := range waits[1:] {
			sum, longest = sum+d, max(longest, d)
		}
		if len(waits) != 1+chunks || sum != want || longest > want/time.Duration(chunks)+1 {
			t.Errorf("%s: %d chunks waited %v, want %v spread over them", c.profile, chunks, waits, want)
		}
	}
}

// TestStreamArrivesInPieces blocks the answer after its first event, which must arrive.
func TestStreamArrivesInPieces(t *testing.T) {
	m := buildModel(ModelConfig{Secret: "key", Profile: ProfileLocal}, time.Now)
	release := make(chan struct{})
	var waits int
	m.wait = func(*call, time.Duration) {
		if waits++; waits == 3 {
			<-release
		}
	}
	if err := m.listen(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	pieces := 0
	err := m.client(t).stream("/chat/completions", chatQuestion{Model: "mock-1", Messages: say("Rivers?"), Stream: true}, func(piece chatPiece) {
		if pieces++; pieces > 1 {
			return
		}
		if piece.Choices[0].Delta.Role != "assistant" {
			t.Errorf("first %+v", piece)
		}
		close(release)
	})
	if err != nil || pieces < 2 {
		t.Errorf("%d pieces, %v", pieces, err)
	}
}

// TestModelCloseEndsEverything closes a server with requests that hang or wait for their latency.
func TestModelCloseEndsEverything(t *testing.T) {
	m := buildModel(ModelConfig{Secret: "key", Faults: Faults{Hang: 1}, OnRequest: func(r Request) {
		if r.Status != 0 || r.Fault != FaultHang || r.Path != chatPath {
			t.Errorf("received %+v", r)
		}
	}}, time.Now)
	waiting := make(chan bool)
	m.wait = func(c *call, d time.Duration) {
		waiting <- true
		c.pause(d)
	}
	if err := m.listen(); err != nil {
		t.Fatal(err)
	}
	answers := make(chan error)
	ask := func() {
		_, err := m.client(t).post("/chat/completions", chatWith(say("Hello")), nil)
		answers <- err
	}
	go ask()
	<-waiting
	m.SetFaults(Faults{})
	m.SetProfile(ProfileSlow)
	go ask()
	<-waiting
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := <-answers; err == nil {
			t.Error("answered")
		}
	}
	if err := m.Close(); err != nil {
		t.Errorf("a second close: %v", err)
	}
}
