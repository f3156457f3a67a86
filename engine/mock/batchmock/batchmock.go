// Package batchmock is the batch API of the mock model, in OpenAI's wire format: files, batches, their list and their cancellation.
// Batches end after a configurable delay. Some of their answers can be errors, missing, doubled or out of order.
package batchmock

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// Config is how batches end. The zero value ends them when they are first polled, in full and in order.
type Config struct {
	// Delay is how long a batch takes.
	Delay time.Duration
	// Fractions of the requests: without an answer because the batch expires, with a server error, left out of all files, and
	// answered twice. They are drawn from the custom_id.
	Expired, Failed, Missing, Doubled float64
	// Shuffled writes the answers in another order.
	Shuffled bool
	// Full is how many batches fail because too much waits already.
	Full int
	// Window is the time in which batches are promised to end; 0 is 24 hours.
	Window time.Duration
}

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	for _, share := range []struct {
		name string
		size float64
	}{{"expired", c.Expired}, {"failed", c.Failed}, {"missing", c.Missing}, {"doubled", c.Doubled}} {
		if !(share.size >= 0 && share.size <= 1) { // NaN too
			errs = append(errs, fmt.Errorf("the fraction of %s requests in batches is %v; it must be 0 to 1", share.name, share.size))
		}
	}
	if c.Delay < 0 || c.Window < 0 {
		errs = append(errs, errors.New("a time of batches is negative; use 0 or more"))
	}
	return errors.Join(errs...)
}

// Reply is the model's answer to a request of a batch.
type Reply struct {
	Status             int
	Body               []byte
	Prompt, Completion int // tokens that are billed
}

// Server holds files and batches. It is safe for concurrent use.
type Server struct {
	cfg   Config
	now   func() time.Time
	reply func(endpoint string, body []byte) Reply

	mu      sync.Mutex
	files   map[string]*file
	added   int      // files so far
	batches []*batch // in order of creation
	full    int      // batches that failed because of Config.Full
	stats   Stats
}

// Stats are what a server has done. Tokens are those of answered requests, which a provider would bill.
type Stats struct {
	Batches, Requests              int64
	PromptTokens, CompletionTokens int64
	Most                           int // requests in the largest batch
}

// New returns a server without files. reply answers a request.
func New(cfg Config, now func() time.Time, reply func(endpoint string, body []byte) Reply) *Server {
	return &Server{cfg: cfg, now: now, reply: reply, files: map[string]*file{}}
}

// Stats returns the current counters. Batches that have ended but were not polled since then do not count yet.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Use changes how batches end that have not ended yet.
func (s *Server) Use(cfg Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cfg = cfg
}

// Problem is an error answer.
type Problem struct {
	Status  int
	Message string
}

func problem(status int, format string, args ...any) *Problem {
	return &Problem{status, fmt.Sprintf(format, args...)}
}

// Serves reports whether a path below /v1/ belongs to the batch API.
func Serves(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first == "files" || first == "batches"
}

// Do carries out a request. path follows /v1/.
func (s *Server) Do(r *http.Request, path string) ([]byte, *Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	parts := strings.Split(path, "/")
	route := r.Method + " " + parts[0]
	if len(parts) > 1 {
		route += "/{id}"
	}
	if len(parts) > 2 {
		route += "/" + strings.Join(parts[2:], "/")
	}
	id := ""
	if len(parts) > 1 {
		id = parts[1]
	}
	switch route {
	case "POST files":
		return s.upload(r)
	case "GET files/{id}":
		return s.withFile(id, func(f *file) []byte { return encode(f) })
	case "GET files/{id}/content":
		return s.withFile(id, func(f *file) []byte { return f.content })
	case "DELETE files/{id}":
		return s.withFile(id, func(f *file) []byte {
			delete(s.files, id)
			return encode(map[string]any{"id": f.ID, "object": "file", "deleted": true})
		})
	case "POST batches":
		return s.create(r)
	case "GET batches":
		return s.list(r.URL.Query())
	case "GET batches/{id}":
		return s.withBatch(id, func(*batch) {})
	case "POST batches/{id}/cancel":
		return s.withBatch(id, s.cancel)
	}
	return nil, problem(http.StatusNotFound, "Unknown request URL: %s %s", r.Method, r.URL.Path)
}

func (s *Server) withFile(id string, f func(*file) []byte) ([]byte, *Problem) {
	of := s.files[id]
	if of == nil {
		return nil, problem(http.StatusNotFound, "No such File object: %s", id)
	}
	return f(of), nil
}

func (s *Server) withBatch(id string, f func(*batch)) ([]byte, *Problem) {
	i := slices.IndexFunc(s.batches, func(b *batch) bool { return b.ID == id })
	if i < 0 {
		return nil, problem(http.StatusNotFound, "No batch found with id '%s'.", id)
	}
	b := s.batches[i]
	s.advance(b)
	f(b)
	return encode(b), nil
}

// list returns batches, newest first.
func (s *Server) list(query url.Values) ([]byte, *Problem) {
	limit := 20
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 100 {
			return nil, problem(http.StatusBadRequest, "Invalid 'limit': expected a number from 1 to 100")
		}
		limit = n
	}
	all := slices.Clone(s.batches)
	slices.Reverse(all)
	if after := query.Get("after"); after != "" {
		i := slices.IndexFunc(all, func(b *batch) bool { return b.ID == after })
		if i < 0 {
			return nil, problem(http.StatusBadRequest, "No batch found with id '%s'.", after)
		}
		all = all[i+1:]
	}
	page := all[:min(limit, len(all))]
	answer := map[string]any{"object": "list", "data": page, "has_more": len(page) < len(all)}
	for _, b := range page {
		s.advance(b)
		answer["last_id"] = b.ID
	}
	return encode(answer), nil
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and numbers, and JSON that was read before
	}
	return b
}

// drawn reports whether a request is one of a fraction.
func drawn(id, what string, share float64) bool {
	return share > 0 && draw.Key{}.Text("batch").Text(what).Text(id).Source().Float64() < share
}
