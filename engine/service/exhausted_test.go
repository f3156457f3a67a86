package service

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
)

// TestAServiceThatIsExhausted checks that calls are throttled until the quota is restored, and that the message of the
// service is shown.
func TestAServiceThatIsExhausted(t *testing.T) {
	for name, tt := range map[string]struct {
		answer      reply
		says        string
		least, most time.Duration
		endless     bool
	}{
		"an hour":      {reply{status: 429, header: map[string]string{"Retry-After": "3600"}}, "it asks to wait for 1 h", time.Hour, time.Hour, false},
		"an account":   {reply{status: 429, body: `{"error":{"code":"insufficient_quota","message":"pay hunter2"}}`}, `(insufficient_quota): "`, time.Minute, time.Minute, true},
		"the day":      {reply{status: 429, body: `Limit 200 requests per day (RPD)`, header: map[string]string{"Retry-After": "432"}}, "its daily quota is used up", 432 * time.Second, 432 * time.Second, false},
		"the day only": {reply{status: 429, body: `{"quotaId":"GenerateRequestsPerDayPerProject"}`}, "its daily quota is used up", time.Minute, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := &script{answers: []reply{tt.answer, wrote("x")}}
				l := models(t, fake, LLMConfig{Limits: Limits{Rate: 10}, Shared: NewBound(1)})
				states := make(chan engine.ServiceState, 1)
				time.AfterFunc(time.Second, func() { states <- l.State(time.Now()) })
				row, got := stage{}.chat(t, l, hello(), func(c *Call) { c.Secrets = []string{"hunter2"} })
				wait := fake.waits()[0]
				if got == nil || wait < tt.least || wait > tt.most || row.Steps[0].Attempts != 1 || row.Steps[0].Waits[engine.ThrottledByRefusal] != wait {
					t.Errorf("waited %v, held %v: %s", wait, row.Steps[0].Waits, row.Error)
				}
				seen := <-states
				if !strings.Contains(seen.Exhausted, tt.says) || strings.Contains(seen.Exhausted, "hunter2") || seen.Until.IsZero() != tt.endless {
					t.Errorf("got %q, until %v", seen.Exhausted, seen.Until)
				}
				if after := l.State(time.Now()); after.Exhausted != "" {
					t.Errorf("still got %q", after.Exhausted)
				}
			})
		})
	}
}

// TestExhaustedOutsideOfARun checks that an exhausted quota is an error outside of a run, because there is no run to
// pause.
func TestExhaustedOutsideOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := models(t, &script{answers: []reply{{status: 429, body: `{"code":"insufficient_quota"}`}}}, LLMConfig{})
		call := &Call{Clock: clock.New(t.Context(), 0, nil), Path: "population[0]"}
		defer call.Clock.Stop()
		_, err := l.Chat(call, hello())
		failure, ok := errors.AsType[*engine.StepError](err)
		if !ok || failure.Class != engine.ClientError || !strings.Contains(err.Error(), "nothing left to spend") || call.Record.Attempts != 1 {
			t.Errorf("%v, %d attempts", err, call.Record.Attempts)
		}
	})
}
