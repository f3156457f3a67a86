package service

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/pace"
	"github.com/throng-sim/throng/engine/service/anthropic"
)

// desk is a fake service with many callers: it takes a while for each request, and counts.
type desk struct {
	takes  time.Duration
	refuse func(n int) string // Retry-After of the nth request from 0; "" if it is answered

	mu         sync.Mutex
	times      []time.Time
	busy, most int
	total      *desk // sum of several; nil if there is none
}

func (d *desk) enter() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.times = append(d.times, time.Now())
	d.busy++
	d.most = max(d.most, d.busy)
	return len(d.times) - 1
}

func (d *desk) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy--
}

func (d *desk) RoundTrip(r *http.Request) (*http.Response, error) {
	n := d.enter()
	defer d.leave()
	if d.total != nil {
		d.total.enter()
		defer d.total.leave()
	}
	answer := wrote("x")
	if d.refuse != nil {
		if after := d.refuse(n); after != "" {
			answer = reply{status: 429, header: map[string]string{"Retry-After": after}}
		}
	}
	select {
	case <-time.After(d.takes):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	h := http.Header{}
	for name, value := range answer.header {
		h.Set(name, value)
	}
	return &http.Response{StatusCode: max(answer.status, 200), Header: h, Body: io.NopCloser(strings.NewReader(answer.body)), ContentLength: int64(len(answer.body)), Request: r}, nil
}

// since returns the times of the requests since begin.
func (d *desk) since(begin time.Time) []time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []time.Duration
	for _, at := range d.times {
		all = append(all, at.Sub(begin))
	}
	return all
}

// callers makes n concurrent calls to each of the clients in a session, and returns the results.
func callers(t *testing.T, n int, clients ...*LLM) *engine.SessionRow {
	t.Helper()
	return stage{change: func(s *engine.Settings) { s.SessionTimeout = time.Hour }}.play(t, func(s *engine.Session) {
		clock := s.Clock()
		var group sync.WaitGroup
		var mu sync.Mutex
		var failed error
		for i := range n {
			for j, l := range clients {
				group.Go(func() {
					call := &Call{Session: s, Clock: clock.Branch(), Path: fmt.Sprintf("step%d_%d", i, j), Retry: s.Settings().Retry}
					defer call.Clock.Stop()
					_, err := l.Chat(call, hello())
					mu.Lock()
					defer mu.Unlock()
					if s.Row.Steps = append(s.Row.Steps, call.Record); err != nil {
						failed = err
					}
				})
			}
		}
		group.Wait()
		if s.Row.Outcome = engine.OK; failed != nil {
			s.Row.Fail("step", failed)
		}
	})
}

// held returns how long a session was throttled, by reason.
func held(row *engine.SessionRow) (w engine.Waits) {
	for i := range row.Steps {
		w.Add(row.Steps[i].Waits)
	}
	return w
}

// TestRateOfManyCallers checks that no second has more starts than the rate, initially and after growth.
func TestRateOfManyCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{takes: 100 * time.Millisecond}
		l := models(t, d, LLMConfig{Limits: Limits{Rate: 10, MaxRate: 20, Connections: 500}})
		begin := time.Now()
		row := callers(t, 200, l)
		perSecond := map[int]int{}
		for _, at := range d.since(begin) {
			perSecond[int(at/time.Second)]++
		}
		for second, n := range perSecond {
			if n > 21 || second == 0 && n > 11 {
				t.Errorf("%d starts in second %d", n, second)
			}
		}
		if row.Outcome != engine.OK || row.Total > 21*time.Second || row.Total < 9*time.Second {
			t.Errorf("%v after %v: %s", row.Outcome, row.Total, row.Error)
		}
		if w := held(row); w[engine.ThrottledByRate] < time.Minute || w[engine.ThrottledBySlots]+w[engine.ThrottledByModels]+w[engine.ThrottledByRefusal]+w[engine.ThrottledByRetry] != 0 {
			t.Errorf("throttled by %v", w)
		}
		for _, s := range row.Steps {
			if s.Attempts != 1 || s.Service != 100*time.Millisecond {
				t.Fatalf("%+v", s)
			}
		}
	})
}

// TestBoundOverServices checks the concurrency limits of one service and of all together.
func TestBoundOverServices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, bound := &desk{}, NewBound(3)
		a, b := &desk{takes: time.Second, total: all}, &desk{takes: time.Second, total: all}
		row := callers(t, 12, models(t, a, LLMConfig{Shared: bound, Limits: Limits{Connections: 2}}), models(t, b, LLMConfig{Shared: bound}))
		if all.most != 3 || a.most > 2 || b.most > 3 || len(all.times) != 24 || row.Outcome != engine.OK {
			t.Errorf("%d concurrent calls, %d of the first and %d of the second, %d calls: %s", all.most, a.most, b.most, len(all.times), row.Error)
		}
		if w := held(row); w[engine.ThrottledBySlots] < 10*time.Second || w[engine.ThrottledByModels] < 10*time.Second || w[engine.ThrottledByRate] != 0 {
			t.Errorf("throttled by %v", w)
		}
		if row.Total < 8*time.Second || row.Total > 12*time.Second {
			t.Errorf("took %v: 24 calls of a second, three at a time, take 8 s and a little more", row.Total)
		}
		if _, held, waiting := bound.limit.State(); held != 0 || waiting != 0 {
			t.Errorf("%d places held, %d wait", held, waiting)
		}
	})
}

// TestRefusalBlocksItsService checks that a 429 blocks all calls of its service until the given time, but no calls of
// other services, and that waiting calls hold no shared slot.
func TestRefusalBlocksItsService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bound := NewBound(2)
		a := &desk{takes: 10 * time.Millisecond, refuse: func(n int) string {
			if n == 3 {
				return "60"
			}
			return ""
		}}
		b := &desk{takes: 10 * time.Millisecond}
		limits := Limits{Rate: 10}
		begin := time.Now()
		row := callers(t, 10, models(t, a, LLMConfig{Shared: bound, Limits: limits}), models(t, b, LLMConfig{Shared: bound, Limits: limits}))
		times := a.since(begin)
		refused := times[3] + 10*time.Millisecond
		for _, at := range times[4:] {
			if at < refused+time.Minute && at > refused {
				t.Errorf("asked at %v, refused at %v for a minute", at, refused)
			}
		}
		if got := b.since(begin); got[len(got)-1] > 2*time.Second {
			t.Errorf("the other service was called at %v", got)
		}
		if len(times) != 11 || row.Outcome != engine.OK {
			t.Errorf("%d requests: %s", len(times), row.Error)
		}
		for _, s := range row.Steps {
			if s.Attempts != 1 {
				t.Errorf("a refusal was an attempt: %+v", s)
			}
		}
	})
}

// TestARefusalWhileWaitingForASlot checks that a call that waits for the shared limit while its service refuses another
// one is not sent as soon as a slot is free.
func TestARefusalWhileWaitingForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &desk{takes: 5 * time.Second, refuse: func(n int) string {
			if n == 0 {
				return "100"
			}
			return ""
		}}
		l := models(t, a, LLMConfig{Shared: NewBound(1), Limits: Limits{Rate: 10}})
		begin := time.Now()
		row := callers(t, 3, l)
		if times := a.since(begin); len(times) != 4 || slices.Min(times[1:]) < 105*time.Second || row.Outcome != engine.OK {
			t.Errorf("asked at %v: %s", times, row.Error)
		}
	})
}

// TestRefusedWithoutATime checks that without a rate, the wait of a repeatedly refused call doubles up to a minute, and
// that with a rate it is a minute.
func TestRefusedWithoutATime(t *testing.T) {
	for rate, first := range map[float64]time.Duration{0: unnamedWait, 10: time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			refusals := make([]reply, 12, 13)
			for i := range refusals {
				refusals[i].status = 429
			}
			fake := &script{answers: append(refusals, wrote("x"))}
			row, got := stage{}.chat(t, models(t, fake, LLMConfig{Limits: Limits{Rate: rate}}), hello(), nil)
			waits := fake.waits()
			if got == nil || waits[0] > first || waits[0] < first/2 || waits[11] < maxWait/2 || slices.Max(waits) > maxWait || row.Steps[0].Attempts != 1 {
				t.Errorf("waits %v: %s", waits, row.Error)
			}
		})
	}
}

// TestRefusedByHeaders waits until the used-up budget is restored, whatever the other one is.
func TestRefusedByHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		no := reply{status: 429, header: map[string]string{
			"X-Ratelimit-Remaining-Requests": "12", "X-Ratelimit-Reset-Requests": "100s",
			"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "7.5s",
		}}
		fake := &script{answers: []reply{no, wrote("x")}}
		row, got := stage{}.chat(t, models(t, fake, LLMConfig{Limits: Limits{Rate: 10}}), hello(), nil)
		if wait := fake.waits()[0]; got == nil || wait != 7500*time.Millisecond {
			t.Errorf("waited %v: %s", wait, row.Error)
		}
	})
}

// TestRefusedByAnthropicHeaders waits until the time at which the used-up budget is restored.
func TestRefusedByAnthropicHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		no := reply{status: 429, header: map[string]string{
			"Anthropic-Ratelimit-Requests-Remaining": "12", "Anthropic-Ratelimit-Requests-Reset": "2000-01-01T00:01:40Z",
			"Anthropic-Ratelimit-Tokens-Remaining": "0", "Anthropic-Ratelimit-Tokens-Reset": "2000-01-01T00:00:08Z",
		}, body: `{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}`}
		fake := &script{answers: []reply{no, ok200(`{"type":"message","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn","usage":{"input_tokens":12,"output_tokens":3}}`)}}
		row, got := stage{}.chat(t, models(t, fake, LLMConfig{API: anthropic.API{}, Limits: Limits{Rate: 10}}), hello(), nil)
		if wait := fake.waits()[0]; got == nil || wait > 8*time.Second || wait < 7*time.Second {
			t.Errorf("waited %v: %s", wait, row.Error)
		}
	})
}

// TestAServiceWithoutARateIsLeftAlone checks that a refusal is one episode for all calls. No call is sent before its
// time, and then the calls are spread.
func TestAServiceWithoutARateIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{takes: 100 * time.Millisecond, refuse: func(n int) string {
			if n == 0 {
				return "20"
			}
			return ""
		}}
		l := models(t, d, LLMConfig{Limits: Limits{Connections: 5}})
		begin := time.Now()
		row := callers(t, 50, l)
		times := d.since(begin)
		late := 0
		for _, at := range times {
			if at > 100*time.Millisecond && at < 20100*time.Millisecond {
				t.Errorf("asked at %v", at)
			}
			if at >= 20100*time.Millisecond {
				late++
			}
		}
		if row.Outcome != engine.OK || len(times) != 51 || late < 41 || slices.Max(times) > 27*time.Second {
			t.Errorf("%d requests, the last at %v: %s", len(times), slices.Max(times), row.Error)
		}
		if w := held(row); w[engine.ThrottledByRefusal] < 20*time.Second || w[engine.ThrottledByRate] != 0 {
			t.Errorf("throttled by %v", w)
		}
	})
}

// TestWaitingCallsSeeANewRate checks that 60 calls that would wait 6 s have started after 3 s when the rate is doubled.
func TestWaitingCallsSeeANewRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		l := models(t, d, LLMConfig{Limits: Limits{Rate: 10, Pace: pace.Fixed, Connections: 100}})
		begin := time.Now()
		time.AfterFunc(time.Second, func() { l.Control().SetRates(time.Now(), pace.Limits{Mode: pace.Fixed, Start: 50}, false) })
		row := callers(t, 60, l)
		if row.Outcome != engine.OK || row.Total < 1900*time.Millisecond || row.Total > 2100*time.Millisecond {
			t.Errorf("60 calls took %v, want a second of 10 and one of 50: %v %s", row.Total, d.since(begin), row.Error)
		}
	})
}

// TestACallThatIsCutWhileItWaits checks that a call that is cut while it waits leaves its turn to the next.
func TestACallThatIsCutWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		l := models(t, d, LLMConfig{Limits: Limits{Rate: 1, Pace: pace.Fixed}})
		begin := time.Now()
		stage{}.play(t, func(s *engine.Session) {
			var group sync.WaitGroup
			for i := range 4 {
				call := &Call{Session: s, Clock: s.Clock().Branch(), Path: fmt.Sprint("step", i), Retry: s.Settings().Retry}
				if i == 1 || i == 2 {
					time.AfterFunc(500*time.Millisecond, func() { call.Clock.Cancel(engine.ErrCut) })
				}
				group.Go(func() {
					defer call.Clock.Stop()
					_, _ = l.Chat(call, hello())
				})
				synctest.Wait() // so that they are queued in order
			}
			group.Wait()
			s.Row.Outcome = engine.OK
		})
		if got, want := d.since(begin), []time.Duration{0, time.Second}; !slices.Equal(got, want) {
			t.Errorf("asked at %v, want %v", got, want)
		}
		if state := l.State(time.Now()); state.InFlight+state.Waiting != 0 {
			t.Errorf("%d in flight, %d waiting", state.InFlight, state.Waiting)
		}
	})
}

// TestWhatALimiterObserves checks that failures of the service stop growth, and that the remaining quota is spread.
func TestWhatALimiterObserves(t *testing.T) {
	rate := func(answers ...reply) float64 {
		var got float64
		synctest.Test(t, func(t *testing.T) {
			l := models(t, &script{answers: answers}, LLMConfig{Limits: Limits{Rate: 10, MaxRate: 50, Connections: 500, Timeout: 100 * time.Millisecond}})
			callers(t, 25, l)
			got = l.State(time.Now()).Rate
		})
		return got
	}
	if got := rate(wrote("x")); got != 20 {
		t.Errorf("a rate of %v, want 20", got)
	}
	for name, r := range map[string]reply{"500": {status: 500}, "reset": {err: errReset}, "hangs": {hangs: true}} {
		if got := rate(r); got != 10 {
			t.Errorf("%s: a rate of %v, want 10", name, got)
		}
	}
	left := wrote("x")
	left.header = map[string]string{"X-Ratelimit-Limit-Requests": "100", "X-Ratelimit-Remaining-Requests": "10", "X-Ratelimit-Reset-Requests": "5s"}
	if got := rate(left); got != 2 {
		t.Errorf("a rate of %v with 10 requests for 5s, want 2", got)
	}
}
