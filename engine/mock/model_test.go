package mock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// startModel starts a server that ends with the test.
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

// client is one of another maker, on connections of its own.
func (m *Model) client() *openai.Client {
	cfg := openai.DefaultConfig(m.Secret())
	cfg.BaseURL = m.URL()
	cfg.HTTPClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return openai.NewClientWithConfig(cfg)
}

func say(texts ...string) (all []openai.ChatCompletionMessage) {
	for i, text := range texts {
		all = append(all, openai.ChatCompletionMessage{Role: []string{"user", "assistant"}[i%2], Content: text})
	}
	return all
}

func chatWith(messages []openai.ChatCompletionMessage) openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{Model: "mock-1", Messages: messages}
}

// indoorModel is a server without a listener: it answers through serve and does not wait.
func indoorModel(cfg ModelConfig, now *time.Time) *Model {
	cfg.Secret = "key"
	m := buildModel(cfg, testClock(now))
	m.wait = func(*call, time.Duration) {}
	return m
}

// post sends a body and returns its answer.
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

// hello is a request for a chat with more members.
func hello(more string) string {
	return `{"model":"mock-1","messages":[{"role":"user","content":"What do you think of gardens in winter?"}]` + more + `}`
}

func TestModelConfigValidate(t *testing.T) {
	for _, c := range []struct {
		cfg  ModelConfig
		want string // in the error; "" is no error
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
	if _, err := StartModel(ModelConfig{Addr: m.server.listener.Addr().String()}); err == nil {
		t.Error("two servers on one port")
	}
	if other := startModel(t, ModelConfig{}); len(m.Secret()) < 20 || m.Secret() == other.Secret() {
		t.Errorf("key %q", m.Secret())
	}
}

// TestChatThroughAnotherClient asks through a client that was not made for this server.
func TestChatThroughAnotherClient(t *testing.T) {
	m := startModel(t, ModelConfig{RequestsPerMinute: 100, TokensPerMinute: 10_000})
	question := chatWith(say("How do the gardens of Lisbon fare in winter?"))
	answer, err := m.client().CreateChatCompletion(t.Context(), question)
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
	limits := answer.GetRateLimitHeaders()
	if limits.LimitRequests != 100 || limits.RemainingRequests != 99 || limits.LimitTokens != 10_000 || limits.RemainingTokens != 10_000-answer.Usage.TotalTokens {
		t.Errorf("limits %+v", limits)
	}
	if !strings.HasPrefix(answer.Header().Get("X-Request-Id"), "req_") {
		t.Errorf("headers %v", answer.Header())
	}
	if s := m.Stats(); s.Requests != 1 || s.Statuses[200] != 1 || s.PromptTokens != 18 || int(s.CompletionTokens) != answer.Usage.CompletionTokens {
		t.Errorf("stats %+v", s)
	}
}

func TestStreamThroughAnotherClient(t *testing.T) {
	client := startModel(t, ModelConfig{}).client()
	question := chatWith(say("Tell me of rivers and bridges."))
	whole, err := client.CreateChatCompletion(t.Context(), question)
	if err != nil {
		t.Fatal(err)
	}
	question.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	stream, err := client.CreateChatCompletionStream(t.Context(), question)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	var text strings.Builder
	var finish openai.FinishReason
	var use *openai.Usage
	parts := 0
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
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
	}
	if text.String() != whole.Choices[0].Message.Content || finish != "stop" || parts < 10 {
		t.Errorf("streamed %q in %d parts to %q, want %q", text.String(), parts, finish, whole.Choices[0].Message.Content)
	}
	if use == nil || *use != whole.Usage {
		t.Errorf("usage %+v, want %+v", use, whole.Usage)
	}
}

func TestModelsThroughAnotherClient(t *testing.T) {
	m := startModel(t, ModelConfig{Models: []string{"small", "team/large"}})
	client := m.client()
	list, err := client.ListModels(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range list.Models {
		names = append(names, one.ID)
	}
	if !slices.Equal(names, m.Models()) {
		t.Errorf("models %v", names)
	}
	if one, err := client.GetModel(t.Context(), "team/large"); err != nil || one.ID != "team/large" || one.Object != "model" {
		t.Errorf("model %+v %v", one, err)
	}
	var no *openai.APIError
	if _, err := client.GetModel(t.Context(), "huge"); !errors.As(err, &no) || no.HTTPStatusCode != 404 || no.Code != "model_not_found" || !strings.Contains(no.Message, "small") {
		t.Errorf("an unknown model: %v", err)
	}
}

func TestErrorsThroughAnotherClient(t *testing.T) {
	m := startModel(t, ModelConfig{})
	stranger := openai.DefaultConfig("stolen")
	stranger.BaseURL = m.URL()
	stranger.HTTPClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, c := range []struct {
		client *openai.Client
		change func(*openai.ChatCompletionRequest)
		status int
		code   any
		param  string
	}{
		{openai.NewClientWithConfig(stranger), nil, 401, "invalid_api_key", ""},
		{m.client(), func(q *openai.ChatCompletionRequest) { q.Model = "gpt" }, 404, "model_not_found", ""},
		{m.client(), func(q *openai.ChatCompletionRequest) { q.Temperature = 3 }, 400, "invalid_value", "temperature"},
		{m.client(), func(q *openai.ChatCompletionRequest) { q.N = 2 }, 400, "invalid_value", "n"},
		{m.client(), func(q *openai.ChatCompletionRequest) { q.Messages = say() }, 400, "missing_required_parameter", "messages"},
		{m.client(), func(q *openai.ChatCompletionRequest) { q.Messages[0].Role = "queen" }, 400, "invalid_value", "messages[0].role"},
	} {
		q := chatWith(say("Hello"))
		if c.change != nil {
			c.change(&q)
		}
		_, err := c.client.CreateChatCompletion(t.Context(), q)
		var no *openai.APIError
		if !errors.As(err, &no) {
			t.Errorf("%v: %v", c.code, err)
			continue
		}
		param := ""
		if no.Param != nil {
			param = *no.Param
		}
		if no.HTTPStatusCode != c.status || no.Code != c.code || param != c.param || no.Type != "invalid_request_error" || no.Message == "" {
			t.Errorf("got %d %v at %q: %v, want %d %v at %q", no.HTTPStatusCode, no.Code, param, err, c.status, c.code, c.param)
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

// TestAnswersAreAFunctionOfTheRequest asks many things at once, in two orders, of two servers.
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
			t.Errorf("%s gave\n%s and\n%s", body, first[body], second[body])
		}
		if other := seen[first[body]]; other != "" {
			t.Errorf("%s and %s have one answer", body, other)
		}
		seen[first[body]] = body
	}
}

// TestWhatChangesAnAnswer says what an answer depends on.
func TestWhatChangesAnAnswer(t *testing.T) {
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
		t.Error("the server's seed changes the answer to a request that has one")
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
		t.Error("the parts of a text are another text")
	}
}

// TestLatencyGrowsWithTheAnswer records the waits instead of spending them.
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
		want := time.Duration(answer.Usage.Completion) * c.profile.perToken()
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

// TestStreamArrivesInPieces holds the answer back after its first event, which is there.
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
	stream, err := m.client().CreateChatCompletionStream(t.Context(), chatWith(say("Rivers?")))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	if first, err := stream.Recv(); err != nil || first.Choices[0].Delta.Role != "assistant" {
		t.Errorf("first %+v %v", first, err)
	}
	close(release)
	for err == nil {
		_, err = stream.Recv()
	}
	if !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// TestModelCloseEndsEverything closes a server on which requests hang and wait for their latency.
func TestModelCloseEndsEverything(t *testing.T) {
	m := buildModel(ModelConfig{Secret: "key", Faults: Faults{Hang: 1}, OnRequest: func(r Request) {
		if r.Status != 0 || r.Fault != FaultHang || r.Path != chatPath {
			t.Errorf("heard %+v", r)
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
		_, err := m.client().CreateChatCompletion(t.Context(), chatWith(say("Hello")))
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
