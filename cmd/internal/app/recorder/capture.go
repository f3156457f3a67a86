package recorder

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/throng-sim/throng/engine/importer/exchange"
)

// quiet is a log that prints nothing: clients see errors of single connections themselves.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func newTransport(cas *x509.CertPool) *http.Transport {
	const idle, each = 90 * time.Second, 32
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: cas, MinVersion: tls.VersionTLS12}, DisableCompression: true,
		ForceAttemptHTTP2: true, IdleConnTimeout: idle, MaxIdleConnsPerHost: each,
	}
}

// capture sends requests and records them with their answers, as the backend sees and sends them.
type capture struct{ to *Recorder }

// RoundTrip implements http.RoundTripper. An exchange is recorded when its answer was read or closed.
func (c capture) RoundTrip(req *http.Request) (*http.Response, error) {
	e := &exchange.Exchange{Start: time.Now(), Method: req.Method, URL: req.URL.String()}
	e.Request.Headers = fields(req.Header)
	e.Request.Type = req.Header.Get("Content-Type")
	sent := &limited{most: c.to.cfg.MaxBody}
	if req.Body != nil && req.Body != http.NoBody {
		req.Body = &tee{ReadCloser: req.Body, to: sent}
	}
	resp, err := c.to.transport.RoundTrip(req)
	done := func(answer *limited) {
		e.Duration = time.Since(e.Start)
		sent.fill(&e.Request, req.Header.Get("Content-Encoding"))
		if answer != nil {
			answer.fill(&e.Response, resp.Header.Get("Content-Encoding"))
		}
		c.to.keep(e)
	}
	if err != nil {
		e.Failure = reason(err)
		done(nil)
		return nil, err
	}
	e.Status = resp.StatusCode
	e.Response.Headers = fields(resp.Header)
	e.Response.Type = resp.Header.Get("Content-Type")
	if resp.StatusCode == http.StatusSwitchingProtocols {
		done(nil)
		return resp, nil
	}
	answer := &limited{most: c.to.cfg.MaxBody}
	resp.Body = &tee{ReadCloser: resp.Body, to: answer, done: sync.OnceFunc(func() { done(answer) })}
	return resp, nil
}

// hop are headers of one connection. See RFC 9110, section 7.6.1.
var hop = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Authorization", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"}

// fields lists headers by name. Those of the connection are left out.
func fields(h http.Header) []exchange.Field {
	var all []exchange.Field
	for name, values := range h {
		if slices.Contains(hop, name) {
			continue
		}
		for _, v := range values {
			all = append(all, exchange.Field{Name: name, Value: v})
		}
	}
	slices.SortStableFunc(all, func(a, b exchange.Field) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// limited keeps the beginning of a body.
type limited struct {
	mu   sync.Mutex
	data bytes.Buffer
	most int
	cut  bool
}

func (l *limited) add(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if room := l.most - l.data.Len(); len(p) > room {
		p, l.cut = p[:room], true
	}
	l.data.Write(p)
}

// fill puts the body into a message, decoded.
func (l *limited) fill(m *exchange.Message, encoding string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	body, cut := decode(l.data.Bytes(), encoding, l.most)
	m.Body, m.Cut = string(body), l.cut || cut
}

// decode decodes a body as far as it goes. An unknown encoding leaves it as it is.
func decode(data []byte, encoding string, most int) (body []byte, cut bool) {
	if len(data) == 0 {
		return data, false
	}
	for _, name := range reversed(encoding) {
		r, err := decoder(name, data)
		if err != nil || r == nil {
			return data, err != nil
		}
		out, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
		cut = cut || err != nil && !errors.Is(err, io.EOF)
		if len(out) > most {
			out, cut = out[:most], true
		}
		data = out
	}
	return data, cut
}

// reversed lists encodings in the order of decoding.
func reversed(encoding string) []string {
	var all []string
	for name := range strings.SplitSeq(strings.ToLower(encoding), ",") {
		if name = strings.TrimSpace(name); name != "" && name != "identity" {
			all = append(all, name)
		}
	}
	slices.Reverse(all)
	return all
}

func decoder(name string, data []byte) (io.Reader, error) {
	r := bytes.NewReader(data)
	switch name {
	case "gzip", "x-gzip":
		return gzip.NewReader(r)
	case "deflate": // servers send it with and without the header of zlib
		if z, err := zlib.NewReader(r); err == nil {
			return z, nil
		}
		return flate.NewReader(bytes.NewReader(data)), nil
	case "br":
		return brotli.NewReader(r), nil
	case "zstd":
		const window = 64 << 20
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(window))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return nil, nil
}

// tee copies what is read from a body. done is called at its end, or when it is closed.
type tee struct {
	io.ReadCloser
	to   *limited
	done func()
}

// Read implements io.Reader.
func (t *tee) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.to.add(p[:n])
	if err != nil && t.done != nil {
		t.done()
	}
	return n, err
}

// Close implements io.Closer.
func (t *tee) Close() error {
	if t.done != nil {
		t.done()
	}
	return t.ReadCloser.Close()
}
