package service

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/mock/batchmock"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/service/batch"
	"github.com/throng-sim/throng/engine/service/openai"
	"github.com/throng-sim/throng/engine/service/pricing"
)

// batchProvider is a batch API, reached without a network.
type batchProvider struct{ *batchmock.Server }

// RoundTrip implements [http.RoundTripper].
func (p batchProvider) RoundTrip(r *http.Request) (*http.Response, error) {
	body, no := p.Do(r, strings.TrimPrefix(r.URL.Path, "/v1/"))
	status := http.StatusOK
	if no != nil {
		status, body = no.Status, []byte(no.Message)
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(body)))}, nil
}

var batchedPrices = pricing.Prices{"gpt-4o-mini": {Input: 1e-6, Output: 2e-6, BatchInput: 5e-7, BatchOutput: 1e-6}}

// batching returns a client whose calls go to a batch API, where replies answer them in order, the last one any number of times.
func batching(t *testing.T, cfg batchmock.Config, replies ...batchmock.Reply) (*LLM, *batchmock.Server) {
	t.Helper()
	l := models(t, &script{}, LLMConfig{Limits: Limits{Timeout: 10 * time.Second}, Prices: batchedPrices})
	p := batchmock.New(cfg, time.Now, func(string, []byte) batchmock.Reply {
		r := replies[0]
		replies = replies[min(1, len(replies)-1):]
		return r
	})
	l.batches = batch.NewQueue(batch.Service{
		Name: "model", Transport: batchProvider{p}, Address: func(path string) *url.URL { return l.address(Target{path: path}) },
	}, batch.Config{})
	t.Cleanup(l.Close)
	return l, p
}

func inBatch(status int, body string) batchmock.Reply {
	return batchmock.Reply{Status: status, Body: []byte(body), Prompt: 12, Completion: 3}
}

// TestCallsInBatches checks what becomes of a call: its class, attempts, statuses, usage and times.
func TestCallsInBatches(t *testing.T) {
	hello200 := inBatch(http.StatusOK, wrote("Hello.").body)
	one := engine.Usage{Calls: 1, Input: 12, Output: 3, Cost: 9000, Batched: 1}
	lost := engine.Usage{Calls: 5, Input: 5 * 36, Output: 5 * 1024, Cost: 5 * 1_042_000, Estimated: 5}
	for _, tt := range []struct {
		name     string
		cfg      batchmock.Config
		replies  []batchmock.Reply
		class    engine.Class
		attempts int
		statuses []int
		usage    *engine.Usage
		batches  int64
		says     string
	}{
		{name: "answered", cfg: batchmock.Config{Delay: 2 * time.Hour}, replies: []batchmock.Reply{hello200}, attempts: 1, statuses: []int{200}, usage: &one, batches: 1, says: "Hello."},
		{name: "no room at first", cfg: batchmock.Config{Full: 3}, replies: []batchmock.Reply{hello200}, attempts: 1, statuses: []int{200}, usage: &one, batches: 4, says: "Hello."},
		{
			name: "429 and 500", replies: []batchmock.Reply{inBatch(429, `{}`), inBatch(429, `{}`), inBatch(500, `{}`), hello200}, attempts: 2,
			statuses: []int{429, 429, 500, 200}, usage: &one, batches: 4, says: "Hello.",
		},
		{
			name: "a field is refused", replies: []batchmock.Reply{inBatch(400, `{"error":{"message":"Unknown parameter: 'seed'.","param":"seed","code":"unknown_parameter"}}`), hello200},
			attempts: 1, statuses: []int{400, 200}, usage: &one, batches: 2, says: "Hello.",
		},
		{
			name: "fails", cfg: batchmock.Config{Failed: 1}, replies: []batchmock.Reply{hello200}, class: engine.ServerError, attempts: 5,
			statuses: []int{500, 500, 500, 500, 500}, batches: 5, says: "status 500",
		},
		{name: "has no answer", cfg: batchmock.Config{Missing: 1}, replies: []batchmock.Reply{hello200}, class: engine.Network, attempts: 5, usage: &lost, batches: 5, says: "without an answer"},
		{name: "expires", cfg: batchmock.Config{Expired: 1}, replies: []batchmock.Reply{hello200}, class: engine.Timeout, batches: mostExpired, says: "3 batches ended"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, p := batching(t, tt.cfg, tt.replies...)
				c := hello()
				c.Stream = true
				row, got := stage{}.chat(t, l, c, nil)
				rec, text := row.Steps[0], row.Error
				if got != nil {
					text = got.Text
				}
				if row.Class != tt.class || rec.Attempts != tt.attempts || !slices.Equal(rec.Statuses, tt.statuses) || !strings.Contains(text, tt.says) {
					t.Errorf("class %q, %d attempts, %v, %q; want %q, %d, %v, %q", row.Class, rec.Attempts, rec.Statuses, text, tt.class, tt.attempts, tt.statuses, tt.says)
				}
				if tt.usage == nil && rec.Usage != nil && rec.Usage.Cost > 0 || tt.usage != nil && (rec.Usage == nil || *rec.Usage != *tt.usage) {
					t.Errorf("usage %+v, want %+v", rec.Usage, tt.usage)
				}
				if rec.Service > time.Second || rec.Waits == nil || rec.Waits[engine.ThrottledByBatch] < tt.cfg.Delay {
					t.Errorf("the model took %v; the call waited %v for a batch that takes %v", rec.Service, rec.Throttled, tt.cfg.Delay)
				}
				if n := p.Stats().Batches; n != tt.batches {
					t.Errorf("%d batches, want %d", n, tt.batches)
				}
			})
		})
	}
}

// TestEmbeddingsInBatches checks that embed steps have batches, too.
func TestEmbeddingsInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := batching(t, batchmock.Config{}, inBatch(http.StatusOK, `{"data":[{"index":0,"embedding":[0.5]}],"usage":{"prompt_tokens":7,"total_tokens":7}}`))
		row := stage{}.play(t, func(s *engine.Session) {
			call := callOf(s, "step")
			_, err := l.Embed(call, openai.Embedding{Header: http.Header{}, Model: "vectors", Texts: []string{"A harbor."}})
			end(s, call, err)
		})
		if u := row.Steps[0].Usage; row.Outcome != engine.OK || u == nil || u.Batched != 1 || p.Stats().Batches != 1 {
			t.Errorf("%v %q, %+v", row.Outcome, row.Error, u)
		}
	})
}

// TestACutWhileABatchIsOut ends the process while a batch is out. The resumed session gets its answer, and nothing is paid for again.
func TestACutWhileABatchIsOut(t *testing.T) {
	for _, stops := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l, p := batching(t, batchmock.Config{Delay: time.Hour}, inBatch(http.StatusOK, wrote("Hello.").body))
			st := stage{journal: &enginetest.Journal{}}
			ctx, cut := context.WithCancel(t.Context())
			defer cut()
			settings := engine.DefaultSettings()
			r, err := run.Start(ctx, run.Config{
				ID: "run", Agents: 1, Settings: settings, Journal: st.journal, Clock: engine.Clock{Cycle: time.Hour},
				Program: program(func(s *engine.Session) {
					call := callOf(s, "step")
					_, err := l.Chat(call, hello())
					end(s, call, err)
				}),
			})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Minute)
			if s := l.State(time.Now()).Batches; s == nil || s.Open != 1 || s.Calls != 1 || time.Until(s.Due) < 23*time.Hour {
				t.Errorf("while the batch is out: %+v", s)
			}
			if began := time.Now(); stops {
				if err := r.Stop("test", "a person stops the run"); err != nil {
					t.Error(err)
				}
				if r.Wait(); time.Since(began) > time.Minute {
					t.Errorf("a stop waited %v for the batch", time.Since(began))
				}
			} else {
				cut()
				r.Wait()
			}
			if rows := st.journal.Sessions(); len(rows) != 0 {
				t.Fatalf("the session ended: %+v", rows)
			}
			again, _ := batching(t, batchmock.Config{}, inBatch(http.StatusInternalServerError, `{}`))
			again.batches = batch.NewQueue(batch.Service{
				Name: "model", Transport: batchProvider{p}, Address: func(path string) *url.URL { return l.address(Target{path: path}) },
			}, batch.Config{})
			st.resume = st.journal.Resumption()
			if spent := st.resume.Spent(); spent.Requests != 0 {
				t.Errorf("before the answer %+v counts as spent", spent)
			}
			row, got := st.chat(t, again, hello(), nil)
			again.Close()
			if rec := row.Steps[0]; got == nil || got.Text != "Hello." || rec.Usage.Again != 0 || rec.Usage.Batched != 1 || rec.Label != engine.Fresh || rec.Attempts != 1 {
				t.Errorf("%v %q, %+v", row.Outcome, row.Error, rec)
			}
			if s := p.Stats(); s.Batches != 1 || s.Requests != 1 {
				t.Errorf("the provider answered %+v, want 1 request", s)
			}
		})
	}
}
