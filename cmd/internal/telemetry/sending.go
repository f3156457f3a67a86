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
	metricsEvery = 10 * time.Second // unless OTEL_METRIC_EXPORT_INTERVAL says otherwise
	flushTime    = 5 * time.Second  // for what is not sent at the end
)

// How often a collector that cannot be reached is tried again.
const (
	firstRetry = time.Second
	lastRetry  = 5 * time.Second
	retryTime  = 20 * time.Second
)

// Sending is where figures and traces are sent, by OTLP over HTTP. What it does not say the OTEL_* variables of the
// environment do.
type Sending struct {
	URL     string            // of the collector, to which v1/metrics and v1/traces are added; "" is that of the environment
	Headers map[string]string // nil are those of the environment
	// Share is that of the sessions whose traces are sent. Those that failed are sent beside them, some a second; with 0
	// no traces are.
	Share   float64
	Version string            // of the program
	Warn    func(text string) // is told once that the collector does not take what is sent; nil tells nobody
}

// Sender sends what a run gives. It never waits for the collector but in Close.
type Sender struct {
	sending Sending
	run     Run
	name    func(agent int) string
	traces  *tracer // nil sends none
	figures *metric.MeterProvider
	runs    atomic.Pointer[Run] // whose figures are sent; nil before it began

	alive  context.Context // of what is under way; ends a while after Close was called
	end    context.CancelFunc
	sent   atomic.Int64 // spans
	rounds atomic.Int64 // of figures
	warned atomic.Bool

	mu      sync.Mutex
	trouble error // the newest; nil is none
}

// CheckURL says what is wrong with the address of a collector, as a *engine.FieldError.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	problem := ""
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		problem = "is no address of a collector"
	case u.User != nil || u.RawQuery != "":
		problem = "has more in it than scheme, host, port and path"
	default:
		return nil
	}
	return &engine.FieldError{Field: "otlp", Problem: problem, Hint: "such as http://127.0.0.1:4318; what signs in belongs into OTEL_EXPORTER_OTLP_HEADERS"}
}

// NewSender prepares to send what a run gives; name says what an agent is called. The caller must Close it.
func NewSender(s Sending, run Run, name func(agent int) string) (*Sender, error) {
	x := &Sender{sending: s, run: run, name: name}
	x.alive, x.end = context.WithCancel(context.Background())
	about, err := resource.New(context.Background(), resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", serviceName), attribute.String("service.version", s.Version), attribute.String("service.instance.id", string(run.ID)),
		attribute.String("throng.run", string(run.ID)), attribute.String("throng.scenario", run.Title),
	), resource.WithFromEnv()) // the environment may call it otherwise
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("what OTEL_RESOURCE_ATTRIBUTES says: %w", err)
	}
	if s.wants("METRICS") {
		if err := x.openFigures(about); err != nil {
			return nil, err
		}
	}
	if s.Share > 0 && s.wants("TRACES") {
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
		return fmt.Errorf("open the way for metrics to %s: %w", x.Target(), err)
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
		return fmt.Errorf("open the way for traces to %s: %w", x.Target(), err)
	}
	x.traces = newTracer(x, trace.NewTracerProvider(
		trace.WithResource(about), trace.WithSampler(trace.AlwaysSample()), trace.WithIDGenerator(ids{}), trace.WithBatcher(spansOut{exporter, x}),
	))
	return nil
}

// wants reports whether one kind of what can be sent is to be. The libraries would send what the environment names no
// collector for to this machine.
func (s *Sending) wants(kind string) bool {
	named := s.URL != "" || os.Getenv(Endpoints[0]) != "" || os.Getenv("OTEL_EXPORTER_OTLP_"+kind+"_ENDPOINT") != ""
	return named && os.Getenv("OTEL_"+kind+"_EXPORTER") != "none"
}

// path is where one kind of what is sent goes.
func (s *Sending) path(kind string) string { return strings.TrimSuffix(s.URL, "/") + "/v1/" + kind }

// Target names the collector.
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

// Endpoints are the variables of the environment any of which names a collector.
var Endpoints = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"}

// Trail is what hears of the run's sessions; nil where no traces are sent, as by a nil Sender.
func (x *Sender) Trail() func(t *engine.Trail) {
	if x == nil || x.traces == nil {
		return nil
	}
	return x.traces.take
}

// Begin has the figures of the run sent from now on.
func (x *Sender) Begin(snapshot func() *engine.Snapshot) {
	run := x.run
	run.Snapshot = snapshot
	x.runs.Store(&run)
}

// Close sends what is not sent yet, for some seconds at most and until hurry is closed, and says what became of all.
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
	x.warned.Store(true) // what is returned says it all
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

// close ends both ways at once: one that hangs takes nothing of the other's time.
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

// carry sends something, with an end where the sender has ended. Trouble is told once, and is no error: whoever would hear
// of it has nobody to tell.
func (x *Sender) carry(ctx context.Context, done *atomic.Int64, n int64, send func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(x.alive, cancel)()
	err := send(ctx)
	if err == nil {
		done.Add(n)
		return
	}
	x.mu.Lock()
	x.trouble = errors.New(brief(err.Error())) // a server may answer with a whole page
	x.mu.Unlock()
	if x.sending.Warn != nil && !x.warned.Swap(true) {
		x.sending.Warn(fmt.Sprintf("%s does not take metrics or traces: %s; the run goes on, and so does trying", x.Target(), brief(err.Error())))
	}
}

// Sent is what a sender has sent.
type Sent struct {
	Target   string
	Rounds   int64 // of all figures
	Sessions int64 // whose traces were to be sent
	Spans    int64
	Dropped  int64 // spans that did not get there: the queue was full, or the collector away
	Passed   int64 // sessions that failed and were not traced, since more did in a second than are
	Trouble  error // the newest; nil is none
}

// String says it in a line.
func (s Sent) String() string {
	text := fmt.Sprintf("sent to %s: metrics %s, %s spans of %s sessions", s.Target, times(s.Rounds), engine.FormatCount(s.Spans), engine.FormatCount(s.Sessions))
	if s.Passed > 0 {
		text += fmt.Sprintf("; %s more that failed were not traced", engine.FormatCount(s.Passed))
	}
	if s.Dropped > 0 {
		text += fmt.Sprintf("; %s spans were dropped", engine.FormatCount(s.Dropped))
	}
	if s.Trouble != nil {
		text += fmt.Sprintf("; not all was taken: %v", s.Trouble)
	}
	return text
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return engine.FormatCount(n) + " times"
}

// figuresOut and spansOut are the exporters of the library, counted.
type figuresOut struct {
	metric.Exporter
	x *Sender
}

type spansOut struct {
	trace.SpanExporter
	x *Sender
}
