package app

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/throng-sim/throng/cmd/internal/telemetry"
	"github.com/throng-sim/throng/engine"
)

// TestScrape scrapes the endpoint before, during and after a run.
func TestScrape(t *testing.T) {
	endpoint, err := telemetry.Listen(t.Context(), "127.0.0.1:0", "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = endpoint.Close() }()
	before := scrape(t, endpoint)
	if metricValue(t, before, "throng_run_phase", "idle") != 1 || before["throng_sessions_total"] != nil {
		t.Errorf("before a run: %v", before["throng_run_phase"])
	}
	job := startShoppers(t, telemetry.Receivers{Endpoint: endpoint}, nil)
	during := scrape(t, endpoint)
	if len(during) < len(telemetry.Metrics())-20 || metricValue(t, during, "throng_sessions_planned", "") != 80 {
		t.Errorf("during the run: %v", slices.Sorted(maps.Keys(during)))
	}
	totals := job.Run.Wait().Totals
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	after := scrape(t, endpoint)
	for _, o := range []engine.Outcome{engine.OK, engine.Stopped, engine.Failed} {
		if got := metricValue(t, after, "throng_sessions_total", o.String()); got != float64(totals.Outcomes[o]) {
			t.Errorf("%v sessions ended %s, want %d", got, o, totals.Outcomes[o])
		}
	}
	h := after["throng_session_duration_seconds"].GetMetric()[0].GetHistogram()
	buckets := h.GetBucket()
	if h.GetSampleCount() != uint64(totals.Ended()) || buckets[len(buckets)-1].GetCumulativeCount() != h.GetSampleCount() {
		t.Errorf("the histogram: %v", h)
	}
	if metricValue(t, after, "throng_run_phase", "ended") != 1 || metricValue(t, after, "throng_run_ending", "finished") != 1 {
		t.Errorf("after the run: %v, %v", after["throng_run_phase"], after["throng_run_ending"])
	}
	// The transports' counts equal those of the journal. There are no 429s, which would count without an attempt.
	sum := 0.
	for _, m := range after["throng_service_responses_total"].GetMetric() {
		sum += m.GetCounter().GetValue()
	}
	if sum != float64(totals.Requests) {
		t.Errorf("%v answers to %d requests", sum, totals.Requests)
	}
	if metricValue(t, after, "throng_service_retries_total", "shop") != float64(totals.Retries) || totals.Retries == 0 {
		t.Errorf("%v, and %d retries", after["throng_service_retries_total"], totals.Retries)
	}
}

// scrape reads an endpoint as Prometheus does.
func scrape(t *testing.T, e *telemetry.Endpoint) map[string]*dto.MetricFamily {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// metricValue returns the value of a metric with a label.
func metricValue(t *testing.T, all map[string]*dto.MetricFamily, name, label string) float64 {
	t.Helper()
	for _, m := range all[name].GetMetric() {
		if label == "" || slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetValue() == label }) {
			return m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	t.Errorf("no %s with %q", name, label)
	return -1
}
