package wire

import (
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/zalando/go-keyring"
	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracespb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/throng-sim/throng/cmd/internal/telemetry"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// startShoppers starts a small day of the built-in shoppers, some of whose requests fail at first.
func startShoppers(t *testing.T, tell Tell, change func(l *Launch)) *Job {
	t.Helper()
	s, err := LoadScenario("shopping", map[string]string{"agents": "40", "eagerness": "8"})
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	store, err := sqlite.Open(data, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	l := Launch{Store: store, Data: data, Scenario: s, Settings: engine.DefaultSettings(), Tell: tell}
	l.Settings.Cycles, l.Settings.Seed, l.Settings.Rehearsal.Profile = 2, 7, "none"
	l.Settings.Rehearsal.Faults = map[string]string{"server_error": "0.05"}
	l.Settings.Retry.Wait = time.Millisecond
	if change != nil {
		change(&l)
	}
	job, err := l.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// receiver is a collector of OpenTelemetry.
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
	return errors.New("nobody asks for that")
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

// TestTraces sends the traces of all sessions of a run and holds them against what the run itself says.
func TestTraces(t *testing.T) {
	keyring.MockInit()
	t.Setenv(headersEnv, "authorization=Bearer%20quiet")
	r := newReceiver(t)
	settings := Telemetry{OTLP: r.URL, Share: 1}
	sending, err := settings.Sending()
	if err != nil {
		t.Fatal(err)
	}
	var sent telemetry.Sent
	before := time.Now()
	job := startShoppers(t, Tell{Sending: sending, Sent: func(s telemetry.Sent) { sent = s }}, nil)
	result := job.Run.Wait()
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	after := time.Now()
	totals := &result.Totals
	if totals.Retries == 0 || totals.Outcomes[engine.OK] == 0 {
		t.Fatalf("%d retries and %d sessions that went well show nothing", totals.Retries, totals.Outcomes[engine.OK])
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
			t.Fatalf("%s does not lie within what it is part of: %v", s.Name, up)
		}
	}
	if len(traces) != int(totals.Ended()) || outcomes["ok"] != totals.Outcomes[engine.OK] || outcomes["stopped"] != totals.Outcomes[engine.Stopped] {
		t.Errorf("%d traces, %v; the run says %v", len(traces), outcomes, totals.Outcomes)
	}
	for _, f := range totals.ByStep.Figures() {
		if ran := f.Ran() + f.Statuses[engine.StepCancelled]; steps[f.Path] < f.Ran() || steps[f.Path] > ran {
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
		t.Error("no span tells of a retry")
	}
	if r.about["service.name"] != "throng" || r.about["throng.run"] != string(job.Record.ID) {
		t.Errorf("all comes from %v", r.about)
	}
	for _, h := range r.asked {
		if h.Get("Authorization") != "Bearer quiet" {
			t.Errorf("it is not signed in: %v", h)
		}
	}
	r.tells(t, totals)
}

// tells holds the metrics that came last against the run's own figures.
func (r *receiver) tells(t *testing.T, totals *engine.Totals) {
	t.Helper()
	count := func(name, label, value string) float64 {
		for _, p := range r.metrics[name].GetSum().GetDataPoints() {
			if label == "" || said(p.Attributes)[label] == value {
				return p.GetAsDouble()
			}
		}
		t.Errorf("no %s of %s", name, value)
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

// TestSampleIsTheSame: the same sessions are traced, whatever is at once.
func TestSampleIsTheSame(t *testing.T) {
	traced := func(limit int) []int64 {
		r := newReceiver(t)
		job := startShoppers(t, Tell{Sending: &telemetry.Sending{URL: r.URL, Share: 0.3}}, func(l *Launch) { l.Settings.Limit, l.Settings.Ceiling = limit, limit })
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
		t.Errorf("traced were %v one at a time, and %v at once", one, many)
	}
}

// TestFailedSessionsAreTraced, though they are not in the sample.
func TestFailedSessionsAreTraced(t *testing.T) {
	r := newReceiver(t)
	job := startShoppers(t, Tell{Sending: &telemetry.Sending{URL: r.URL, Share: 1e-9}}, func(l *Launch) {
		l.Settings.Rehearsal.Faults, l.Settings.Retry.Attempts, l.Settings.Breaker = map[string]string{"server_error": "1"}, 1, engine.BreakerOff
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

// TestDeadCollector: one that is away costs one warning, and the run nothing.
func TestDeadCollector(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	var sent telemetry.Sent
	var warnings []string
	var mu sync.Mutex
	job := startShoppers(t, Tell{
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
	if len(warnings) != 1 || !strings.Contains(warnings[0], gone.URL) || !strings.Contains(warnings[0], "the run goes on") {
		t.Errorf("warned was %q", warnings)
	}
	if sent.Spans != 0 || sent.Dropped < 80 || sent.Trouble == nil || !strings.Contains(sent.String(), "spans were dropped") {
		t.Errorf("%v", sent)
	}
}

// TestHangingCollector: the run ends while one that took a request has not answered, and it is taken apart without that; at
// once, where somebody is in a hurry.
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
	job := startShoppers(t, Tell{Sending: &telemetry.Sending{URL: hanging.URL, Share: 1}, Sent: func(s telemetry.Sent) { sent = s }, Hurry: hurry}, nil)
	if result := job.Run.Wait(); result.Ending != engine.EndFinished {
		t.Errorf("%s: %s", result.Ending, result.Reason)
	}
	began := time.Now()
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); (took < 4*time.Second) != (hurry != nil) {
		t.Errorf("it took %s", took)
	}
	if hurry == nil {
		<-asked
	}
	if sent.Spans != 0 || sent.Dropped < 80 {
		t.Errorf("%v", sent)
	}
}

// TestOneKind: where the environment names a collector for traces alone, no metrics are sent, and the other way round.
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
		job := startShoppers(t, Tell{Sending: &telemetry.Sending{Share: 1}, Sent: func(s telemetry.Sent) { sent = s }}, nil)
		job.Run.Wait()
		if err := job.Close(); err != nil {
			t.Fatal(err)
		}
		server.Close()
		if sent.Rounds != want.Rounds || sent.Sessions != want.Sessions || sent.Trouble != nil || len(asked) != 1 || !asked["/only"] {
			t.Errorf("%s: %v, asked was %v", telemetry.Endpoints[i], sent, asked)
		}
	}
}

// TestScrape asks the endpoint before, during and after a run.
func TestScrape(t *testing.T) {
	endpoint, err := telemetry.Listen(t.Context(), "127.0.0.1:0", "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = endpoint.Close() }()
	before := scrape(t, endpoint)
	if value(t, before, "throng_run_phase", "idle") != 1 || before["throng_sessions_total"] != nil {
		t.Errorf("before a run: %v", before["throng_run_phase"])
	}
	job := startShoppers(t, Tell{Shown: endpoint}, nil)
	during := scrape(t, endpoint)
	if len(during) < len(telemetry.Metrics())-20 || value(t, during, "throng_sessions_planned", "") != 80 {
		t.Errorf("during the run: %v", slices.Sorted(maps.Keys(during)))
	}
	totals := job.Run.Wait().Totals
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	after := scrape(t, endpoint)
	for _, o := range []engine.Outcome{engine.OK, engine.Stopped, engine.Failed} {
		if got := value(t, after, "throng_sessions_total", o.String()); got != float64(totals.Outcomes[o]) {
			t.Errorf("%v sessions ended %s, want %d", got, o, totals.Outcomes[o])
		}
	}
	h := after["throng_session_duration_seconds"].GetMetric()[0].GetHistogram()
	buckets := h.GetBucket()
	if h.GetSampleCount() != uint64(totals.Ended()) || buckets[len(buckets)-1].GetCumulativeCount() != h.GetSampleCount() {
		t.Errorf("the histogram: %v", h)
	}
	if value(t, after, "throng_run_phase", "ended") != 1 || value(t, after, "throng_run_ending", "finished") != 1 {
		t.Errorf("after the run: %v, %v", after["throng_run_phase"], after["throng_run_ending"])
	}
	// What the transports counted is what the journal says: that of no attempt is 429s, of which there are none.
	sum := 0.
	for _, m := range after["throng_service_responses_total"].GetMetric() {
		sum += m.GetCounter().GetValue()
	}
	if sum != float64(totals.Requests) {
		t.Errorf("%v answers to %d requests", sum, totals.Requests)
	}
	if value(t, after, "throng_service_retries_total", "shop") != float64(totals.Retries) || totals.Retries == 0 {
		t.Errorf("%v, and %d retries", after["throng_service_retries_total"], totals.Retries)
	}
}

// scrape asks an endpoint as Prometheus does.
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

// value is that of the metric with a label's value.
func value(t *testing.T, all map[string]*dto.MetricFamily, name, label string) float64 {
	t.Helper()
	for _, m := range all[name].GetMetric() {
		if label == "" || slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetValue() == label }) {
			return m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	t.Errorf("no %s with %q", name, label)
	return -1
}

// TestFindTelemetry: flags win over the environment, that over what is saved.
func TestFindTelemetry(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for name, value := range map[string]string{ListenKey: "127.0.0.1:9464", OTLPKey: "http://127.0.0.1:4318", TraceKey: "0.5"} {
		if known, err := SaveTelemetrySetting(data, name, value); !known || err != nil {
			t.Fatal(known, err)
		}
	}
	env := map[string]string{}
	for _, tt := range []struct {
		name       string
		flags, env map[string]string
		want       Telemetry
		mistake    string
	}{
		{"saved", nil, nil, Telemetry{Listen: "127.0.0.1:9464", OTLP: "http://127.0.0.1:4318", Share: 0.5}, ""},
		{"flags", map[string]string{ListenKey: "off", OTLPKey: "https://otel.example.com/x", TraceKey: "0"}, map[string]string{ListenEnv: "127.0.0.1:1"}, Telemetry{OTLP: "https://otel.example.com/x"}, ""},
		{"environment", nil, map[string]string{ListenEnv: "[::1]:0", otlpEnv: "http://127.0.0.1:5"}, Telemetry{Listen: "[::1]:0", OTLP: "http://127.0.0.1:5", FromEnv: true, Share: 0.5}, ""},
		{"one kind", map[string]string{OTLPKey: ""}, map[string]string{telemetry.Endpoints[1]: "http://127.0.0.1:6"}, Telemetry{Listen: "127.0.0.1:9464", OTLP: "http://127.0.0.1:4318", Share: 0.5}, ""},
		{"always", nil, map[string]string{samplerEnv: "parentbased_always_on"}, Telemetry{Listen: "127.0.0.1:9464", OTLP: "http://127.0.0.1:4318", Share: 1}, ""},
		{"ratio", nil, map[string]string{samplerEnv: "traceidratio", shareEnv: "0.25"}, Telemetry{Listen: "127.0.0.1:9464", OTLP: "http://127.0.0.1:4318", Share: 0.25}, ""},
		{"grpc", nil, map[string]string{otlpEnv: "http://127.0.0.1:4317", protocolEnv: "grpc"}, Telemetry{}, "grpc is not spoken here"},
		{"no address", map[string]string{ListenKey: "9464"}, nil, Telemetry{}, "is no address to listen on"},
		{"a name", map[string]string{ListenKey: "db.example.com:9464"}, nil, Telemetry{}, "is no address to listen on"},
		{"a password", map[string]string{OTLPKey: "http://me:quiet@127.0.0.1:4318"}, nil, Telemetry{}, "has more in it"},
		{"more than all", map[string]string{TraceKey: "2"}, nil, Telemetry{}, "no share"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clear(env)
			maps.Copy(env, tt.env)
			got, _, err := FindTelemetry(tt.flags, func(name string) string { return env[name] }, data)
			switch {
			case tt.mistake == "" && (err != nil || got != tt.want):
				t.Errorf("%+v, %v; want %+v", got, err, tt.want)
			case tt.mistake != "" && (err == nil || !strings.Contains(err.Error(), tt.mistake) || strings.Contains(err.Error(), "quiet")):
				t.Errorf("%v; want %q", err, tt.mistake)
			}
		})
	}
	if known, err := SaveTelemetrySetting(data, TraceKey, "many"); !known || err == nil {
		t.Error("a share of many is kept")
	}
	if known, _ := SaveTelemetrySetting(data, "colour", "red"); known {
		t.Error("a colour is known")
	}
}
