package telemetry

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/engine"
)

// full returns a run in which every value is known.
func full() *Run {
	q := engine.Quantiles{Count: 4, Mean: time.Second, P50: time.Second, P95: 2 * time.Second, P99: 3 * time.Second, Max: 3 * time.Second}
	s := &engine.Snapshot{
		Run:             "a",
		At:              time.Unix(1000, 0),
		Phase:           engine.Running,
		CycleState:      engine.CycleState{Cycles: 3},
		SessionCounts:   engine.SessionCounts{Total: 9, Outcomes: map[engine.Outcome]int64{engine.OK: 4}},
		Pace:            engine.Pace{Elapsed: time.Minute},
		LimitState:      engine.LimitState{Binds: "latency"},
		SessionTimes:    engine.SessionTimes{Latency: q, Queue: q, QueueSum: 4 * time.Second, Throttled: q, ThrottledSum: 4 * time.Second},
		Services:        []engine.ServiceState{{Name: "shop", Bound: 5, LimiterState: engine.LimiterState{Rate: 3}, Replies: engine.Replies{engine.Reply2xx: 7}}},
		Budget:          engine.BudgetState{Budget: engine.Budget{Dollars: 4, Requests: 10}, Spent: engine.Amount{Cost: 1e9, Requests: 9}},
		CheckpointState: engine.CheckpointState{LastCheckpoint: time.Unix(900, 0), CheckpointTook: time.Second},
		UnsentSince:     time.Unix(990, 0),
		Metrics: engine.MetricsRow{
			DatabaseUse: engine.DatabaseUse{Connections: 2, ServerConnections: 3, ServerMax: 100, Unsent: 5, Pool: engine.Pool{Size: 8, InUse: 1}},
			Counters:    engine.Counters{Overhead: engine.Overhead{Span: time.Second}},
			Host:        engine.HostMetrics{CPU: 50, ProcessCPU: 120, Memory: 1, Available: 1, MemoryTotal: 2, DiskFree: 3},
		},
		Overhead: engine.Overhead{Times: engine.Times{engine.ForServices: time.Second}},
	}
	for range mostSteps + 2 {
		path := "step" + string(rune('a'+len(s.Steps)/26)) + string(rune('a'+len(s.Steps)%26))
		s.Steps = append(s.Steps, engine.StepFigures{Path: path, Statuses: [5]int64{engine.StepOK: 3}, Requests: 3, Service: q, Sum: 4 * time.Second})
	}
	return &Run{ID: "a", Title: "A scenario", Seed: 7, Agents: 3, Snapshot: func() *engine.Snapshot { return s }}
}

// TestMetricsFollowConventions checks that names, units and help texts are as Prometheus recommends, and that all metrics
// are served.
func TestMetricsFollowConventions(t *testing.T) {
	c := newCollector(func() *view { return look("1.2.3", full()) })
	problems, err := testutil.CollectAndLint(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	served := map[string]int{}
	for _, f := range families {
		served[f.GetName()] = len(f.GetMetric())
	}
	for _, m := range Metrics() {
		if served[m.Name] == 0 || !strings.HasPrefix(m.Name, "throng_") || !strings.HasSuffix(m.Help, ".") {
			t.Errorf("%s has %d samples and the help %q", m.Name, served[m.Name], m.Help)
		}
	}
	// Steps beyond the limit are added up.
	if got, want := served["throng_step_requests_total"], mostSteps+1; got != want {
		t.Errorf("%d steps have figures of their own, want %d", got, want)
	}
	if err := testutil.CollectAndCompare(c, strings.NewReader(`# HELP throng_outbox_age_seconds Time for which there have been unsent rows; missing without a remote database.
# TYPE throng_outbox_age_seconds gauge
throng_outbox_age_seconds 10
# HELP throng_budget_used_ratio Used fraction of each limit of the budget; missing for limits that are not set.
# TYPE throng_budget_used_ratio gauge
throng_budget_used_ratio{limit="dollars"} 0.25
throng_budget_used_ratio{limit="requests"} 0.9
# HELP throng_governor_binds 1 for the governor that determines the limit, 0 for the others.
# TYPE throng_governor_binds gauge
throng_governor_binds{governor="connections"} 0
throng_governor_binds{governor="latency"} 1
throng_governor_binds{governor="manual"} 0
throng_governor_binds{governor="resources"} 0
throng_governor_binds{governor="success"} 0
`), "throng_outbox_age_seconds", "throng_budget_used_ratio", "throng_governor_binds"); err != nil {
		t.Error(err)
	}
}

// TestUnknownIsMissing checks that unknown values, such as those of a database that is not configured, are missing.
func TestUnknownIsMissing(t *testing.T) {
	s := &engine.Snapshot{Pace: engine.Pace{Remaining: -1}, Metrics: engine.MetricsRow{DatabaseUse: engine.DatabaseUse{Connections: -1, ServerConnections: -1, ServerMax: -1, Unsent: -1}}}
	c := newCollector(func() *view { return look("", &Run{Snapshot: func() *engine.Snapshot { return s }}) })
	for _, name := range []string{
		"throng_run_remaining_seconds", "throng_database_connections", "throng_database_server_connections", "throng_outbox_rows", "throng_outbox_age_seconds",
		"throng_sessions_planned", "throng_cycles_planned", "throng_checkpoint_last_timestamp_seconds", "throng_session_time_ratio",
	} {
		if n := testutil.CollectAndCount(c, name); n != 0 {
			t.Errorf("%s has %d values", name, n)
		}
	}
	if n := testutil.CollectAndCount(c, "throng_run_phase"); n != len(phases) {
		t.Errorf("%d phases", n)
	}
}

// TestBothFormatsAgree checks that each metric has as many samples for OpenTelemetry as for Prometheus, under a name that
// collectors convert to the same name.
func TestBothFormatsAgree(t *testing.T) {
	run := full()
	x := &Sender{}
	x.runs.Store(run)
	scopes, err := producer{x}.Produce(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sent := map[string]metricdata.Metrics{}
	for _, m := range scopes[0].Metrics {
		sent[m.Name] = m
	}
	v := look("", run)
	for _, m := range Metrics() {
		name, unit := m.Other()
		n := 0
		switch data := sent[name].Data.(type) {
		case metricdata.Sum[float64]:
			n = len(data.DataPoints)
		case metricdata.Gauge[float64]:
			n = len(data.DataPoints)
		case metricdata.Histogram[float64]:
			n = len(data.DataPoints)
		case metricdata.Summary:
			n = len(data.DataPoints)
		}
		if want := len(m.samples(v)); n != want || sent[name].Unit != unit {
			t.Errorf("%s is %s with %d samples in %q, want %d in %q", m.Name, name, n, sent[name].Unit, want, unit)
		}
		again := strings.ReplaceAll(name, ".", "_") + map[string]string{"s": "_seconds", "By": "_bytes", "1": "_ratio", "": ""}[unit]
		if m.Kind == Counter {
			again += "_total"
		}
		if again != m.Name {
			t.Errorf("a collector converts %s from %s, want %s", again, name, m.Name)
		}
	}
}

var named = regexp.MustCompile(`throng_[a-z0-9_]+`)

// plain returns the name of a metric without the suffixes of its parts.
func plain(name string) string {
	for _, end := range []string{"_bucket", "_sum", "_count"} {
		if rest, ok := strings.CutSuffix(name, end); ok {
			return rest
		}
	}
	return name
}

func table() (names []string) {
	for _, m := range Metrics() {
		names = append(names, m.Name)
	}
	return names
}

// TestDashboard checks that the dashboard shows all metrics that are served, and no others. It can be imported with any data
// source.
func TestDashboard(t *testing.T) {
	var d struct {
		Inputs []struct{ Name, Type, PluginID string } `json:"__inputs"`
		Schema int                                     `json:"schemaVersion"`
		Title  string
		Panels []struct {
			ID          int
			Type, Title string
			Datasource  struct{ UID string }
			GridPos     struct{ H, W, X, Y int }
			Targets     []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(assets.Dashboard(), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Inputs) != 1 || d.Inputs[0].Name != "DS_PROMETHEUS" || d.Inputs[0].Type != "datasource" || d.Inputs[0].PluginID != "prometheus" || d.Schema < 38 {
		t.Errorf("%+v, schema %d", d.Inputs, d.Schema)
	}
	known, shown, rows := table(), map[string]bool{}, 0
	ids := map[int]bool{}
	taken := map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] {
			t.Errorf("two panels have the number %d", p.ID)
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if taken[at] != "" || at[0] > 23 {
					t.Fatalf("%s overlaps %s", p.Title, taken[at])
				}
				taken[at] = p.Title
			}
		}
		if p.Type == "row" {
			rows++
			continue
		}
		if p.Datasource.UID != "${DS_PROMETHEUS}" || len(p.Targets) == 0 {
			t.Errorf("%s has the data source %q", p.Title, p.Datasource.UID)
		}
		for _, target := range p.Targets {
			for _, name := range named.FindAllString(target.Expr, -1) {
				if shown[plain(name)] = true; !slices.Contains(known, plain(name)) {
					t.Errorf("%s shows %s, which is not served", p.Title, name)
				}
			}
			if strings.Count(target.Expr, "$instance") == 0 || strings.Count(target.Expr, "(") != strings.Count(target.Expr, ")") {
				t.Errorf("%s has the query %s", p.Title, target.Expr)
			}
		}
	}
	if rows != 8 {
		t.Errorf("%d rows", rows)
	}
	for _, name := range known {
		if !shown[name] && name != "throng_build_info" && name != "throng_agents" && name != "throng_cycles_planned" && name != "throng_run_ending" && name != "throng_run_elapsed_seconds" {
			t.Errorf("%s is not shown", name)
		}
	}
}

// TestGuideNamesMetrics checks that the guide names only metrics that exist and have a help text.
func TestGuideNamesMetrics(t *testing.T) {
	i := slices.IndexFunc(assets.Pages(), func(p assets.Page) bool { return p.Topic == "metrics" })
	if i < 0 {
		t.Fatal("the guide has no such page")
	}
	for _, m := range Metrics() {
		if m.Help == "" {
			t.Errorf("%s has no help text", m.Name)
		}
	}
	known, shown := table(), named.FindAllString(assets.Pages()[i].Text, -1)
	for _, name := range shown {
		if !slices.Contains(known, plain(name)) {
			t.Errorf("there is no metric %s", name)
		}
	}
	if len(shown) < 3 {
		t.Errorf("the guide names only %d metrics", len(shown))
	}
}

// TestEndpoint checks the responses to requests.
func TestEndpoint(t *testing.T) {
	e, err := Listen(t.Context(), "127.0.0.1:0", "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	if e.Open() != "" {
		t.Errorf("a loopback address is open to others: %s", e.Open())
	}
	ask := func(method, path string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(e.URL(), "/metrics")+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(body)
	}
	for _, tt := range []struct {
		method, path string
		code         int
		says         string
	}{
		{http.MethodGet, "/metrics", 200, `throng_run_phase{phase="idle"} 1`},
		{http.MethodHead, "/metrics", 200, ""},
		{http.MethodGet, "/", 200, "/metrics"},
		{http.MethodPost, "/metrics", 405, ""},
		{http.MethodDelete, "/metrics", 405, ""},
		{http.MethodGet, "/debug/pprof", 404, ""},
	} {
		if code, body := ask(tt.method, tt.path); code != tt.code || !strings.Contains(body, tt.says) {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, code, body)
		}
	}
	for name, header := range map[string]http.Header{
		"a foreign host name that resolves to this machine": {"Host": {"evil.example:9464"}}, "a page of another site": {"Origin": {"https://evil.example"}},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.URL(), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header, req.Host = header, header.Get("Host")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err := errors.Join(err, res.Body.Close()); err != nil || res.StatusCode != http.StatusForbidden || strings.Contains(string(body), "throng_") {
			t.Errorf("%s: got %d %s %v", name, res.StatusCode, body, err)
		}
	}
	run := full()
	e.Show(run)
	e.Keep(full()) // of another run
	if e.run.Load() != run {
		t.Error("the end of another run replaced this one")
	}
	e.Keep(run)
	if _, body := ask(http.MethodGet, "/metrics"); !strings.Contains(body, `throng_sessions_total{outcome="ok"} 4`) || e.run.Load() == run {
		t.Error("the last values are missing, or the run is not released")
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	var dialer net.Dialer
	if conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimSuffix(strings.TrimPrefix(e.URL(), "http://"), "/metrics")); err == nil {
		_ = conn.Close()
		t.Error("the port is still open")
	}
}

// TestListenErrors checks that errors say what to do, and that an open address has a warning.
func TestListenErrors(t *testing.T) {
	first, err := Listen(t.Context(), "127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	busy := strings.TrimSuffix(strings.TrimPrefix(first.URL(), "http://"), "/metrics")
	for address, want := range map[string]string{busy: "is in use by another program", "9464": "is not an address", "127.0.0.1": "is not an address", "192.0.2.1:0": "nothing can listen"} {
		_, err := Listen(t.Context(), address, "")
		if field, ok := errors.AsType[*engine.FieldError](err); !ok || field.Field != Field || !strings.Contains(field.Problem, want) || field.Hint == "" {
			t.Errorf("%s: %v", address, err)
		}
	}
	wide, err := Listen(t.Context(), ":0", "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = wide.Close() }()
	if !strings.Contains(wide.Open(), "without a password") {
		t.Errorf("the warning about an open address is %q", wide.Open())
	}
}

// TestManyFailures checks that only some of many failed sessions are traced.
func TestManyFailures(t *testing.T) {
	var tr tracer
	now, taken := time.Unix(1000, 0), 0
	for range 100 {
		if tr.mayTake(now) {
			taken++
		}
	}
	if taken != failedEach || !tr.mayTake(now.Add(time.Second)) {
		t.Errorf("%d of 100 in a second, want %d, and more in the next", taken, failedEach)
	}
}

// TestBrief checks that errors of servers are shortened to one line without control characters.
func TestBrief(t *testing.T) {
	if got := brief("401 \x1b[2J\tno\nmore"); got != "401  [2J no" {
		t.Errorf("got %q", got)
	}
	if got := brief(strings.Repeat("é", mostError)); len(got) > mostError+3 || !strings.HasSuffix(got, "é…") {
		t.Errorf("got %q", got)
	}
}

// TestSampled checks the size of a sample.
func TestSampled(t *testing.T) {
	n := 0
	for agent := range 10_000 {
		if sampled(7, engine.Place{Cycle: 3, Agent: agent}, 0.1) {
			n++
		}
	}
	if n < 900 || n > 1100 || sampled(7, engine.Place{}, 0) || !sampled(7, engine.Place{}, 1) {
		t.Errorf("%d of 10,000 are in a sample of 10%%", n)
	}
}
