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
	readTime    = 5 * time.Second  // for a request
	writeTime   = 30 * time.Second // for its answer
	idleTime    = 2 * time.Minute  // of a connection between two scrapes
	mostHeaders = 16 << 10
	mostScrapes = 4 // at once
	closeTime   = time.Second
)

// Field is what a mistake in the address of an [Endpoint] is a mistake in.
const Field = "metrics-listen"

// Endpoint answers Prometheus. It tells of one run at a time, and keeps the last figures of one that has ended. Its
// methods are safe for concurrent use.
type Endpoint struct {
	listener net.Listener
	server   *http.Server
	version  string
	run      atomic.Pointer[Run]
	served   chan struct{} // closed when the server has ended
}

// Listen opens an endpoint on a host and port; port 0 is any that is free. An address that is none, or in use, is a
// *engine.FieldError.
func Listen(ctx context.Context, address, version string) (*Endpoint, error) {
	if err := CheckAddress(address); err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, &engine.FieldError{Field: Field, Problem: address + " is in use by another program", Hint: "another port, or 0 for any that is free"}
	case err != nil:
		return nil, &engine.FieldError{Field: Field, Problem: fmt.Sprintf("nothing can listen on %s: %v", address, err), Hint: "an address of this machine, such as 127.0.0.1:9464"}
	}
	e := &Endpoint{listener: listener, version: version, served: make(chan struct{})}
	e.server = &http.Server{
		Handler: browser.Refuse(e.handler()), ReadTimeout: readTime, ReadHeaderTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
		MaxHeaderBytes: mostHeaders, ErrorLog: log.New(io.Discard, "", 0), // what a stranger sends is no news
	}
	go func() {
		defer close(e.served)
		_ = e.server.Serve(listener) // it ends with Close
	}()
	return e, nil
}

// CheckAddress says what is wrong with an address to listen on, as a *engine.FieldError.
func CheckAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err == nil && (host == "" || host == "localhost" || net.ParseIP(strings.Split(host, "%")[0]) != nil) {
		return nil
	}
	return &engine.FieldError{Field: Field, Problem: fmt.Sprintf("%q is no address to listen on", address), Hint: "an IP address of this machine and a port, such as 127.0.0.1:9464"}
}

// Open says what it means that the endpoint can be reached from other machines; "" is that it cannot.
func (e *Endpoint) Open() string {
	if a, ok := e.listener.Addr().(*net.TCPAddr); ok && a.IP.IsLoopback() {
		return ""
	}
	return "anybody who reaches " + e.listener.Addr().String() + " can read the metrics, without a password; they change nothing. 127.0.0.1 keeps them on this machine"
}

// URL is where the metrics are.
func (e *Endpoint) URL() string { return "http://" + e.listener.Addr().String() + "/metrics" }

// Show has the endpoint tell of a run from now on.
func (e *Endpoint) Show(r *Run) { e.run.Store(r) }

// Keep has the endpoint go on telling how a run stands now, which is at its end; that of another run changes nothing.
func (e *Endpoint) Keep(r *Run) { e.run.CompareAndSwap(r, r.Kept()) }

// Close ends the endpoint. A scrape under way has a second to end.
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
