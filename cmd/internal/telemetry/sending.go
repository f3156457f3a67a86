package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/throng-sim/throng/engine"
)

const (
	serviceName  = "throng"
	metricsEvery = 10 * time.Second // default of OTEL_METRIC_EXPORT_INTERVAL
	flushTime    = 5 * time.Second  // for the rest at the end
)

// Retries while a collector cannot be reached.
const (
	firstRetry = time.Second
	lastRetry  = 5 * time.Second
	retryTime  = 20 * time.Second
)

// Sending configures where metrics and traces are sent, by OTLP over HTTP. The standard OTEL_* environment variables supply
// missing values.
type Sending struct {
	URL     string            // of the collector, to which v1/metrics and v1/traces are appended; "" uses the environment
	Headers map[string]string // nil uses the environment
	// Share is the fraction of sessions whose traces are sent. Failed sessions are sent in addition, some per second. 0
	// sends no traces.
	Share   float64
	Content bool              // spans have the prompts and answers of models
	Version string            // of the program
	Warn    func(text string) // called once if the collector rejects data; may be nil
}

// Sender sends the metrics and traces of a run. Only Close waits for the collector.
type Sender struct {
	sending Sending
	run     Run
	name    func(agent int) string
	traces  *tracer // nil if traces are not sent
	figures *metric.MeterProvider
	runs    atomic.Pointer[Run] // the run whose metrics are sent; nil before it begins

	alive  context.Context // of requests in progress; ends some time after Close was called
	end    context.CancelFunc
	sent   atomic.Int64 // spans
	rounds atomic.Int64 // exports of metrics
	warned atomic.Bool

	mu      sync.Mutex
	trouble error // the newest error; nil if there is none
}

// CheckURL returns a *engine.FieldError if the address of a collector is invalid.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	problem := ""
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		problem = "is not the address of a collector"
	case u.User != nil || u.RawQuery != "":
		problem = "has parts other than scheme, host, port and path"
	default:
		return nil
	}
	return &engine.FieldError{Field: "otlp", Problem: problem, Hint: "use an address such as http://127.0.0.1:4318, and put credentials into OTEL_EXPORTER_OTLP_HEADERS"}
}

// NewSender returns a sender for a run. name returns the name of an agent. The caller must Close the sender.
func NewSender(s Sending, run Run, name func(agent int) string) (*Sender, error) {
	x := &Sender{sending: s, run: run, name: name}
	x.alive, x.end = context.WithCancel(context.Background())
	about, err := resource.New(context.Background(), resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", serviceName), attribute.String("service.version", s.Version), attribute.String("service.instance.id", string(run.ID)),
		attribute.String("throng.run", string(run.ID)), attribute.String("throng.scenario", run.Title),
	), resource.WithFromEnv()) // the environment may set another name
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("what OTEL_RESOURCE_ATTRIBUTES says: %w", err)
	}
	if s.wants("METRICS") {
		if err := x.openFigures(about); err != nil {
			return nil, err
		}
	}
	if s.Traces() {
		if err := x.openTraces(about); err != nil {
			return nil, errors.Join(err, x.close(context.Background()))
		}
	}
	return x, nil
}

func (x *Sender) openFigures(about *resource.Resource) error {
	options := []otlpmetrichttp.Option{otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{Enabled: true, InitialInterval: firstRetry, MaxInterval: lastRetry, MaxElapsedTime: retryTime})}
	if x.sending.URL != "" {
		options = append(options, otlpmetrichttp.WithEndpointURL(x.sending.path("metrics")))
	}
	if x.sending.Headers != nil {
		options = append(options, otlpmetrichttp.WithHeaders(x.sending.Headers))
	}
	exporter, err := otlpmetrichttp.New(x.alive, options...)
	if err != nil {
		return fmt.Errorf("prepare to send metrics to %s: %w", x.Target(), err)
	}
	every := []metric.PeriodicReaderOption{metric.WithProducer(producer{x})}
	if os.Getenv("OTEL_METRIC_EXPORT_INTERVAL") == "" {
		every = append(every, metric.WithInterval(metricsEvery))
	}
	x.figures = metric.NewMeterProvider(metric.WithResource(about), metric.WithReader(metric.NewPeriodicReader(figuresOut{exporter, x}, every...)))
	return nil
}

func (x *Sender) openTraces(about *resource.Resource) error {
	options := []otlptracehttp.Option{otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: firstRetry, MaxInterval: lastRetry, MaxElapsedTime: retryTime})}
	if x.sending.URL != "" {
		options = append(options, otlptracehttp.WithEndpointURL(x.sending.path("traces")))
	}
	if x.sending.Headers != nil {
		options = append(options, otlptracehttp.WithHeaders(x.sending.Headers))
	}
	exporter, err := otlptracehttp.New(x.alive, options...)
	if err != nil {
		return fmt.Errorf("prepare to send traces to %s: %w", x.Target(), err)
	}
	x.traces = newTracer(x, trace.NewTracerProvider(
		trace.WithResource(about), trace.WithSampler(trace.AlwaysSample()), trace.WithIDGenerator(ids{}), trace.WithBatcher(spansOut{exporter, x}),
	))
	return nil
}

// wants reports whether a signal is sent. Without a collector in the environment, the SDK would send it to this machine.
func (s *Sending) wants(kind string) bool {
	named := s.URL != "" || os.Getenv(Endpoints[0]) != "" || os.Getenv("OTEL_EXPORTER_OTLP_"+kind+"_ENDPOINT") != ""
	return named && os.Getenv("OTEL_"+kind+"_EXPORTER") != "none"
}

// Traces reports whether traces are sent.
func (s *Sending) Traces() bool { return s.Share > 0 && s.wants("TRACES") }

// TakesContent reports whether prompts and answers are sent. s may be nil.
func (s *Sending) TakesContent() bool { return s != nil && s.Content && s.Traces() }

// path returns the address of a signal.
func (s *Sending) path(kind string) string { return strings.TrimSuffix(s.URL, "/") + "/v1/" + kind }

// Target returns the name of the collector.
func (x *Sender) Target() string {
	if x.sending.URL != "" {
		return x.sending.URL
	}
	for _, name := range Endpoints {
		if address := os.Getenv(name); address != "" {
			return address
		}
	}
	return "the collector"
}

// Endpoints are the environment variables that name a collector.
var Endpoints = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"}

// Trail returns the receiver of the run's sessions; nil if traces are not sent. A nil Sender returns nil.
func (x *Sender) Trail() func(t *engine.Trail) {
	if x == nil || x.traces == nil {
		return nil
	}
	return x.traces.take
}

// Begin starts sending the metrics of the run.
func (x *Sender) Begin(snapshot func() *engine.Snapshot) {
	run := x.run
	run.Snapshot = snapshot
	x.runs.Store(&run)
}

// Close sends the rest, for some seconds at most and until hurry is closed, and returns what was sent.
func (x *Sender) Close(hurry <-chan struct{}) Sent {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	go func() {
		select {
		case <-hurry:
			cancel()
		case <-ctx.Done():
		}
	}()
	x.warned.Store(true) // the returned value includes the error
	err := x.close(ctx)
	x.mu.Lock()
	defer x.mu.Unlock()
	s := Sent{Target: x.Target(), Spans: x.sent.Load(), Rounds: x.rounds.Load(), Trouble: x.trouble}
	if s.Trouble == nil && err != nil {
		s.Trouble = err
	}
	if x.traces != nil {
		s.Sessions, s.Passed = x.traces.sessions.Load(), x.traces.passed.Load()
		s.Dropped = x.traces.spans.Load() - s.Spans
	}
	return s
}

// close ends both signals concurrently, so that one that hangs does not delay the other.
func (x *Sender) close(ctx context.Context) error {
	defer x.end()
	var both sync.WaitGroup
	var errs [2]error
	if x.figures != nil {
		both.Go(func() { errs[0] = x.figures.Shutdown(ctx) })
	}
	if x.traces != nil {
		both.Go(func() { errs[1] = x.traces.provider.Shutdown(ctx) })
	}
	both.Wait()
	return errors.Join(errs[:]...)
}

// export sends data until the sender ends. An error causes one warning and is not returned, because the SDK has no use for
// it.
func (x *Sender) export(ctx context.Context, done *atomic.Int64, n int64, send func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(x.alive, cancel)()
	err := send(ctx)
	if err == nil {
		done.Add(n)
		return
	}
	x.mu.Lock()
	x.trouble = errors.New(brief(err.Error())) // a server may respond with a page
	x.mu.Unlock()
	if x.sending.Warn != nil && !x.warned.Swap(true) {
		x.sending.Warn(fmt.Sprintf("%s does not accept metrics or traces: %s; the run continues, and Throng keeps trying", x.Target(), brief(err.Error())))
	}
}

// Sent is what a sender has sent.
type Sent struct {
	Target   string
	Rounds   int64 // exports of all metrics
	Sessions int64 // sessions with traces
	Spans    int64
	Dropped  int64 // spans that were lost because the queue was full or the collector unavailable
	Passed   int64 // failed sessions without traces, beyond the limit per second
	Trouble  error // the newest error; nil if there is none
}

// String summarizes the result in one line.
func (s Sent) String() string {
	text := fmt.Sprintf("sent to %s: metrics %s, %s spans of %s sessions", s.Target, times(s.Rounds), engine.FormatCount(s.Spans), engine.FormatCount(s.Sessions))
	if s.Passed > 0 {
		text += fmt.Sprintf("; %s more failed sessions were not traced", engine.FormatCount(s.Passed))
	}
	if s.Dropped > 0 {
		text += fmt.Sprintf("; %s spans were dropped", engine.FormatCount(s.Dropped))
	}
	if s.Trouble != nil {
		text += fmt.Sprintf("; not everything was accepted: %v", s.Trouble)
	}
	return text
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return engine.FormatCount(n) + " times"
}

// figuresOut and spansOut are exporters that count.
type figuresOut struct {
	metric.Exporter
	x *Sender
}

type spansOut struct {
	trace.SpanExporter
	x *Sender
}
