package mock

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// ModelConfig says how a model server starts. The zero value is one on a free port with a random key, no latency, no
// faults and no quota.
type ModelConfig struct {
	// Addr is where to listen; "" is 127.0.0.1:0. Anything but a loopback address is refused.
	Addr string
	// Secret is the key, sent as "Bearer <secret>" or "Bearer <secret>.<user id>"; "" draws one. It holds no spaces.
	Secret string
	// Seed is the seed of requests that name none, and of faults and latency.
	Seed uint64
	// Models are the names it answers to, each for chat and for embeddings; nil is mock-1 and mock-2.
	Models []string
	// Profile is the latency of every answer, to which each token of the answer adds.
	Profile Profile
	// Faults are the shares of requests that go wrong.
	Faults Faults
	// RequestsPerMinute and TokensPerMinute are the quota of all callers together; 0 is unlimited. No header lifts it.
	RequestsPerMinute, TokensPerMinute int
	// OnRequest, when set, is called before the answer of a request leaves, or before it is cut or held. It holds no
	// lock, may block, and Close waits for it.
	OnRequest func(Request)
}

// Validate says what is wrong with c, all of it.
func (c ModelConfig) Validate() error {
	errs := []error{checkHost(c.Addr, c.Secret, weather{c.Profile, c.Faults})}
	if c.RequestsPerMinute < 0 || c.TokensPerMinute < 0 {
		errs = append(errs, errors.New("a quota per minute cannot be below 0, which is unlimited"))
	}
	if slices.Contains(c.Models, "") {
		errs = append(errs, errors.New("a model needs a name"))
	}
	return errors.Join(errs...)
}

// Model is a model server that listens. Its methods may be called from anywhere.
type Model struct {
	host
	cfg     ModelConfig
	root    draw.Key // of faults and latency
	quota   *quota
	schemas schemas
	// wait spends the latency of a call; tests replace it.
	wait func(*call, time.Duration)

	calls                        atomic.Int64 // without X-Throng-Request
	promptTokens, completeTokens atomic.Int64

	closing  sync.Once
	closeErr error
}

// StartModel listens.
func StartModel(cfg ModelConfig) (*Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("mock model: %w", err)
	}
	if cfg.Secret == "" {
		cfg.Secret = rand.Text()
	}
	m := buildModel(cfg, time.Now)
	if err := m.listen(); err != nil {
		return nil, err
	}
	return m, nil
}

// buildModel makes the server without a listener.
func buildModel(cfg ModelConfig, clock func() time.Time) *Model {
	if len(cfg.Models) == 0 {
		cfg.Models = []string{"mock-1", "mock-2"}
	}
	m := &Model{
		host:  host{clock: clock, started: clock(), onRequest: cfg.OnRequest},
		cfg:   cfg,
		root:  draw.Key{}.Text("rehearsal model").Int(cfg.Seed),
		quota: newQuota(cfg.RequestsPerMinute, cfg.TokensPerMinute, clock()),
		wait:  (*call).pause,
	}
	m.weather.Store(&weather{cfg.Profile, cfg.Faults})
	return m
}

func (m *Model) listen() error {
	server, err := listen(m.cfg.Addr, func(w http.ResponseWriter, r *http.Request) { m.serve(w, r) })
	if err != nil {
		return fmt.Errorf("mock model: %w", err)
	}
	m.server = server
	server.run()
	return nil
}

// URL is the base address that clients of this wire format want, http://127.0.0.1:PORT/v1.
func (m *Model) URL() string { return m.server.url() + "/v1" }

// Secret is the key.
func (m *Model) Secret() string { return m.cfg.Secret }

// Models are the names it answers to.
func (m *Model) Models() []string { return slices.Clone(m.cfg.Models) }

// Close ends every request at once, those that hang too, and waits until nothing of the server runs. A second call
// does nothing more and returns the same.
func (m *Model) Close() error {
	m.closing.Do(func() { m.closeErr = m.server.close() })
	return m.closeErr
}

// ModelStats are figures of a model server since its start.
type ModelStats struct {
	// Requests that arrived; each ends in a status, or in a hang or a cut.
	Requests int64
	// Statuses counts the answers by status.
	Statuses map[int]int64
	// Faults counts the requests that went wrong on purpose.
	Faults map[Fault]int64
	// PromptTokens and CompletionTokens are those of answers that left, or began to.
	PromptTokens, CompletionTokens int64
}

// Stats returns the figures as they are now.
func (m *Model) Stats() ModelStats {
	return ModelStats{
		Requests:         m.count.requests.Load(),
		Statuses:         m.count.byStatus(),
		Faults:           m.count.byFault(),
		PromptTokens:     m.promptTokens.Load(),
		CompletionTokens: m.completeTokens.Load(),
	}
}
