package storage

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/engine/visible"
)

// maxFile is the size in bytes up to which run.json includes a file of the scenario. The hash covers larger files too.
const maxFile = 1 << 20

// manifest is run.json.
type manifest struct {
	Run engine.RunID `json:"run"`
	titles
	Throng     string                     `json:"throng_version"`
	Scenario   scenario                   `json:"scenario"`
	Chain      string                     `json:"chain_alone,omitempty"`
	Mocked     []string                   `json:"mocked,omitempty"` // missing definitions that the mock replaced
	Parameters map[string]json.RawMessage `json:"parameters"`
	Seed       uint64                     `json:"seed"`
	Settings   engine.Settings            `json:"settings"`
	Parent     engine.RunID               `json:"parent,omitempty"`
	ForkCycle  int                        `json:"fork_cycle,omitempty"`
	Created    string                     `json:"created"`
	Ended      string                     `json:"ended,omitempty"`
	Ending     string                     `json:"ending"`
	Reason     string                     `json:"reason,omitempty"`
	Note       string                     `json:"note,omitempty"` // written by the user
	Cleaned    []engine.Cleaned           `json:"cleaned,omitempty"`
	Exact      bool                       `json:"exact"`
	Inexact    *inexact                   `json:"inexact_since,omitempty"`
	// Unconfirmed lists the first changing requests that may have been executed twice.
	Unconfirmed      []unconfirmed   `json:"unconfirmed,omitempty"`
	UnconfirmedCount int64           `json:"unconfirmed_count"`
	Cycle            int             `json:"cycle"`
	Totals           totals          `json:"totals"`
	Success          []view.Judgment `json:"success,omitempty"`
	Forecast         *forecast       `json:"forecast,omitempty"`
}

// titles are the title of a run's scenario, and the name and tags that a user gave the run.
type titles struct {
	Name  string   `json:"name,omitempty"`
	Tags  []string `json:"tags,omitempty"`
	Title string   `json:"title"`
}

type scenario struct {
	File  string            `json:"file"`
	Hash  string            `json:"hash"`
	Files map[string]string `json:"files"` // without large files and files that are not UTF-8
}

// mostUnconfirmed bounds the number of unconfirmed requests in the manifest.
const mostUnconfirmed = 1000

type unconfirmed struct {
	At      string `json:"at"`
	Cycle   int    `json:"cycle"`
	Agent   int    `json:"agent_index"`
	Take    int    `json:"take"`
	Step    string `json:"step"`
	Request string `json:"request"`
}

// list adds the requests that may have been executed twice.
func (m *manifest) list(u *engine.UnconfirmedList) {
	m.UnconfirmedCount = u.All
	for i := range u.First {
		r := &u.First[i]
		m.Unconfirmed = append(m.Unconfirmed, unconfirmed{stamp(r.At), r.Cycle, r.Agent, r.Take, r.Path, r.Request})
	}
}

type inexact struct {
	Cycle int    `json:"cycle"`
	Agent int    `json:"agent_index"`
	Step  string `json:"step"`
	Why   string `json:"why"`
}

type totals struct {
	Sessions    int64              `json:"sessions"`
	Planned     int64              `json:"planned,omitempty"`
	Outcomes    map[string]int64   `json:"outcomes"`
	Errors      map[string]int64   `json:"errors"`
	Acted       int64              `json:"acted"`
	Steps       int64              `json:"steps"`
	Requests    int64              `json:"requests"`
	Retries     int64              `json:"retries"`
	RateLimited int64              `json:"rate_limited"`
	Events      int64              `json:"events"`
	Labels      map[string]int64   `json:"labels"`
	Models      models             `json:"models"`
	LatencyMS   map[string]float64 `json:"latency_ms"`
	ServiceMS   map[string]float64 `json:"service_ms"`
	ThrottledMS map[string]float64 `json:"throttled_ms"`
	QueuedMS    map[string]float64 `json:"queued_ms"`
	Flow        flow               `json:"flow"`
	ThrottledBy map[string]float64 `json:"throttled_by_ms"` // over all requests
	ByStep      []view.Step        `json:"by_step,omitempty"`
	Spent       view.Amounts       `json:"spent"` // of the budget, by all processes
	Peaks       peaks              `json:"peaks"`
	Overhead    *view.Overhead     `json:"overhead,omitempty"`
}

// models is the usage of models.
type models struct{ engine.Usage }

// MarshalJSON writes the cost in US dollars, or null if a price is unknown. Rare counts are left out if they are 0.
func (m models) MarshalJSON() ([]byte, error) {
	var text []byte
	add := func(name, value string) { text = fmt.Appendf(text, `,"%s":%s`, name, value) }
	count := func(name string, n int64) { add(name, strconv.FormatInt(n, 10)) }
	rare := func(name string, n int64) {
		if n != 0 {
			count(name, n)
		}
	}
	count("calls", m.Calls)
	count("input_tokens", m.Input)
	rare("cached_input_tokens", m.Cached)
	rare("cache_written_input_tokens", m.Written)
	rare("cacheable_input_tokens", m.Cacheable)
	count("output_tokens", m.Output)
	add("cost_usd", cmp.Or(Dollars(&m.Usage), "null"))
	rare("unpriced_calls", m.Unpriced)
	rare("estimated_calls", m.Estimated)
	rare("contradictory_calls", m.Doubtful)
	count("cache_hits", m.Hits)
	rare("calls_again", m.Again)
	rare("batched_calls", m.Batched)
	return append(append([]byte{'{'}, text[1:]...), '}'), nil
}

// flow describes parallel execution.
type flow struct {
	ParallelSteps   int64    `json:"parallel_steps"`
	SequentialSteps int64    `json:"sequential_steps"`
	StepErrors      int64    `json:"step_errors"`
	StepTimeouts    int64    `json:"step_timeouts"`
	ParallelRate    *float64 `json:"parallel_rate"` // null, like the following, if unknown
	ChainSpeedup    *float64 `json:"chain_speedup"`
	Speedup         *float64 `json:"speedup"`
	TimeoutRate     *float64 `json:"timeout_rate"`
}

type peaks struct {
	MemoryBytes          uint64  `json:"memory_bytes,omitempty"`
	StoredBytes          int64   `json:"stored_bytes,omitempty"` // in the store
	Connections          int     `json:"db_connections"`
	ServerConnections    int     `json:"db_server_connections"`
	CycleSeconds         float64 `json:"cycle_seconds"`
	CheckpointGapSeconds float64 `json:"checkpoint_gap_seconds"`
	ElapsedSeconds       float64 `json:"elapsed_seconds"`
	LagSeconds           float64 `json:"lag_seconds"`
}

// RunJSON writes the manifest run.json: the inputs of the run, its result, and whether the result is exact. version is the
// version of Throng.
func RunJSON(ctx context.Context, w io.Writer, r Reader, run engine.RunID, version string) error {
	record, err := r.Run(ctx, run)
	if err != nil {
		return err
	}
	t, err := r.Totals(ctx, run)
	if err != nil {
		return err
	}
	doubts, err := r.Unconfirmed(ctx, run, mostUnconfirmed)
	if err != nil {
		return err
	}
	m := newManifest(&record, &t, version)
	m.list(&doubts)
	out := json.NewEncoder(visible.NewWriter(w))
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(m)
}

func newManifest(r *engine.RunRecord, t *engine.Totals, version string) manifest {
	m := manifest{
		Run: r.ID, titles: titles{r.Name, r.Tags, r.Title}, Throng: version,
		Scenario:   scenario{File: r.Source.Name, Hash: r.Source.Hash, Files: map[string]string{}},
		Chain:      r.Source.Alone(),
		Mocked:     r.Source.Mocked(),
		Parameters: map[string]json.RawMessage{},
		Seed:       r.Settings.Seed, Settings: publicSettings(r.Settings),
		Parent: r.Parent, ForkCycle: r.ForkCycle,
		Created: stamp(r.Created), Ended: stamp(r.Ended), Ending: ending(r), Reason: r.Reason, Note: r.Note, Cleaned: r.Cleaned,
		Cycle: r.Cycle, Totals: newTotals(r, t),
	}
	for name, data := range r.Source.Files {
		if len(data) <= maxFile && utf8.Valid(data) {
			m.Scenario.Files[name] = string(data)
		}
	}
	for name, text := range r.Source.Parameters {
		value := json.RawMessage(text)
		if !json.Valid(value) {
			value, _ = json.Marshal(text)
		}
		m.Parameters[name] = value
	}
	since := r.Inexact
	if since == nil {
		since = t.Inexact
	}
	m.Exact = since == nil
	if since != nil {
		m.Inexact = &inexact{since.Cycle, since.Agent, since.Path, since.Why}
	}
	if len(r.Verdict) > 0 {
		m.Success = view.NewJudgments(r.Verdict)
	}
	m.Forecast = newForecast(r, t)
	return m
}

func ending(r *engine.RunRecord) string {
	switch {
	case r.Ending != engine.NotEnded:
		return r.Ending.String()
	case r.InProgress:
		return "in progress"
	default:
		return "interrupted"
	}
}

// publicSettings returns the settings without possible secrets.
func publicSettings(s engine.Settings) engine.Settings {
	s.Services = WithoutSecrets(s.Services)
	return s
}

// WithoutSecrets removes possible secrets from addresses: the user and the query.
func WithoutSecrets(addresses map[string]string) map[string]string {
	out := make(map[string]string, len(addresses))
	for service, text := range addresses {
		if u, err := url.Parse(text); err == nil && u.Opaque == "" {
			u.User, u.RawQuery = nil, ""
			out[service] = u.String()
		} else if !strings.ContainsAny(text, "@?") { // host:port
			out[service] = text
		}
	}
	return out
}

// histogram is the part of the engine's histogram that the manifest needs.
type histogram interface {
	Count() int64
	Sum() time.Duration
	Quantile(q float64) time.Duration
	Max() time.Duration
}

func newTotals(r *engine.RunRecord, t *engine.Totals) totals {
	asked := t.SentRequests()
	out := totals{
		Sessions: t.Ended(), Planned: r.Total, Outcomes: map[string]int64{}, Errors: map[string]int64{}, Acted: t.Acted, Steps: t.Steps,
		Requests: asked.Requests, Retries: asked.Retries, RateLimited: asked.RateLimited, Events: t.Events, Labels: map[string]int64{}, ThrottledBy: map[string]float64{},
		Models:    models{asked.Usage},
		LatencyMS: summary(t.Latency()), ServiceMS: summary(&t.Service), ThrottledMS: summary(&t.Throttled), QueuedMS: summary(&t.Queue),
		Flow: flow{
			t.Flow.Parallel, t.Flow.Sequential, t.Flow.Failed, t.Flow.TimedOut,
			figure(t.Flow.Rate(t.Ended())), figure(t.Flow.Speedup()), figure(t.Speedup()), figure(t.TimeoutRate()),
		},
		ByStep: view.NewSteps(t.ByStep.Figures()),
		Spent:  newSpent(t), Overhead: view.NewOverhead(&t.Peaks.Overhead, t.Peaks.Late, r.Limit, ""),
		Peaks: peaks{
			MemoryBytes: t.Peaks.Memory, StoredBytes: t.Peaks.Stored, Connections: t.Peaks.Connections, ServerConnections: t.Peaks.ServerConnections,
			CycleSeconds: t.Peaks.Cycle.Seconds(), CheckpointGapSeconds: t.Peaks.CheckpointGap.Seconds(),
			ElapsedSeconds: t.Peaks.Elapsed.Seconds(), LagSeconds: t.Peaks.Lag.Seconds(),
		},
	}
	for o := engine.OK; o < engine.Cut; o++ {
		out.Outcomes[o.String()] = t.Outcomes[o]
	}
	for _, c := range engine.Classes() {
		if t.Errors[c] > 0 {
			out.Errors[c.String()] = t.Errors[c]
		}
	}
	for _, g := range engine.ThrottleCauses() {
		if asked.Waits[g] > 0 {
			out.ThrottledBy[g.String()] = milliseconds(asked.Waits[g])
		}
	}
	for l := engine.Fresh; l <= engine.Unconfirmed; l++ {
		out.Labels[l.String()] = asked.Labels[l]
	}
	return out
}

func newSpent(t *engine.Totals) view.Amounts {
	return view.NewSpent(t.Spent().Amount(), t.Peaks.Elapsed)
}

// figure rounds a number to three decimals; nil if it is unknown.
func figure(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	v = math.Round(v*1000) / 1000
	return &v
}

// summary returns the mean, quantiles and maximum of a histogram in milliseconds; nil if it is empty.
func summary(h histogram) map[string]float64 {
	n := h.Count()
	if n == 0 {
		return nil
	}
	return described(&engine.Quantiles{
		Count: n, Mean: h.Sum() / time.Duration(n), P50: h.Quantile(0.5), P95: h.Quantile(0.95), P99: h.Quantile(0.99), Max: h.Max(),
	})
}

// described returns durations in milliseconds; nil if there are none.
func described(q *engine.Quantiles) map[string]float64 {
	if q.Count == 0 {
		return nil
	}
	return map[string]float64{
		"mean": milliseconds(q.Mean), "p50": milliseconds(q.P50), "p95": milliseconds(q.P95), "p99": milliseconds(q.P99), "max": milliseconds(q.Max),
	}
}

// milliseconds converts a duration with a precision of 1 µs.
func milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}
