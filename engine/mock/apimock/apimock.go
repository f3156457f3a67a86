// Package apimock serves a mock of any API that an OpenAPI document describes. It keeps state: what was created can be read back, is in
// lists, can be changed and deleted. Answers fit the schemas of the document, requests are checked against it, and signing in is wanted
// where the document wants it. Latency profiles and faults are those of the mock shop.
//
// A request of an agent carries the token <secret>.<agent>, or a token that a login issued to that agent; <secret>~<agent> names an
// agent that is not signed in. Every agent has a state of its own, which begins with a few things in each list, and an answer is a
// function of the seed, the agent's earlier requests and the request. So the answers to one agent do not depend on those to others.
// Callers without a name share one state. The secret is accepted as an API key and as a password too.
package apimock

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/mock/wire"
	"github.com/throng-sim/throng/engine/openapi"
)

// Config configures a mock.
type Config struct {
	Document *openapi.Document
	// Addr is the loopback address to listen on; "" is a free port.
	Addr string
	// Secret is the first part of every token; "" draws one.
	Secret string
	// Seed decides all generated values. A log keeps its seed.
	Seed uint64
	// Log is the file that keeps changes over restarts; "" keeps them in memory only.
	Log string
	// The network is as for the mock shop, except that tokens do not expire and there is no quota.
	wire.Network
}

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	errs := []error{c.Faults.Validate()}
	if c.Addr != "" {
		errs = append(errs, wire.LoopbackOnly(c.Addr))
	}
	if c.Faults.TokenRequests > 0 || c.Faults.Quota > 0 {
		errs = append(errs, errors.New("the faults token_requests and quota are for the mock shop only; remove them"))
	}
	if !c.Profile.Known() {
		errs = append(errs, fmt.Errorf("unknown latency profile %d", c.Profile))
	}
	if strings.ContainsFunc(c.Secret, func(r rune) bool { return r <= ' ' || r > '}' }) {
		errs = append(errs, errors.New("the secret must be printable ASCII without spaces and ~"))
	}
	return errors.Join(errs...)
}

// Server is a running mock. Its methods are safe for concurrent use.
type Server struct {
	cfg      Config
	api      *api
	server   *wire.Server
	root     draw.Key
	started  time.Time
	inFlight atomic.Int64
	requests atomic.Int64
	log      *changeLog // nil without a log
	closing  sync.Once
	closeErr error

	mu    sync.Mutex // guards users
	users map[string]*user
}

// Start reads the log, if there is one, and listens.
func Start(cfg Config) (*Server, error) {
	s, err := start(cfg)
	if err != nil {
		return nil, fmt.Errorf("mock of an OpenAPI document: %w", err)
	}
	return s, nil
}

func start(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Secret == "" {
		cfg.Secret = rand.Text()
	}
	s := &Server{cfg: cfg, users: map[string]*user{}, started: time.Now(), api: newAPI(cfg.Document)}
	s.root = draw.Key{}.Text("api mock").Int(cfg.Seed)
	if cfg.Log != "" {
		var err error
		if s.log, err = openLog(cfg.Log, cfg.Seed, s.begin, s.redo); err != nil {
			return nil, err
		}
	}
	server, err := wire.Listen(cfg.Addr, s.serve)
	if err != nil {
		return nil, errors.Join(err, s.log.close())
	}
	s.server = server
	server.Run()
	return s, nil
}

// begin sets the seed that a log has.
func (s *Server) begin(seed uint64) { s.root = draw.Key{}.Text("api mock").Int(seed) }

// URL returns the address, http://127.0.0.1:PORT.
func (s *Server) URL() string { return s.server.URL() }

// Secret returns the first part of every token.
func (s *Server) Secret() string { return s.cfg.Secret }

// Requests returns the number of requests so far.
func (s *Server) Requests() int64 { return s.requests.Load() }

// Sync makes the log durable.
func (s *Server) Sync() error { return s.log.sync() }

// Close ends all requests and waits for them.
func (s *Server) Close() error {
	s.closing.Do(func() { s.closeErr = errors.Join(s.server.Close(), s.log.close()) })
	return s.closeErr
}

// user returns the state of a caller.
func (s *Server) user(name string) *user {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[name]
	if u == nil {
		u = &user{name: name, key: s.root.Text(name), collections: map[string]*collection{}, single: map[string]map[string]any{}, kept: map[string]reply{}}
		s.users[name] = u
	}
	return u
}

// reply is an answer.
type reply struct {
	status int
	header map[string]string
	body   []byte
}

// maxBody is the largest body of a request that is read.
const maxBody = 8 << 20

// serve answers one request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	concurrent := s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	faults := s.cfg.Faults
	if faults.Outage(time.Since(s.started)) {
		send(w, problem(nil, http.StatusServiceUnavailable, "The service is out of order"))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		send(w, problem(nil, http.StatusRequestEntityTooLarge, "The body is too large, or was not sent whole"))
		return
	}
	c := &call{server: s, method: r.Method, target: r.URL, header: r.Header, body: body}
	c.identify(r)
	refused, done := c.find()
	if done {
		send(w, refused)
		return
	}
	key := c.chance()
	delay := s.cfg.Profile.Delay(key)
	if capacity := int64(faults.Capacity); capacity > 0 && concurrent > capacity {
		delay = time.Duration(float64(delay) * float64(concurrent) / float64(capacity))
	}
	s.wait(r, delay)
	switch fault, after := faults.Pick(key); fault {
	case wire.FaultRateLimited:
		send(w, reply{http.StatusTooManyRequests, map[string]string{"Retry-After": "1"}, problem(nil, 429, "Too many requests").body})
	case wire.FaultServerError:
		send(w, problem(nil, http.StatusInternalServerError, "Internal server error"))
	case wire.FaultHang:
		s.wait(r, -1)
	case wire.FaultCut:
		if after {
			c.work()
		}
		panic(http.ErrAbortHandler)
	case wire.FaultBadBody:
		c.work()
		send(w, reply{http.StatusOK, nil, []byte(`{"half": `)})
	case wire.FaultNone, wire.FaultOutage:
		send(w, c.work())
	}
}

// wait waits; a negative time means until the server stops. It ends the request if its client is gone.
func (s *Server) wait(r *http.Request, d time.Duration) {
	if d == 0 {
		return
	}
	var over <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-over:
	case <-s.server.Closing():
		panic(http.ErrAbortHandler)
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
}

func send(w http.ResponseWriter, a reply) {
	h := w.Header()
	if len(a.body) > 0 {
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	for name, v := range a.header {
		h.Set(name, v)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // the client may be gone
}
