package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/batches"
	"github.com/throng-sim/throng/engine/mock/batchmock"
)

// notebook is a journal in memory, which outlives a queue as the store of a run does.
type notebook struct {
	mu   sync.Mutex
	kept map[engine.SharedKey][]byte
	dead func() error // called before and after something is kept; an error is that of the process
}

func (n *notebook) RunID() engine.RunID { return "run-1" }

func (n *notebook) Recall(key engine.SharedKey) ([]byte, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	data, ok := n.kept[key]
	return data, ok
}

func (n *notebook) Keep(key engine.SharedKey, data []byte) error {
	if err := n.dead(); err != nil {
		return err
	}
	n.mu.Lock()
	n.kept[key] = data
	n.mu.Unlock()
	return n.dead()
}

// provider is the batch API, reached without a network.
type provider struct {
	*batchmock.Server
	answer func(r *http.Request) *http.Response // takes precedence if it returns a response
	dead   func() error                         // as that of notebook
	loses  func(r *http.Request) bool           // the answer, after the request was carried out
}

func newProvider(cfg batchmock.Config) *provider {
	p := &provider{dead: func() error { return nil }}
	p.Server = batchmock.New(cfg, time.Now, func(_ string, body []byte) batchmock.Reply {
		var asked struct{ Text string }
		if json.Unmarshal(body, &asked) != nil {
			return batchmock.Reply{Status: http.StatusBadRequest, Body: []byte(`{}`)}
		}
		return batchmock.Reply{Status: http.StatusOK, Body: []byte(`{"to":"` + asked.Text + `"}`), Prompt: 2, Completion: 1}
	})
	return p
}

// RoundTrip implements [http.RoundTripper].
func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := p.dead(); err != nil {
		return nil, err
	}
	if p.answer != nil {
		if a := p.answer(r); a != nil {
			return a, nil
		}
	}
	body, no := p.Do(r, strings.TrimPrefix(r.URL.Path, "/v1/"))
	if err := p.dead(); err != nil {
		return nil, err
	}
	if p.loses != nil && p.loses(r) {
		return nil, io.ErrUnexpectedEOF
	}
	if no != nil {
		return respond(no.Status, no.Message), nil
	}
	return respond(http.StatusOK, string(body)), nil
}

func respond(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

func newNotebook() *notebook {
	return &notebook{kept: map[engine.SharedKey][]byte{}, dead: func() error { return nil }}
}

func queueOf(p *provider, cfg Config) *Queue {
	return NewQueue(Service{
		Name: "model", Transport: p, Address: func(path string) *url.URL { return &url.URL{Scheme: "http", Host: "model", Path: "/v1" + path} },
	}, cfg)
}

func callOf(i, try int) *Call {
	return &Call{
		ID: fmt.Sprintf("0-%d-%d", i, try), Endpoint: "/v1/chat/completions", Model: "m", Header: http.Header{"Authorization": {"Bearer key"}},
		Body: fmt.Appendf(nil, `{"model":"m","text":"%d"}`, i),
	}
}

// got is what a call came back with.
type got struct {
	answer *Answer
	err    error
}

// askAll sends n calls and waits for all of them.
func askAll(ctx context.Context, q *Queue, j Journal, n int) []got {
	all := make([]got, n)
	var wait sync.WaitGroup
	for i := range n {
		ticket := q.Enter(j, callOf(i, 0))
		wait.Go(func() { all[i].answer, all[i].err = ticket.Wait(ctx) })
	}
	wait.Wait()
	return all
}

// whole checks that a call has its own answer.
func (g got) whole(t *testing.T, i int) {
	t.Helper()
	if want := fmt.Sprintf(`{"to":"%d"}`, i); g.err != nil || g.answer.Status != http.StatusOK || string(g.answer.Body) != want {
		t.Errorf("call %d: %+v, want %s", i, g, want)
	}
}

func TestAnswersReachTheirCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, j := newProvider(batchmock.Config{Delay: time.Hour, Doubled: 0.3, Shuffled: true}), newNotebook()
		q := queueOf(p, Config{Size: 40})
		defer q.Close()
		for i, g := range askAll(t.Context(), q, j, 100) {
			g.whole(t, i)
		}
		if s := p.Stats(); s.Batches != 3 || s.Requests != 100 || s.Most != 40 {
			t.Errorf("%+v; want 100 requests in batches of 40, 40 and 20", s)
		}
		if s := q.State(); s != (batches.State{}) {
			t.Errorf("afterward %+v is out", s)
		}
	})
}

func TestBytesBoundABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, one := newProvider(batchmock.Config{}), lineBytes(callOf(0, 0))
		q := queueOf(p, Config{Bytes: 3 * one})
		defer q.Close()
		for i, g := range askAll(t.Context(), q, newNotebook(), 9) {
			g.whole(t, i)
		}
		if s := p.Stats(); s.Most != 3 || s.Batches != 3 {
			t.Errorf("%+v; want batches of 3", s)
		}
	})
}

// TestCallsThatCannotShareABatch checks that models and endpoints have batches of their own.
func TestCallsThatCannotShareABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, j := newProvider(batchmock.Config{}), newNotebook()
		q := queueOf(p, Config{})
		defer q.Close()
		one, other, embeds := callOf(1, 0), callOf(2, 0), callOf(3, 0)
		other.Model, other.Body = "n", bytes.ReplaceAll(other.Body, []byte(`"m"`), []byte(`"n"`))
		embeds.Endpoint = "/v1/embeddings"
		var wait sync.WaitGroup
		for i, c := range []*Call{one, other, embeds} {
			ticket := q.Enter(j, c)
			wait.Go(func() {
				answer, err := ticket.Wait(t.Context())
				got{answer, err}.whole(t, i+1)
			})
		}
		wait.Wait()
		if s := p.Stats(); s.Batches != 3 {
			t.Errorf("%d batches, want 3", s.Batches)
		}
	})
}

func TestWhenABatchIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, j := newProvider(batchmock.Config{}), newNotebook()
		q := queueOf(p, Config{Wait: 5 * time.Minute})
		defer q.Close()
		var idle atomic.Bool
		c := callOf(0, 0)
		c.Idle = idle.Load
		began := time.Now()
		ticket := q.Enter(j, c)
		time.Sleep(time.Minute)
		if s := q.State(); s.Gathering != 1 || s.Open != 0 {
			t.Errorf("while others may join it: %+v", s)
		}
		idle.Store(true)
		answer, err := ticket.Wait(t.Context())
		got{answer, err}.whole(t, 0)
		if took := time.Since(began); took > time.Minute+5*time.Second {
			t.Errorf("with nothing else to wait for it took %v", took)
		}
		idle.Store(false)
		began = time.Now()
		c = callOf(1, 0)
		c.Idle = idle.Load
		answer, err = q.Enter(j, c).Wait(t.Context())
		got{answer, err}.whole(t, 1)
		if took := time.Since(began); took < 5*time.Minute || took > 5*time.Minute+5*time.Second {
			t.Errorf("with sessions that are busy it took %v, want about 5m", took)
		}
	})
}

// TestPartialAnswers checks that each call learns what became of it.
func TestPartialAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(batchmock.Config{Delay: time.Hour, Expired: 0.2, Failed: 0.2, Missing: 0.2, Doubled: 0.2, Shuffled: true})
		q := queueOf(p, Config{})
		defer q.Close()
		count := map[string]int{}
		for i, g := range askAll(t.Context(), q, newNotebook(), 200) {
			switch {
			case errors.Is(g.err, ErrExpired): // a batch that expires says so of each request it has not reached
				count["expired"]++
			case errors.Is(g.err, ErrMissing):
				count["missing"]++
			case g.err == nil && g.answer.Status == http.StatusInternalServerError:
				count["failed"]++
			default:
				g.whole(t, i)
				count["whole"]++
			}
		}
		// A batch that expired has also not reached what it left out.
		if count["expired"] < 40 || count["failed"] < 15 || count["whole"] < 60 || count["missing"] != 0 {
			t.Errorf("%v", count)
		}
	})
}

// TestMissingAnswers checks that a call that a completed batch left out may have been billed.
func TestMissingAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(batchmock.Config{Missing: 0.5})
		q := queueOf(p, Config{})
		defer q.Close()
		missing := 0
		for i, g := range askAll(t.Context(), q, newNotebook(), 40) {
			if errors.Is(g.err, ErrMissing) {
				missing++
			} else {
				g.whole(t, i)
			}
		}
		if missing < 10 || missing > 30 {
			t.Errorf("%d of 40 are missing, want about half", missing)
		}
	})
}

func TestCanceledAtTheProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(batchmock.Config{Delay: time.Hour})
		q := queueOf(p, Config{Wait: time.Second})
		defer q.Close()
		ticket := q.Enter(newNotebook(), callOf(0, 0))
		time.Sleep(10 * time.Minute)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://model/v1/batches/batch_00000001/cancel", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, no := p.Do(r, "batches/batch_00000001/cancel"); no != nil {
			t.Fatal(no.Message)
		}
		if _, err := ticket.Wait(t.Context()); !errors.Is(err, ErrExpired) {
			t.Errorf("a canceled batch: %v, want ErrExpired", err)
		}
	})
}

func TestTroubleIsWaitedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(batchmock.Config{Full: 2})
		trouble := rand.New(rand.NewPCG(1, 27))
		p.answer = func(*http.Request) *http.Response {
			if trouble.IntN(3) == 0 {
				return respond(http.StatusServiceUnavailable, "try again")
			}
			return nil
		}
		q := queueOf(p, Config{})
		defer q.Close()
		for i, g := range askAll(t.Context(), q, newNotebook(), 5) {
			g.whole(t, i)
		}
		if s := p.Stats(); s.Batches != 3 || s.Requests != 5 {
			t.Errorf("%+v; want 2 batches that the provider had no room for, and one", s)
		}
	})
}

// TestRejectedBatches checks that calls fail if the provider has no batch API, or refuses their file.
func TestRejectedBatches(t *testing.T) {
	for name, answer := range map[string]func(*http.Request) *http.Response{
		"no batch API": func(*http.Request) *http.Response { return respond(http.StatusNotFound, "no such page") },
		"refused": func(r *http.Request) *http.Response {
			if r.Method == http.MethodGet {
				return respond(http.StatusOK, `{"id":"b","status":"failed","errors":{"data":[{"code":"invalid_model","message":"no such page"}]}}`)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProvider(batchmock.Config{})
				p.answer = answer
				q := queueOf(p, Config{})
				defer q.Close()
				for _, g := range askAll(t.Context(), q, newNotebook(), 2) {
					if rejected, ok := errors.AsType[*Rejected](g.err); !ok || !strings.Contains(rejected.Message, "no such page") {
						t.Errorf("%v, want a rejection", g.err)
					}
				}
				if s := p.Stats(); s.Requests != 0 {
					t.Errorf("%d requests were carried out", s.Requests)
				}
			})
		})
	}
}

// TestABatchThatIsForgotten checks that a batch which the provider does not know anymore has no answers.
func TestABatchThatIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(batchmock.Config{Delay: time.Hour})
		p.answer = func(r *http.Request) *http.Response {
			if r.Method == http.MethodGet {
				return respond(http.StatusNotFound, "no such batch")
			}
			return nil
		}
		q := queueOf(p, Config{})
		defer q.Close()
		for _, g := range askAll(t.Context(), q, newNotebook(), 2) {
			if !errors.Is(g.err, ErrMissing) {
				t.Errorf("%v, want ErrMissing", g.err)
			}
		}
	})
}

// TestALostCreation loses the answer to the creation of a batch: it is found in the list, behind the batches of others.
func TestALostCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(batchmock.Config{})
		lost := 0
		p.loses = func(r *http.Request) bool {
			if r.Method == http.MethodPost && r.URL.Path == "/v1/batches" && lost < 2 {
				lost++
				return true
			}
			return false
		}
		other := queueOf(p, Config{Size: 1})
		defer other.Close()
		q := queueOf(p, Config{})
		defer q.Close()
		for i, g := range askAll(t.Context(), q, newNotebook(), 5) {
			g.whole(t, i)
		}
		if s := p.Stats(); lost != 1 || s.Batches != 1 || s.Requests != 5 {
			t.Errorf("%d lost answers, %+v; want one batch", lost, s)
		}
	})
}

var errDead = errors.New("killed")

// TestKilledAtEveryMoment kills the process before and after each request and each write, and continues with what the journal has. Each
// call is answered by the provider once, however often that happens.
func TestKilledAtEveryMoment(t *testing.T) {
	const calls = 5
	for at := 1; ; at++ {
		var killed atomic.Bool
		synctest.Test(t, func(t *testing.T) {
			p, j := newProvider(batchmock.Config{Delay: 10 * time.Minute, Shuffled: true}), newNotebook()
			var moments atomic.Int64
			p.dead = func() error {
				if moments.Add(1) >= int64(at) {
					killed.Store(true)
					return errDead
				}
				return nil
			}
			j.dead = p.dead
			ctx, kill := context.WithCancel(t.Context())
			q := queueOf(p, Config{Size: 3})
			go func() {
				for range time.Tick(time.Second) {
					if ctx.Err() != nil || killed.Load() {
						kill()
						return
					}
				}
			}()
			first := askAll(ctx, q, j, calls)
			kill()
			q.Close()
			alive := func() error { return nil }
			p.dead, j.dead = alive, alive
			again := queueOf(p, Config{Size: 3})
			defer again.Close()
			for i, g := range askAll(t.Context(), again, j, calls) {
				if first[i].err == nil { // its answer may be in the journal already
					first[i].whole(t, i)
				}
				g.whole(t, i)
			}
			if s := p.Stats(); s.Requests != calls {
				t.Errorf("killed at moment %d: the provider answered %d of %d calls", at, s.Requests, calls)
			}
			time.Sleep(time.Second)
		})
		if t.Failed() || !killed.Load() {
			if at < 10 {
				t.Errorf("there were only %d moments", at)
			}
			return
		}
	}
}

// TestLeaving checks that a call that is canceled before its batch is sent is not in it.
func TestLeaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, j := newProvider(batchmock.Config{}), newNotebook()
		q := queueOf(p, Config{})
		defer q.Close()
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		leaves, stays := q.Enter(j, callOf(0, 0)), q.Enter(j, callOf(1, 0))
		cancel(gone)
		if _, err := leaves.Wait(ctx); !errors.Is(err, gone) || leaves.Sent() {
			t.Errorf("a canceled call: %v, sent: %v", err, leaves.Sent())
		}
		answer, err := stays.Wait(t.Context())
		got{answer, err}.whole(t, 1)
		if s := p.Stats(); s.Requests != 1 {
			t.Errorf("%d requests, want 1", s.Requests)
		}
	})
}
