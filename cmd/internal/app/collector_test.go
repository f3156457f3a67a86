package app

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracespb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/throng-sim/throng/cmd/internal/telemetry"
	"github.com/throng-sim/throng/engine"
)

// receiver is an OpenTelemetry collector.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	spans   []*spans.Span
	metrics map[string]*metrics.Metric // the newest of each name
	about   map[string]string          // of the newest resource
	asked   []http.Header
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{metrics: map[string]*metrics.Metric{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err == nil {
			err = r.take(req, body)
		}
		if err != nil {
			t.Errorf("%s: %v", req.URL, err)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) take(req *http.Request, body []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, req.Header)
	switch req.URL.Path {
	case "/v1/traces":
		var all tracespb.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &all); err != nil {
			return err
		}
		for _, of := range all.ResourceSpans {
			r.about = said(of.Resource.Attributes)
			for _, s := range of.ScopeSpans {
				r.spans = append(r.spans, s.Spans...)
			}
		}
		return nil
	case "/v1/metrics":
		var all metricspb.ExportMetricsServiceRequest
		if err := proto.Unmarshal(body, &all); err != nil {
			return err
		}
		for _, of := range all.ResourceMetrics {
			for _, s := range of.ScopeMetrics {
				for _, m := range s.Metrics {
					r.metrics[m.Name] = m
				}
			}
		}
		return nil
	}
	return errors.New("unexpected request")
}

func said(all []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, kv := range all {
		out[kv.Key] = kv.Value.GetStringValue()
	}
	return out
}

func numberOf(s *spans.Span, name string) int64 {
	for _, kv := range s.Attributes {
		if kv.Key == name {
			return kv.Value.GetIntValue()
		}
	}
	return -1
}

// tells compares the last received metrics with the run's own totals.
func (r *receiver) tells(t *testing.T, totals *engine.Totals) {
	t.Helper()
	count := func(name, label, value string) float64 {
		for _, p := range r.metrics[name].GetSum().GetDataPoints() {
			if label == "" || said(p.Attributes)[label] == value {
				return p.GetAsDouble()
			}
		}
		t.Errorf("no metric %s with %s", name, value)
		return -1
	}
	for _, o := range []engine.Outcome{engine.OK, engine.Stopped, engine.Failed} {
		if got := count("throng.sessions", "outcome", o.String()); got != float64(totals.Outcomes[o]) {
			t.Errorf("%v sessions ended %s, want %d", got, o, totals.Outcomes[o])
		}
	}
	if got := count("throng.requests", "", ""); got != float64(totals.Requests) {
		t.Errorf("%v requests, want %d", got, totals.Requests)
	}
	h := r.metrics["throng.session_duration"]
	point := h.GetHistogram().GetDataPoints()[0]
	var sum uint64
	for _, n := range point.BucketCounts {
		sum += n
	}
	if h.Unit != "s" || point.Count != uint64(totals.Ended()) || sum != point.Count || len(point.BucketCounts) != len(point.ExplicitBounds)+1 {
		t.Errorf("the histogram has %d in %s, %d of them in buckets; %d sessions ended", point.Count, h.Unit, sum, totals.Ended())
	}
	if len(r.metrics["throng.step_duration"].GetSummary().GetDataPoints()) != len(totals.ByStep.List) {
		t.Errorf("%v", r.metrics["throng.step_duration"])
	}
}

// TestDeadCollector checks that an unreachable collector causes one warning and does not affect the run.
func TestDeadCollector(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	var sent telemetry.Sent
	var warnings []string
	var mu sync.Mutex
	job := startShoppers(t, telemetry.Receivers{
		Sending: &telemetry.Sending{URL: gone.URL, Share: 1, Warn: func(text string) {
			mu.Lock()
			defer mu.Unlock()
			warnings = append(warnings, text)
		}},
		Sent: func(s telemetry.Sent) { sent = s },
	}, nil)
	if result := job.Run.Wait(); result.Ending != engine.EndFinished {
		t.Errorf("%s: %s", result.Ending, result.Reason)
	}
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(warnings) != 1 || !strings.Contains(warnings[0], gone.URL) || !strings.Contains(warnings[0], "the run ") {
		t.Errorf("got warnings %q", warnings)
	}
	if sent.Spans != 0 || sent.Dropped < 80 || sent.Trouble == nil || !strings.Contains(sent.String(), "spans were dropped") {
		t.Errorf("%v", sent)
	}
}

// TestHangingCollector checks that closing a run does not wait long for a collector that does not answer, and stops waiting
// when it is aborted.
func TestHangingCollector(t *testing.T) {
	hurry := make(chan struct{})
	close(hurry)
	for name, h := range map[string]<-chan struct{}{"in a hurry": hurry, "with patience": nil} {
		t.Run(name, func(t *testing.T) { hangingCollector(t, h) })
	}
}

func hangingCollector(t *testing.T, hurry <-chan struct{}) {
	t.Helper()
	release, asked := make(chan struct{}), make(chan struct{}, 100)
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-release
	}))
	defer hanging.Close()
	defer close(release)
	var sent telemetry.Sent
	job := startShoppers(t, telemetry.Receivers{Sending: &telemetry.Sending{URL: hanging.URL, Share: 1}, Sent: func(s telemetry.Sent) { sent = s }, Abort: hurry}, nil)
	if result := job.Run.Wait(); result.Ending != engine.EndFinished {
		t.Errorf("%s: %s", result.Ending, result.Reason)
	}
	began := time.Now()
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); (took < 4*time.Second) != (hurry != nil) {
		t.Errorf("took %s", took)
	}
	if hurry == nil {
		<-asked
	}
	if sent.Spans != 0 || sent.Dropped < 80 {
		t.Errorf("%v", sent)
	}
}

// TestOneKind checks that a collector for traces alone receives no metrics, and vice versa.
func TestOneKind(t *testing.T) {
	for i, want := range map[int]telemetry.Sent{1: {Rounds: 0, Sessions: 80}, 2: {Rounds: 1, Sessions: 0}} {
		var mu sync.Mutex
		asked := map[string]bool{}
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			asked[r.URL.Path] = true
		}))
		for _, name := range telemetry.Endpoints {
			t.Setenv(name, "")
		}
		t.Setenv(telemetry.Endpoints[i], server.URL+"/only")
		var sent telemetry.Sent
		job := startShoppers(t, telemetry.Receivers{Sending: &telemetry.Sending{Share: 1}, Sent: func(s telemetry.Sent) { sent = s }}, nil)
		job.Run.Wait()
		if err := job.Close(); err != nil {
			t.Fatal(err)
		}
		server.Close()
		if sent.Rounds != want.Rounds || sent.Sessions != want.Sessions || sent.Trouble != nil || len(asked) != 1 || !asked["/only"] {
			t.Errorf("%s: %v, requested %v", telemetry.Endpoints[i], sent, asked)
		}
	}
}
