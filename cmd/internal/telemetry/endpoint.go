package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/browser"
)

const (
	readTime    = 5 * time.Second  // of a request
	writeTime   = 30 * time.Second // of a response
	idleTime    = 2 * time.Minute  // of a connection between two scrapes
	mostHeaders = 16 << 10
	mostScrapes = 4 // concurrent requests
	closeTime   = time.Second
)

// Field is the field of errors about the address of an [Endpoint].
const Field = "metrics-listen"

// Endpoint serves Prometheus metrics of one run, and keeps the last values of a run that has ended. Its methods are safe for
// concurrent use.
type Endpoint struct {
	listener net.Listener
	server   *http.Server
	version  string
	run      atomic.Pointer[Run]
	served   chan struct{} // closed when the server has ended
}

// Listen opens an endpoint on a host and port; port 0 chooses a free one. The error for an invalid or used address is a
// *engine.FieldError.
func Listen(ctx context.Context, address, version string) (*Endpoint, error) {
	if err := CheckAddress(address); err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, &engine.FieldError{Field: Field, Problem: address + " is in use by another program", Hint: "choose another port, or 0 for a free one"}
	case err != nil:
		return nil, &engine.FieldError{Field: Field, Problem: fmt.Sprintf("nothing can listen on %s: %v", address, err), Hint: "use an address of this machine, such as 127.0.0.1:9464"}
	}
	e := &Endpoint{listener: listener, version: version, served: make(chan struct{})}
	e.server = &http.Server{
		Handler: browser.Refuse(e.handler()), ReadTimeout: readTime, ReadHeaderTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
		MaxHeaderBytes: mostHeaders, ErrorLog: log.New(io.Discard, "", 0), // requests of strangers are not logged
	}
	go func() {
		defer close(e.served)
		_ = e.server.Serve(listener) // ends with Close
	}()
	return e, nil
}

// CheckAddress returns a *engine.FieldError if an address to listen on is invalid.
func CheckAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err == nil && (host == "" || host == "localhost" || net.ParseIP(strings.Split(host, "%")[0]) != nil) {
		return nil
	}
	return &engine.FieldError{Field: Field, Problem: fmt.Sprintf("%q is not an address to listen on", address), Hint: "use an IP address of this machine and a port, such as 127.0.0.1:9464"}
}

// Open returns a warning if the endpoint can be reached from other machines; otherwise "".
func (e *Endpoint) Open() string {
	if a, ok := e.listener.Addr().(*net.TCPAddr); ok && a.IP.IsLoopback() {
		return ""
	}
	return "anyone who reaches " + e.listener.Addr().String() + " can read the metrics without a password. Listen on 127.0.0.1 to keep them on this machine"
}

// URL returns the address of the metrics.
func (e *Endpoint) URL() string { return "http://" + e.listener.Addr().String() + "/metrics" }

// Show makes the endpoint serve a run.
func (e *Endpoint) Show(r *Run) { e.run.Store(r) }

// Keep makes the endpoint serve the current values of a run from now on, at the end of the run. It ignores other runs.
func (e *Endpoint) Keep(r *Run) { e.run.CompareAndSwap(r, r.Kept()) }

// Close ends the endpoint. A scrape in progress has 1 s to end.
func (e *Endpoint) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := e.server.Shutdown(ctx); err != nil {
		_ = e.server.Close()
	}
	<-e.served
	return nil
}

func (e *Endpoint) handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		newCollector(func() *view { return look(e.version, e.run.Load()) }),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: mostScrapes, EnableOpenMetrics: true,
	})
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "Throng "+e.version+"\nmetrics for Prometheus: /metrics\n")
	})
	return mux
}
