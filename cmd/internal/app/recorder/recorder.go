// Package recorder records the requests between a browser, an app or a script and a backend, as a HAR file. It is a reverse proxy
// for one backend, or a forward proxy for browsers, which decrypts only the connections to that backend.
package recorder

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/importer/exchange"
)

// Defaults of a Config.
const (
	DefaultListen       = "127.0.0.1:8899"
	DefaultMaxBody      = 1 << 20
	DefaultMaxExchanges = 10_000
	DefaultMaxFile      = 256 << 20
)

// Config says what is recorded. Target and File are required.
type Config struct {
	Listen string // address to listen on; "" is DefaultListen
	// Target is the backend. The reverse proxy sends every request to it; the forward proxy records requests to its host only.
	Target string
	// Forward makes a forward proxy instead of a reverse proxy.
	Forward bool
	// Hosts are further hosts that the forward proxy records. Others pass through it encrypted, as they are.
	Hosts []string
	// Anywhere allows addresses to listen on that other machines can reach.
	Anywhere bool
	// CAs are the CAs of the backend; nil takes those of this machine.
	CAs *x509.CertPool
	// File is the HAR to write. It must not exist. It contains all credentials that were sent, and only its owner may read it.
	File string
	// Version is the version of the program, for the HAR.
	Version string
	// OnExchange, if set, is called after each exchange was written. Calls do not overlap.
	OnExchange func(exchange.Exchange)

	MaxBody      int   // of a recorded body, in bytes; 0 is DefaultMaxBody. Longer bodies pass through whole
	MaxExchanges int   // 0 is DefaultMaxExchanges. Later requests pass through unrecorded
	MaxFile      int64 // of the HAR, in bytes; 0 is DefaultMaxFile
}

// Recorder is a running proxy.
type Recorder struct {
	cfg       Config
	target    *url.URL
	server    *http.Server
	listener  net.Listener
	transport *http.Transport
	authority *authority // of the forward proxy

	mu      sync.Mutex
	file    *os.File
	har     *exchange.HARWriter
	summary Summary
	err     error // of writing the file, the first one
}

// Summary counts what a recorder saw.
type Summary struct {
	File      string // "" once it was deleted, because nothing was recorded
	Exchanges int
	Skipped   int // requests that were not recorded, because a limit was reached
	Bytes     int64
}

// Start listens, creates the file and serves until Stop. Errors about the configuration are *engine.FieldError.
func Start(cfg Config) (*Recorder, error) {
	cfg.fill()
	target, err := parseTarget(cfg.Target)
	if err != nil {
		return nil, err
	}
	if err := checkListen(cfg.Listen, cfg.Anywhere); err != nil {
		return nil, err
	}
	r := &Recorder{cfg: cfg, target: target, transport: newTransport(cfg.CAs), summary: Summary{File: cfg.File}}
	r.listener, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", cfg.Listen)
	if err != nil {
		return nil, &engine.FieldError{Field: "listen", Problem: fmt.Sprintf("cannot listen on %s: %v", cfg.Listen, err), Hint: "choose another port, for example --listen 127.0.0.1:0"}
	}
	if err := r.open(); err != nil {
		return nil, errors.Join(err, r.listener.Close())
	}
	handler := http.Handler(r.reverse())
	if cfg.Forward {
		if handler, err = r.forward(); err != nil {
			return nil, errors.Join(err, r.listener.Close(), r.file.Close())
		}
	}
	const slow = 30 * time.Second
	r.server = &http.Server{Handler: handler, ReadHeaderTimeout: slow, ErrorLog: quiet()}
	go func() { _ = r.server.Serve(r.listener) }() // it ends when Stop closes the server
	return r, nil
}

func (c *Config) fill() {
	if c.Listen == "" {
		c.Listen = DefaultListen
	}
	if c.MaxBody == 0 {
		c.MaxBody = DefaultMaxBody
	}
	if c.MaxExchanges == 0 {
		c.MaxExchanges = DefaultMaxExchanges
	}
	if c.MaxFile == 0 {
		c.MaxFile = DefaultMaxFile
	}
}

func parseTarget(text string) (*url.URL, error) {
	wrong := func(problem string) error {
		return &engine.FieldError{Field: "target", Problem: problem, Hint: "give the URL of your backend, such as https://staging.example.com"}
	}
	if text == "" {
		return nil, wrong("the backend to record is missing")
	}
	if !strings.Contains(text, "://") {
		text = "https://" + text
		if local(text) {
			text = "http://" + strings.TrimPrefix(text, "https://")
		}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, wrong("it is not a URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, wrong(fmt.Sprintf("%q is not an HTTP address", u.Redacted()))
	case u.User != nil:
		return nil, wrong("it contains a user or a password, which belong into the login that you record")
	}
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), ""
	u.RawQuery, u.Fragment = "", ""
	return u, nil
}

// local reports whether a URL is of this machine.
func local(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// checkListen refuses addresses that other machines can reach, unless that is wanted: the proxy has no authentication.
func checkListen(address string, anywhere bool) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return &engine.FieldError{Field: "listen", Problem: fmt.Sprintf("%q is not an address with a port", address), Hint: "for example " + DefaultListen}
	}
	if ip := net.ParseIP(host); anywhere || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return &engine.FieldError{Field: "listen", Problem: fmt.Sprintf("%s can be reached from other machines", address), Hint: "listen on " + DefaultListen + ", or add --anywhere"}
}

// open creates the HAR.
func (r *Recorder) open() error {
	f, err := os.OpenFile(r.cfg.File, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &engine.FieldError{Field: "output", Problem: r.cfg.File + " exists already", Hint: "name another file, or delete it"}
	}
	if err != nil {
		return err
	}
	r.file = f
	r.har, err = exchange.NewHARWriter(&counter{w: f, n: &r.summary.Bytes}, "Throng", r.cfg.Version)
	return err
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n *int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	*c.n += int64(n)
	return n, err
}

// keep writes an exchange to the file.
func (r *Recorder) keep(e *exchange.Exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil || r.err != nil {
		return
	}
	if r.summary.Exchanges >= r.cfg.MaxExchanges || r.summary.Bytes > r.cfg.MaxFile {
		r.summary.Skipped++
		return
	}
	if r.err = r.har.Write(e); r.err != nil {
		return
	}
	r.summary.Exchanges++
	if r.cfg.OnExchange != nil {
		r.cfg.OnExchange(*e)
	}
}

// URL is the address of the proxy. For a reverse proxy, it stands for the target.
func (r *Recorder) URL() string { return "http://" + r.listener.Addr().String() }

// Target is the URL of the backend.
func (r *Recorder) Target() string { return r.target.String() }

// CACertificate returns the certificate, in PEM, that clients of the forward proxy must trust; nil for a reverse proxy. Its key
// is never stored, and it is valid for the recorded hosts and one day only.
func (r *Recorder) CACertificate() []byte {
	if r.authority == nil {
		return nil
	}
	return r.authority.pem
}

// CAHash returns the hash of the CA's public key that --ignore-certificate-errors-spki-list of Chrome takes.
func (r *Recorder) CAHash() string {
	if r.authority == nil {
		return ""
	}
	return r.authority.hash
}

// Summary returns what was recorded so far.
func (r *Recorder) Summary() Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.summary
}

// Stop ends the proxy and completes the file; without any exchange it deletes the file. Requests in flight get a moment to finish.
// A second call does nothing.
func (r *Recorder) Stop() (Summary, error) {
	const grace = 2 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := r.server.Shutdown(ctx); err != nil {
		_ = r.server.Close() // it closes what Shutdown waited for
	}
	r.transport.CloseIdleConnections()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return r.summary, r.err
	}
	if r.err == nil {
		r.err = r.har.Close()
	}
	r.err = errors.Join(r.err, r.file.Sync(), r.file.Close())
	r.file = nil
	if r.err != nil {
		return r.summary, fmt.Errorf("write %s: %w", r.cfg.File, r.err)
	}
	if r.summary.Exchanges == 0 {
		if r.err = os.Remove(r.cfg.File); r.err != nil {
			return r.summary, r.err
		}
		r.summary.File, r.summary.Bytes = "", 0
	}
	return r.summary, nil
}
