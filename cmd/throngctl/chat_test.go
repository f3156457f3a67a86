package main

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/prove"
)

// chat returns a run of testdata/chat.yaml, with faults that are retried immediately.
func chat(data string, more ...string) []string {
	return append([]string{
		"run", filepath.Join("testdata", "chat.yaml"), "--data", data, "--seed", "7", "--mock-latency", "none", "--max-concurrent", "8",
		"--retry-wait", "1ms", "--no-dashboard", "--mock-fault", "server_error=0.05", "--mock-fault", "cut=0.05", "--mock-fault", "bad_body=0.05",
	}, more...)
}

// TestKilledTalksEndAsIfNothingHappened kills throngctl during model calls. The results must equal those of an
// uninterrupted run.
func TestKilledTalksEndAsIfNothingHappened(t *testing.T) {
	t.Parallel()
	r := proved(t, prove.Config{Run: chat("")[1:], Kills: 10, Seed: 20261121})
	if r.Counts[prove.Request] < 80 || r.Sessions != 24 {
		t.Errorf("%d sessions of %d requests: the test proves little", r.Sessions, r.Counts[prove.Request])
	}
}

// TestSameTalkAtAnyConcurrency checks that a seed has the same results at all concurrency limits, with limits of model
// calls, with faults, and with sequential steps.
func TestSameTalkAtAnyConcurrency(t *testing.T) {
	t.Parallel()
	var first string
	for i, more := range [][]string{
		{"--max-concurrent", "100"},
		{"--max-concurrent", "7", "--max-llm-calls", "3"},
		{"--max-concurrent", "1", "--sequential-steps", "on"},
		{"--max-concurrent", "50", "--mock-fault", "rate_limited=0.02"},
	} {
		data := t.TempDir()
		code, out, stderr := ctl(t, chat(data, append(more, "--export", filepath.Join(data, "out"))...)...)
		if code != exitDone || strings.Contains(out, "inexact") {
			t.Fatalf("%v: exit code %d\n%s%s", more, code, out, stderr)
		}
		got := read(t, data, "out", "sessions.csv") + read(t, data, "out", "events.csv")
		if i == 0 {
			first = got
		}
		for _, row := range timings(t, data) {
			if row["model_calls"] < "3" || row["input_tokens"] == "0" || row["output_tokens"] == "0" || row["cost_usd"] != "0" {
				t.Errorf("%v: %v", more, row)
			}
		}
		if got != first {
			t.Errorf("%v: the results differ\n%s", more, difference(first, got))
		}
	}
}

// timings returns the rows of an exported timings.csv by column.
func timings(t *testing.T, data string) (all []map[string]string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(read(t, data, "out", "timings.csv"))).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows[1:] {
		named := map[string]string{}
		for i, cell := range row {
			named[rows[0][i]] = cell
		}
		all = append(all, named)
	}
	return all
}

// counter is a slow model server that counts concurrent calls.
type counter struct {
	mu         sync.Mutex
	busy, most int
	at         []time.Time
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.busy++
	c.most = max(c.most, c.busy)
	c.at = append(c.at, time.Now())
	c.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	var q struct{ Input []string }
	_ = json.Unmarshal(body, &q)
	answer := `{"choices":[{"message":{"content":"{\"shop\":true,\"mood\":\"good\",\"items\":null,\"more\":{\"sum\":1,\"count\":1}}"},"finish_reason":"stop"}]}`
	if q.Input != nil {
		answer = `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[2]}]}`
	}
	latency := time.NewTimer(10 * time.Millisecond)
	defer latency.Stop()
	select {
	case <-latency.C:
	case <-r.Context().Done():
	}
	c.mu.Lock()
	c.busy--
	c.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, answer)
}

// TestBoundAndRateOfModelCalls checks that the limits of concurrent calls and of the rate, from flags or the environment,
// apply to a server that is not the mock, across two services.
func TestBoundAndRateOfModelCalls(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  string
		args []string
		most int
		took time.Duration // from the first call to the last, at least
	}{
		{"flag", "", []string{"--max-llm-calls", "3", "--llm-rate", "1000"}, 3, 0},
		{"environment", "2", []string{"--llm-rate", "1000"}, 2, 0},
		{"flag over environment", "2", []string{"--max-llm-calls", "5", "--llm-rate", "1000"}, 5, 0},
		{"rate", "", []string{"--llm-rate", "8", "--set", "agents=4"}, 16, 400 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.env != "" {
				t.Setenv("MAX_CONCURRENT_LLM_CALLS", tt.env)
			}
			c := &counter{}
			server := httptest.NewServer(c)
			defer server.Close()
			data := t.TempDir()
			args := chat(data, append(tt.args, "--cycles", "1", "--export", filepath.Join(data, "out"), "--service", "model="+server.URL+"/v1", "--service", "other="+server.URL+"/v1#any")...)
			code, out, stderr := ctl(t, args...)
			if code != exitDone {
				t.Fatalf("exit code %d\n%s%s", code, out, stderr)
			}
			if c.most > tt.most || tt.took == 0 && c.most < tt.most {
				t.Errorf("%d concurrent calls, want %d", c.most, tt.most)
			}
			if took := c.at[len(c.at)-1].Sub(c.at[0]); took < tt.took {
				t.Errorf("%d calls in %v, want at least %v", len(c.at), took, tt.took)
			}
			for _, row := range timings(t, data) { // it is on this machine
				if row["model_calls"] == "0" || row["cost_usd"] != "0" {
					t.Errorf("%s calls cost %q", row["model_calls"], row["cost_usd"])
				}
			}
		})
	}
}
