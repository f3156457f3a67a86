package telemetry

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/spans"
)

const (
	// failedEach is the number of failed sessions outside of the sample that are traced per second.
	failedEach = 10
	leastHold  = time.Millisecond // shorter throttled times have no event
	mostError  = 300              // maximum length of an error's text in bytes
)

// tracer creates the spans of sessions. Workers call it.
type tracer struct {
	x        *Sender
	provider *sdk.TracerProvider
	tracer   trace.Tracer

	sessions, spans atomic.Int64 // that were exported
	passed          atomic.Int64 // failed sessions without traces
	second, failed  atomic.Int64 // since 1970; failed sessions traced in that second
}

func newTracer(x *Sender, provider *sdk.TracerProvider) *tracer {
	return &tracer{x: x, provider: provider, tracer: provider.Tracer(scope, trace.WithInstrumentationVersion(x.sending.Version))}
}

// sampled reports whether a session is in a sample. The order of sessions does not matter.
func sampled(seed uint64, p engine.Place, share float64) bool {
	return engine.SessionKey(seed, p.Cycle, p.Agent).Text("trace").Source().Float64() < share
}

// take traces a session that ended.
func (t *tracer) take(trail *engine.Trail) {
	row := trail.Row
	why := "share"
	if !sampled(t.x.run.Seed, row.Place, t.x.sending.Share) {
		if row.Outcome != engine.Failed && row.Outcome != engine.TimedOut {
			return
		}
		if !t.mayTake(time.Now()) {
			t.passed.Add(1)
			return
		}
		why = "failed"
	}
	t.session(trail, why)
}

// mayTake reports whether another failed session may be traced in this second.
func (t *tracer) mayTake(now time.Time) bool {
	if second := now.Unix(); t.second.Swap(second) != second {
		t.failed.Store(0)
	}
	return t.failed.Add(1) <= failedEach
}

// session creates the span of a session, and below it those of its executed steps.
func (t *tracer) session(trail *engine.Trail, why string) {
	row := trail.Row
	of := spans.Trace(string(t.x.run.ID), row.Cycle, row.Agent, row.Take)
	ctx, root := t.tracer.Start(identified(context.Background(), of, "", 0), "session", trace.WithNewRoot(), trace.WithTimestamp(align(trail)), trace.WithAttributes(
		attribute.String("throng.run", string(t.x.run.ID)), attribute.Int("throng.cycle", row.Cycle), attribute.Int("throng.agent", row.Agent),
		attribute.String("throng.agent.id", t.x.name(row.Agent)), attribute.Int("throng.take", row.Take), attribute.String("throng.outcome", row.Outcome.String()),
		attribute.String("throng.traced_for", why), attribute.Float64("throng.queue_seconds", row.Queue.Seconds()),
		attribute.Float64("throng.held_seconds", row.Throttled.Seconds()), attribute.Float64("throng.service_seconds", row.Service.Seconds()),
	))
	switch row.Outcome {
	case engine.Failed, engine.TimedOut:
		root.SetAttributes(attribute.String("throng.step", engine.StepName(row.Path)), semconv.ErrorTypeKey.String(row.Class.String()))
		root.SetStatus(codes.Error, brief(row.Error))
	case engine.Stopped:
		root.SetAttributes(attribute.String("throng.because", row.Because))
	default:
	}
	if trail.Left > 0 {
		root.SetAttributes(attribute.Int("throng.untold", trail.Left))
	}
	n := t.steps(ctx, of, trail)
	root.End(trace.WithTimestamp(row.Started.Add(row.Total)))
	t.sessions.Add(1)
	t.spans.Add(n + 1)
}

// align puts all times of a trail on one clock: two clock readings may differ by as much as a step takes. It returns the
// start of the session, whose row excludes the time in which its first waiting step passed on finished sessions.
func align(trail *engine.Trail) (began time.Time) {
	base := trail.Row.Started
	began = base
	for i := range trail.Steps {
		s := &trail.Steps[i]
		s.Began, s.Ended = base.Add(s.Began.Sub(base)), base.Add(s.Ended.Sub(base))
		if s.Began.Before(began) {
			began = s.Began
		}
	}
	for i := range trail.Attempts {
		trail.Attempts[i].Began = base.Add(trail.Attempts[i].Began.Sub(base))
	}
	for i := range trail.Holds {
		trail.Holds[i].Began = base.Add(trail.Holds[i].Began.Sub(base))
	}
	return began
}

// stepSpan is a step with a span.
type stepSpan struct {
	time     *engine.StepTime
	record   *engine.StepRecord
	attempts []spans.Attempt
	holds    []engine.Hold
}

// steps creates the spans of the steps, outer ones first, and returns their number.
func (t *tracer) steps(ctx context.Context, of spans.TraceID, trail *engine.Trail) (n int64) {
	slices.SortFunc(trail.Steps, func(a, b engine.StepTime) int {
		return cmp.Or(a.Began.Compare(b.Began), len(a.Path)-len(b.Path))
	})
	all := make(map[string]*stepSpan, len(trail.Steps))
	for i := range trail.Steps {
		all[trail.Steps[i].Path] = &stepSpan{time: &trail.Steps[i]}
	}
	for i := range trail.Row.Steps {
		if s := all[trail.Row.Steps[i].Path]; s != nil {
			s.record = &trail.Row.Steps[i]
		}
	}
	step := func(path string) *stepSpan { // further calls of a step, such as rounds of tools, have a suffix
		path, _, _ = strings.Cut(path, "~")
		return all[path]
	}
	for _, a := range trail.Attempts {
		if s := step(a.Path); s != nil {
			s.attempts = append(s.attempts, a)
		}
	}
	for _, h := range trail.Holds {
		if s := step(h.Path); s != nil {
			s.holds = append(s.holds, h)
		}
	}
	inside := make(map[string]context.Context, len(all))
	for i := range trail.Steps {
		s := all[trail.Steps[i].Path]
		if s.record == nil || s.record.Status == engine.StepSkipped {
			continue // a step that ran in parallel with a discarded one
		}
		var requests int64
		inside[s.time.Path], requests = t.step(within(ctx, inside, s.time.Path), of, s)
		n += 1 + requests
	}
	return n
}

// within returns the parent of a step: the enclosing step, or the session.
func within(ctx context.Context, all map[string]context.Context, path string) context.Context {
	for i := len(path) - 1; i > 0; i-- {
		if path[i] != '.' && path[i] != '[' {
			continue
		}
		if outer := all[path[:i]]; outer != nil {
			return outer
		}
	}
	return ctx
}

// step creates the span of a step, and those of its requests that named them to the service. It returns the number of the latter.
func (t *tracer) step(ctx context.Context, of spans.TraceID, s *stepSpan) (inside context.Context, requests int64) {
	name, kind := s.name()
	ctx, span := t.tracer.Start(identified(ctx, of, s.time.Path, 0), name, trace.WithTimestamp(s.time.Began), trace.WithSpanKind(kind), trace.WithAttributes(s.attributes()...))
	if st := s.record.Status; st == engine.StepFailed || st == engine.StepTimedOut {
		span.SetAttributes(semconv.ErrorTypeKey.String(s.record.Class.String()))
		span.SetStatus(codes.Error, s.record.Class.String())
	}
	for _, h := range s.holds {
		if h.Took >= leastHold {
			span.AddEvent("throttled", trace.WithTimestamp(h.Began), trace.WithAttributes(
				attribute.String("throng.cause", h.Cause.String()), attribute.Float64("throng.seconds", h.Took.Seconds())))
		}
	}
	for i, a := range s.attempts {
		if a.Request != nil {
			t.request(ctx, &s.attempts[i], i)
			requests++
			continue
		}
		if i == 0 && len(s.attempts) == 1 && !a.Failed { // the span has the same information
			break
		}
		span.AddEvent("attempt", trace.WithTimestamp(a.Began), trace.WithAttributes(
			attribute.Int("throng.attempt", i+1), semconv.HTTPResponseStatusCodeKey.Int(a.Status),
			attribute.Float64("throng.seconds", a.Took.Seconds()), attribute.Bool("throng.failed", a.Failed)))
	}
	span.End(trace.WithTimestamp(s.time.Ended))
	return ctx, requests
}

// name returns the name of the step's span, and its kind: that of a client if it stands for its requests.
func (s *stepSpan) name() (name string, kind trace.SpanKind) {
	name = engine.StepName(s.time.Path)
	name, kind = name[strings.LastIndexByte(name, '.')+1:], trace.SpanKindInternal
	if n := len(s.attempts); n > 0 && s.attempts[n-1].Request == nil {
		kind = trace.SpanKindClient
		if m := s.attempts[n-1].Model; m != nil {
			name = m.Operation + " " + m.Name
		}
	}
	return name, kind
}

// request creates the span of a request, with the ID in its header traceparent.
func (t *tracer) request(ctx context.Context, a *spans.Attempt, resent int) {
	all := []attribute.KeyValue{
		semconv.HTTPRequestMethodKey.String(a.Request.Method), semconv.ServerAddress(a.Request.Host), attribute.String("throng.service", a.Service),
	}
	if a.Request.Port > 0 {
		all = append(all, semconv.ServerPort(a.Request.Port))
	}
	if resent > 0 {
		all = append(all, semconv.HTTPRequestResendCount(resent))
	}
	problem := "no answer"
	if a.Status > 0 {
		all, problem = append(all, semconv.HTTPResponseStatusCode(a.Status)), strconv.Itoa(a.Status)
	}
	_, span := t.tracer.Start(context.WithValue(ctx, spanKey{}, trace.SpanID(a.Request.Span)), a.Request.Method, trace.WithTimestamp(a.Began), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(all...))
	if a.Failed {
		span.SetAttributes(semconv.ErrorTypeKey.String(problem))
		span.SetStatus(codes.Error, problem)
	}
	span.End(trace.WithTimestamp(a.Began.Add(a.Took)))
}

func (s *stepSpan) attributes() []attribute.KeyValue {
	r := s.record
	all := []attribute.KeyValue{
		attribute.String("throng.step", engine.StepName(r.Path)), attribute.String("throng.step.path", r.Path), attribute.String("throng.step.kind", s.time.Kind),
		attribute.String("throng.step.status", r.Status.String()),
	}
	if r.Attempts > 0 {
		all = append(all, attribute.Int("throng.attempts", r.Attempts), attribute.String("throng.answer", r.Label.String()), attribute.Float64("throng.held_seconds", r.Throttled.Seconds()))
	}
	if n := len(s.attempts); n > 0 {
		last := &s.attempts[n-1]
		all = append(all, attribute.String("throng.service", last.Service))
		if last.Status > 0 {
			all = append(all, semconv.HTTPResponseStatusCode(last.Status))
		}
		if last.Model != nil {
			all = append(all, modelAttributes(last.Model)...)
		}
	}
	if u := r.Usage; u != nil {
		all = append(all, semconv.GenAIUsageInputTokens(int(u.Input)), semconv.GenAIUsageOutputTokens(int(u.Output)),
			semconv.GenAIUsageCacheReadInputTokens(int(u.Cached)), semconv.GenAIUsageCacheCreationInputTokens(int(u.Written)),
			attribute.Float64("throng.cost_dollars", float64(u.Cost)/1e9))
		if n := s.reasoning(); n > 0 { // most models do not reason, or do not say so
			all = append(all, semconv.GenAIUsageReasoningOutputTokens(int(n)))
		}
	}
	return all
}

// reasoning returns the output tokens of all attempts that were the model's reasoning.
func (s *stepSpan) reasoning() (n int64) {
	for i := range s.attempts {
		n += s.attempts[i].Reasoning
	}
	return n
}

// brief returns the beginning of an error's first line, without control characters.
func brief(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) > mostError {
		text = strings.ToValidUTF8(text[:mostError], "") + "…"
	}
	return text
}

// ExportSpans sends spans.
func (s spansOut) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	s.x.export(ctx, &s.x.sent, int64(len(spans)), func(ctx context.Context) error { return s.SpanExporter.ExportSpans(ctx, spans) })
	return nil
}

// Context keys of the trace and the span that are started next.
type (
	traceKey struct{}
	spanKey  struct{}
)

// identified returns a context for the span of a step, or with path "" of the session.
func identified(ctx context.Context, of spans.TraceID, path string, request int) context.Context {
	return context.WithValue(context.WithValue(ctx, traceKey{}, trace.TraceID(of)), spanKey{}, trace.SpanID(of.Span(path, request)))
}

// ids takes the IDs of traces and spans from the context. They are the same in every process.
type ids struct{}

var _ sdk.IDGenerator = ids{}

// NewIDs is part of [sdk.IDGenerator].
func (g ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	id, _ := ctx.Value(traceKey{}).(trace.TraceID)
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID is part of [sdk.IDGenerator].
func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	id, _ := ctx.Value(spanKey{}).(trace.SpanID)
	return id
}
