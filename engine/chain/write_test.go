package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
)

// journalWriter is a test model that returns its answers in order and then repeats the last one.
type journalWriter struct {
	answers []string // a number is a status, hang is never
	hangs   func()   // called when one hangs

	mu   sync.Mutex
	seen []letter
}

type letter struct {
	Model       string
	Temperature float64
	Seed        int
	Messages    []struct{ Role, Content string }
	header      http.Header
}

func (a *letter) last() string { return a.Messages[len(a.Messages)-1].Content }

// letters returns the requests so far.
func (s *journalWriter) letters() []letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

func (s *journalWriter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a := letter{header: r.Header}
	if err := json.Unmarshal(body, &a); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	answer := s.answers[min(len(s.seen), len(s.answers)-1)]
	s.seen = append(s.seen, a)
	s.mu.Unlock()
	status := 0
	switch {
	case answer == "hang":
		if s.hangs != nil {
			s.hangs()
		}
		<-r.Context().Done()
		return
	case len(answer) == 3:
		if _, err := fmt.Sscan(answer, &status); err == nil {
			w.WriteHeader(status)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": answer}, "finish_reason": "stop"}},
		"usage":   map[string]int{"prompt_tokens": 7, "completion_tokens": 3},
	})
}

// words are the names that expressions of a test can use.
type words map[string]value.Value

func (w words) Lookup(name string) (value.Value, error) {
	if v, ok := w[name]; ok {
		return v, nil
	}
	return nil, fmt.Errorf("%s is not known here", name)
}

// writer parses the keys of a population written by service a and service b, which has two models.
func writer(t *testing.T, keys string, a, b *journalWriter) *Writer {
	t.Helper()
	env, err := script.New(script.Config{})
	if err != nil {
		t.Fatal(err)
	}
	report := &doc.Report{}
	r := &Reader{File: expr.File{Env: env, Fields: map[string][]string{}}, Services: map[string]*Service{}}
	for name, s := range map[string]*journalWriter{"a": a, "b": b} {
		if s == nil {
			continue
		}
		server := httptest.NewServer(s)
		t.Cleanup(server.Close)
		client, err := service.NewLLM(service.LLMConfig{Name: name, Base: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		one := &Service{Name: name, Kind: "llm", ModelOptions: ModelOptions{Models: []string{name + "-1"}}, Bearer: "KEY"}
		if name == "b" {
			one.Models = append(one.Models, "b-2")
		}
		one.ConnectLLM(client, "key-of-"+name)
		r.Services[name] = one
	}
	w := r.Writer(doc.Parse("test.yaml", []byte(keys), report), []string{"index"})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	return w
}

func commission() *Commission {
	return &Commission{
		Path: "population[4]", Key: draw.Key{}.Int(4), Names: words{"index": starlark.MakeInt(4)},
		Retry: engine.Retry{Attempts: 3, Wait: 1, Max: 1}, Timeout: time.Minute,
	}
}

const (
	ann      = `{"name": "Ann", "age": 30}`
	wantsAnn = "service: a\nprompt: \"Number ${index}, ${pick([1, 2, 3])}\"\nanswer: {name: string, age: int}\n"
)

// TestAsk checks the result, the error class and the number of attempts for each kind of answer.
func TestAsk(t *testing.T) {
	for _, tt := range []struct {
		name     string
		keys     string
		a, b     []string
		want     string
		class    engine.Class
		attempts int
		calls    int64 // answered
	}{
		{"first try", wantsAnn, []string{ann}, nil, `{"name":"Ann","age":30}`, engine.NoError, 1, 1},
		{"in a fence", wantsAnn, []string{"```json\n" + ann + "\n```"}, nil, `{"name":"Ann","age":30}`, engine.NoError, 1, 1},
		{"in another order", wantsAnn, []string{`{"age": 30, "name": "Ann"}`}, nil, `{"name":"Ann","age":30}`, engine.NoError, 1, 1},
		{"asked again", wantsAnn, []string{`{"name": "Ann"}`, "500", ann}, nil, `{"name":"Ann","age":30}`, engine.NoError, 3, 2},
		{"never fits", wantsAnn, []string{"no"}, nil, "", engine.BadAnswer, 3, 3},
		{"fails", wantsAnn, []string{"500"}, nil, "", engine.ServerError, 3, 0},
		{"may not", wantsAnn, []string{"401"}, nil, "", engine.ClientError, 1, 0},
		{"the second service, second model", wantsAnn + "fallback: b\nretry: {attempts: 1}\n", []string{"500"}, []string{"no", ann}, `{"name":"Ann","age":30}`, engine.NoError, 3, 2},
		{"less than it says", strings.Replace(wantsAnn, "{name: string, age: int}", "{schema: {type: object, properties: {age: {type: integer}}}}", 1), []string{ann}, nil, `{"age":30}`, engine.NoError, 1, 1},
		{"out of time", wantsAnn + "timeout: 50ms\n", []string{"hang"}, nil, "", engine.Timeout, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := &journalWriter{answers: tt.a}, &journalWriter{answers: tt.b}
			if tt.b == nil {
				b = nil
			}
			got, took, err := writer(t, tt.keys, a, b).Ask(t.Context(), commission())
			if string(got) != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if class := classOf(err); class != tt.class {
				t.Errorf("got %v of class %s, want %s", err, class, tt.class)
			}
			if tt.class == engine.Timeout {
				return // perhaps it never came to be asked
			}
			calls := int64(0)
			if took.Usage != nil {
				calls = took.Usage.Calls
			}
			if took.Attempts != tt.attempts || calls != tt.calls {
				t.Errorf("%d attempts and %d answers, want %d and %d", took.Attempts, calls, tt.attempts, tt.calls)
			}
			if key := a.letters()[0].header.Get("Authorization"); key != "Bearer key-of-a" {
				t.Errorf("signed with %q", key)
			}
		})
	}
}

func classOf(err error) engine.Class {
	if _, ok := errors.AsType[*engine.TimeoutError](err); ok {
		return engine.Timeout
	}
	if step, ok := errors.AsType[*engine.StepError](err); ok {
		return step.Class
	}
	return engine.NoError
}

// TestAskAgainSaysWhatWasWrong checks that a repeated request names the error in the previous answer, and that the
// requests are reproducible.
func TestAskAgainSaysWhatWasWrong(t *testing.T) {
	var prompts []string
	for range 2 {
		a := &journalWriter{answers: []string{`{"name": "Ann"}`, ann}}
		if _, _, err := writer(t, wantsAnn+"temperature: 0.25\nsystem: Be brief\n", a, nil).Ask(t.Context(), commission()); err != nil {
			t.Fatal(err)
		}
		seen := a.letters()
		if len(seen) != 2 || seen[0].Messages[0].Content != "Be brief" || seen[0].Temperature != 0.25 || !strings.Contains(seen[1].last(), "age") {
			t.Fatalf("asked %+v", seen)
		}
		if seen[0].Seed == seen[1].Seed || seen[0].Seed < 0 {
			t.Errorf("seeds %d and %d", seen[0].Seed, seen[1].Seed)
		}
		prompts = append(prompts, fmt.Sprint(seen[0].last(), seen[0].Seed))
	}
	if prompts[0] != prompts[1] || !strings.HasPrefix(prompts[0], "Number 4, ") {
		t.Errorf("got calls %q", prompts)
	}
}

// TestAskEndsWithItsContext checks that a call ends with its context while the model does not answer.
func TestAskEndsWithItsContext(t *testing.T) {
	ctx, giveUp := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	a := &journalWriter{answers: []string{"hang"}, hangs: func() { giveUp(why) }}
	if _, _, err := writer(t, wantsAnn, a, nil).Ask(ctx, commission()); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

// TestRequest checks what identifies a record: the address, the draws and the request itself, but not retries or
// timeouts.
func TestRequest(t *testing.T) {
	request := func(keys, address string, c *Commission) string {
		t.Helper()
		r, err := writer(t, keys, &journalWriter{}, &journalWriter{}).Request(c, func(s *Service) string { return address + s.Name })
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := request(wantsAnn, "x", commission())
	if again := request(wantsAnn+"retry: {attempts: 7}\ntimeout: 3\nstream: true\n", "x", commission()); again != first {
		t.Error("retries, timeouts or streaming change the request ID")
	}
	other := commission()
	other.Key = other.Key.Int(1)
	for name, r := range map[string]string{
		"address": request(wantsAnn, "y", commission()), "draws": request(wantsAnn, "x", other), "fallback": request(wantsAnn+"fallback: b\n", "x", commission()),
		"service": request(strings.Replace(wantsAnn, "service: a", "service: b", 1), "x", commission()), "length": request(wantsAnn+"max_tokens: 9\n", "x", commission()),
	} {
		if r == first {
			t.Errorf("the %s makes no difference", name)
		}
	}
	asked, most, err := writer(t, wantsAnn+"max_tokens: 9\n", &journalWriter{}, nil).Length(commission())
	if err != nil || asked < len("Number 4, 1{name string age int}") || most != 9 {
		t.Errorf("asks %d bytes for %d tokens, %v", asked, most, err)
	}
	w := writer(t, strings.Replace(wantsAnn, "${index}", "${1 // (index - 4)}", 1), &journalWriter{}, nil)
	if _, err := w.Request(commission(), func(*Service) string { return "" }); err == nil {
		t.Error("a failing prompt is not reported")
	}
	if _, _, err := w.Length(commission()); err == nil {
		t.Error("a prompt that fails has a length")
	}
	if _, _, err := w.Ask(t.Context(), commission()); err == nil {
		t.Error("a failing prompt is sent")
	}
}
