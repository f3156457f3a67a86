package app

import (
	"slices"
	"testing"
	"time"

	"github.com/zalando/go-keyring"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/telemetry"
	"github.com/throng-sim/throng/engine"
)

// TestTraces compares the traces of all sessions with the totals of the run.
func TestTraces(t *testing.T) {
	keyring.MockInit()
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20quiet")
	r := newReceiver(t)
	settings := config.Telemetry{OTLP: r.URL, Share: 1}
	sending, err := settings.Sending()
	if err != nil {
		t.Fatal(err)
	}
	var sent telemetry.Sent
	before := time.Now()
	job := startShoppers(t, telemetry.Receivers{Sending: sending, Sent: func(s telemetry.Sent) { sent = s }}, nil)
	result := job.Run.Wait()
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	after := time.Now()
	totals := &result.Totals
	if totals.Retries == 0 || totals.Outcomes[engine.OK] == 0 {
		t.Fatalf("%d retries and %d successful sessions prove nothing", totals.Retries, totals.Outcomes[engine.OK])
	}
	if sent.Dropped != 0 || sent.Trouble != nil || sent.Spans != int64(len(r.spans)) || sent.Sessions != totals.Ended() {
		t.Errorf("%v, and %d spans of %d sessions came", sent, len(r.spans), totals.Ended())
	}
	byID, steps := map[string]*spans.Span{}, map[string]int64{}
	outcomes := map[string]int64{}
	for _, s := range r.spans {
		byID[string(s.TraceId)+string(s.SpanId)] = s
	}
	traces := map[string]bool{}
	var attempts int64
	for _, s := range r.spans {
		if s.StartTimeUnixNano > s.EndTimeUnixNano || int64(s.StartTimeUnixNano) < before.UnixNano() || int64(s.EndTimeUnixNano) > after.UnixNano() {
			t.Fatalf("%s lasts from %d to %d", s.Name, s.StartTimeUnixNano, s.EndTimeUnixNano)
		}
		if len(s.ParentSpanId) == 0 {
			traces[string(s.TraceId)] = true
			outcomes[said(s.Attributes)["throng.outcome"]]++
			continue
		}
		steps[said(s.Attributes)["throng.step"]]++
		attempts += max(numberOf(s, "throng.attempts"), 0)
		up := byID[string(s.TraceId)+string(s.ParentSpanId)]
		if up == nil || s.StartTimeUnixNano < up.StartTimeUnixNano || s.EndTimeUnixNano > up.EndTimeUnixNano {
			t.Fatalf("%s is not within its parent: %v", s.Name, up)
		}
	}
	if len(traces) != int(totals.Ended()) || outcomes["ok"] != totals.Outcomes[engine.OK] || outcomes["stopped"] != totals.Outcomes[engine.Stopped] {
		t.Errorf("%d traces, %v; the run says %v", len(traces), outcomes, totals.Outcomes)
	}
	for _, f := range totals.ByStep.Figures() {
		if ran := f.Ran() + f.Statuses[engine.StepCanceled]; steps[f.Path] < f.Ran() || steps[f.Path] > ran {
			t.Errorf("%d spans of %s, which ran %d times", steps[f.Path], f.Path, f.Ran())
		}
	}
	if attempts != totals.Requests {
		t.Errorf("%d attempts, and %d requests", attempts, totals.Requests)
	}
	retried := slices.ContainsFunc(r.spans, func(s *spans.Span) bool {
		return len(s.Events) >= 2 && s.Kind == spans.Span_SPAN_KIND_CLIENT && numberOf(s, "throng.attempts") > 1 && numberOf(s, "http.response.status_code") == 200
	})
	if !retried {
		t.Error("no span has a retry")
	}
	if r.about["service.name"] != "throng" || r.about["throng.run"] != string(job.Record.ID) {
		t.Errorf("the resource is %v", r.about)
	}
	for _, h := range r.asked {
		if h.Get("Authorization") != "Bearer quiet" {
			t.Errorf("no credentials: %v", h)
		}
	}
	r.tells(t, totals)
}

// TestSampleIsTheSame checks that the limit does not change which sessions are traced.
func TestSampleIsTheSame(t *testing.T) {
	traced := func(limit int) []int64 {
		r := newReceiver(t)
		job := startShoppers(t, telemetry.Receivers{Sending: &telemetry.Sending{URL: r.URL, Share: 0.3}}, func(l *Launch) { l.Settings.Limit, l.Settings.Ceiling = limit, limit })
		if err := job.Close(); err != nil {
			t.Fatal(err)
		}
		var places []int64
		for _, s := range r.spans {
			if len(s.ParentSpanId) == 0 {
				places = append(places, 1000*numberOf(s, "throng.cycle")+numberOf(s, "throng.agent"))
			}
		}
		slices.Sort(places)
		return places
	}
	one, many := traced(1), traced(40)
	if len(one) < 10 || len(one) > 40 || !slices.Equal(one, many) {
		t.Errorf("traced: %v one at a time, %v concurrently", one, many)
	}
}

// TestFailedSessionsAreTraced checks that failed sessions are traced even outside of the sample.
func TestFailedSessionsAreTraced(t *testing.T) {
	r := newReceiver(t)
	job := startShoppers(t, telemetry.Receivers{Sending: &telemetry.Sending{URL: r.URL, Share: 1e-9}}, func(l *Launch) {
		l.Settings.Mock.Faults, l.Settings.Retry.Attempts, l.Settings.Breaker = map[string]string{"server_error": "1"}, 1, engine.BreakerOff
	})
	totals := job.Run.Wait().Totals
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	traced := 0
	for _, s := range r.spans {
		if len(s.ParentSpanId) > 0 {
			continue
		}
		traced++
		if s.Status.GetCode() != spans.Status_STATUS_CODE_ERROR || said(s.Attributes)["error.type"] != "server_error" || said(s.Attributes)["throng.traced_for"] != "failed" {
			t.Errorf("%v", s)
		}
	}
	if traced == 0 || int64(traced) > totals.Bad() {
		t.Errorf("%d were traced of %d that failed", traced, totals.Bad())
	}
}
