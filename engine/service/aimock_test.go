package service

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/openai"
)

// aimockFolder is where make installs a third-party model server, if npm is available.
const aimockFolder = "../../.bin/aimock-1.43.0"

const aimockFixtures = `{"fixtures": [
	{"match": {"userMessage": "hello"}, "response": {"content": "Hello there, and welcome."}},
	{"match": {"userMessage": "shop"}, "response": {"content": "{\"shop\":true}"}},
	{"match": {"userMessage": "busy", "sequenceIndex": 0}, "response": {"error": {"message": "busy", "type": "rate_limit_error"}, "status": 429, "retryAfter": 1}},
	{"match": {"userMessage": "busy", "sequenceIndex": 1}, "response": {"content": "Now."}}
]}`

// aimock starts that server and returns its address.
func aimock(t *testing.T) string {
	t.Helper()
	program := filepath.Join(aimockFolder, "node_modules", "@copilotkit", "aimock", "dist", "cli.js")
	if _, err := os.Stat(program); err != nil {
		t.Skipf("make test installs it where npm is there: %v", err)
	}
	fixtures := filepath.Join(t.TempDir(), "fixtures.json")
	if err := os.WriteFile(fixtures, []byte(aimockFixtures), 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.Command("node", program, "-p", "0", "-f", fixtures, "-c", "4") //nolint:noctx // it is killed below
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Skip("node does not start: ", err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if found := address.FindString(lines.Text()); found != "" {
			return found
		}
	}
	t.Fatal("the server prints no address")
	return ""
}

// TestAModelServerThatIsNotOurs checks the client against an independent implementation of the wire format.
func TestAModelServerThatIsNotOurs(t *testing.T) {
	address := aimock(t)
	l, err := NewLLM(LLMConfig{Name: "model", Base: address + "/v1", Limits: Limits{Timeout: 10 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	shape := llm.Format{Name: "answer", Schema: []byte(`{"type":"object"}`), JSON: true}
	tests := []struct {
		name     string
		prompt   string
		chaos    string // a fault of each request
		format   llm.Format
		want     string // "" if it fails
		class    engine.Class
		attempts int
		statuses []int
	}{
		{name: "a text", prompt: "hello", want: "Hello there, and welcome.", attempts: 1, statuses: []int{200}},
		{name: "a document", prompt: "shop", format: shape, want: `{"shop":true}`, attempts: 1, statuses: []int{200}},
		{name: "dropped", prompt: "hello", chaos: "drop", class: engine.ServerError, attempts: 3, statuses: []int{500, 500, 500}},
		{name: "malformed", prompt: "hello", chaos: "malformed", class: engine.BadAnswer, attempts: 3, statuses: []int{200, 200, 200}},
		{name: "disconnected", prompt: "hello", chaos: "disconnect", class: engine.Network, attempts: 3},
		{name: "unknown", prompt: "nothing that it knows", class: engine.ClientError, attempts: 1, statuses: []int{404}},
	}
	for _, tt := range tests {
		for _, stream := range []bool{false, true} {
			name := tt.name
			if stream {
				name += " in pieces"
			}
			t.Run(name, func(t *testing.T) {
				c := llm.Chat{Header: http.Header{}, Model: "m", Messages: []llm.Message{{Role: "user", Text: tt.prompt}}, Stream: stream, Format: tt.format}
				if tt.chaos != "" {
					c.Header.Set("X-Aimock-Chaos-"+tt.chaos, "1")
				}
				row, got := stage{}.chat(t, l, c, func(c *Call) { c.Retry.Attempts, c.Retry.Wait = 3, 0 })
				rec := row.Steps[0]
				if row.Class != tt.class || rec.Attempts != tt.attempts || !slices.Equal(rec.Statuses, tt.statuses) {
					t.Errorf("class %q, %d attempts, %v: %s; want %q, %d, %v", row.Class, rec.Attempts, rec.Statuses, row.Error, tt.class, tt.attempts, tt.statuses)
				}
				if tt.want != "" && (got == nil || got.Text != tt.want || rec.Usage.Output == 0 || rec.Usage.Estimated != 0) {
					t.Errorf("got %+v, usage %+v", got, rec.Usage)
				}
			})
		}
	}
	t.Run("busy", func(t *testing.T) {
		c := llm.Chat{Header: http.Header{}, Model: "m", Messages: []llm.Message{{Role: "user", Text: "busy"}}}
		row, got := stage{}.chat(t, l, c, nil)
		if rec := row.Steps[0]; got == nil || got.Text != "Now." || rec.Attempts != 1 || !slices.Equal(rec.Statuses, []int{429, 200}) || rec.Throttled < 900*time.Millisecond { // a second, less the time of the response
			t.Errorf("%+v, %v after %v: %s", got, rec.Statuses, rec.Throttled, row.Error)
		}
	})
	t.Run("embeddings", func(t *testing.T) {
		row := stage{}.play(t, func(s *engine.Session) {
			call := callOf(s, "step")
			got, err := l.Embed(call, openai.Embedding{Header: http.Header{}, Model: "e", Texts: []string{"one", "two", "one"}, Dimensions: 8})
			if err == nil && (len(got) != 3 || len(got[0]) != 8 || !slices.Equal(got[0], got[2]) || slices.Equal(got[0], got[1])) {
				t.Errorf("got %v", got)
			}
			end(s, call, err)
		})
		if row.Outcome != engine.OK {
			t.Error(row.Error)
		}
	})
}
