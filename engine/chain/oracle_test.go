package chain

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/pricing"
)

// oracle is a model server for tests. A function of the request determines its answer.
type oracle struct {
	answer func(q asking) (status int, text string)

	mu   sync.Mutex
	seen []asking
}

// asking is a request to an oracle.
type asking struct {
	Model    string
	Messages []struct{ Role, Content string }
	Tools    []struct {
		Function struct{ Name, Description string }
	}
	Input  []string
	Stream bool
	Seed   int
	Format struct {
		Type       string
		JSONSchema struct {
			Schema json.RawMessage
			Strict bool
		} `json:"json_schema"`
	} `json:"response_format"`
	Temperature float64
	MaxTokens   int `json:"max_tokens"`

	body string
	auth string
	n    int // that were asked before
}

// last returns the content of the last message.
func (q asking) last() string { return q.Messages[len(q.Messages)-1].Content }

// broken is a status that makes the oracle cut the connection.
const broken = -1

func (o *oracle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	q := asking{body: string(body), auth: r.Header.Get("Authorization")}
	if err := json.Unmarshal(body, &q); err != nil {
		js(w, 400, err.Error())
		return
	}
	o.mu.Lock()
	q.n = len(o.seen)
	o.seen = append(o.seen, q)
	o.mu.Unlock()
	switch status, text := o.answer(q); {
	case status == broken:
		panic(http.ErrAbortHandler)
	case status != 200 || strings.HasSuffix(r.URL.Path, "/embeddings"):
		if status == 429 {
			w.Header().Set("Retry-After", "0")
		}
		js(w, status, text)
	case q.Stream:
		w.Header().Set("Content-Type", "text/event-stream")
		for piece := range strings.SplitSeq(text, " ") {
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%s}}]}\n\n", quoted(piece+" "))
		}
		_, _ = io.WriteString(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n")
	default:
		js(w, 200, `{"choices":[{"message":{"role":"assistant","content":`+quoted(text)+calls(text)+`},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`)
	}
}

// calls returns the calls of tools that an answer asks for, one on each line: call NAME ARGUMENTS.
func calls(text string) string {
	var all []string
	for i, line := range strings.Split(text, "\n") {
		if rest, ok := strings.CutPrefix(line, "call "); ok {
			name, arguments, _ := strings.Cut(rest, " ")
			all = append(all, fmt.Sprintf(`{"id":"id%d","type":"function","function":{"name":%q,"arguments":%s}}`, i, name, quoted(arguments)))
		}
	}
	if all == nil {
		return ""
	}
	return `,"tool_calls":[` + strings.Join(all, ",") + `]`
}

func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// asked returns the requests so far.
func (o *oracle) asked() []asking {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen
}

// who returns the requested models, in order.
func (o *oracle) who() string {
	var all []string
	for _, q := range o.asked() {
		all = append(all, q.Model)
	}
	return strings.Join(all, " ")
}

// served returns a connected model service at an address.
func served(t testing.TB, name, address string, models ...string) *Service {
	t.Helper()
	client, err := service.NewLLM(service.LLMConfig{
		Name: name, Base: address + "/v1", Limits: service.Limits{Timeout: 5 * time.Second}, Prices: pricing.Prices{"m1": {Input: 1e-6, Output: 1e-6}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	s := &Service{Name: name, Kind: "llm", ModelOptions: ModelOptions{Models: models}, Bearer: "KEY"}
	s.ConnectLLM(client, "sk-hunter2")
	return s
}

// models returns two services at the same oracle: model with m1 and m2, and other with m3.
func (o *oracle) models(t testing.TB) []*Service {
	t.Helper()
	var quiet http.HandlerFunc = o.ServeHTTP
	address := serve(t, quiet)
	return []*Service{served(t, "model", address, "m1", "m2"), served(t, "other", address, "m3")}
}

// says returns an oracle with these answers in order, repeating the last; answers of three digits are statuses.
func says(answers ...string) *oracle {
	return &oracle{answer: func(q asking) (int, string) {
		text := answers[min(q.n, len(answers)-1)]
		status := 200
		if len(text) >= 3 && strings.Trim(text[:3], "0123456789") == "" {
			if _, err := fmt.Sscan(text[:3], &status); err == nil {
				text = strings.TrimSpace(text[3:])
			}
		}
		if text == "cut" {
			return broken, ""
		}
		return status, text
	}}
}
