package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/recorder"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/importer/exchange"
)

// recordCmd records a visit until it is stopped.
type recordCmd struct {
	Target   string   `required:"" placeholder:"URL" help:"Backend to record, such as https://staging.example.com. No other host is recorded."`
	Output   string   `short:"o" placeholder:"FILE" help:"HAR file to write (default: recording-DATE-TIME.har). Only you can read it: it contains the passwords and tokens that were sent."`
	Listen   string   `default:"127.0.0.1:8899" placeholder:"ADDR" help:"Address to listen on; port 0 picks a free port."`
	Proxy    bool     `help:"Be a forward proxy, for browsers: it decrypts connections to the target only, with a certificate of a CA made for this recording."`
	Host     []string `placeholder:"HOST" help:"With --proxy, another host to record; may be repeated."`
	CA       string   `name:"ca" placeholder:"FILE" help:"CA certificates of the target, in PEM (default: those of this machine)."`
	CAOut    string   `name:"ca-out" placeholder:"FILE" help:"With --proxy, file for the CA certificate that the browser must trust (default: recorder-ca.pem in the data folder)."`
	Anywhere bool     `help:"Allow an address that other machines can reach. They can then use the target through it."`
	jsonFlag
}

// Run is called by kong.
func (c *recordCmd) Run(ctx context.Context, t *terminal) (err error) {
	cfg := recorder.Config{
		Listen: c.Listen, Target: c.Target, Forward: c.Proxy, Hosts: c.Host, Anywhere: c.Anywhere, File: c.Output, Version: about.Number,
		OnExchange: func(e exchange.Exchange) { c.show(t, &e) },
	}
	if !c.Proxy && len(c.Host) > 0 {
		return &engine.FieldError{Field: "host", Problem: "a reverse proxy records the target only", Hint: "add --proxy"}
	}
	if c.CA != "" {
		text, err := os.ReadFile(c.CA)
		if err != nil {
			return err
		}
		cfg.CAs = x509.NewCertPool()
		if !cfg.CAs.AppendCertsFromPEM(text) {
			return &engine.FieldError{Field: "ca", Problem: c.CA + " has no certificate in PEM", Hint: "convert it: openssl x509 -inform der -in ca.cer -out ca.pem"}
		}
	}
	if cfg.File == "" {
		cfg.File = "recording-" + time.Now().Format("20060102-150405") + ".har"
	}
	r, err := recorder.Start(cfg)
	if err != nil {
		return err
	}
	defer func() {
		summary, stopErr := r.Stop()
		err = errors.Join(err, stopErr, c.finish(t, summary))
	}()
	if err := c.explain(ctx, t, r); err != nil {
		return err
	}
	<-t.signals
	return nil
}

// explain prints how to use the recorder.
func (c *recordCmd) explain(ctx context.Context, t *terminal, r *recorder.Recorder) error {
	ca := ""
	if c.Proxy {
		ca = c.CAOut
		if ca == "" {
			ca = filepath.Join(t.data, "recorder-ca.pem")
		}
		const private = 0o700
		if err := os.MkdirAll(filepath.Dir(ca), private); err != nil {
			return err
		}
		const readable = 0o644
		if err := os.WriteFile(ca, r.CACertificate(), readable); err != nil {
			return err
		}
	}
	warning := r.Trouble(ctx)
	if t.json {
		return t.line(answer.Recorder{Event: "started", URL: r.URL(), Target: r.Target(), File: r.Summary().File, CA: ca, Warning: warning})
	}
	if warning != "" {
		fmt.Fprintf(t.out, "Warning: %s. Start the backend; the recorder is ready.\n", warning)
	}
	show.Recorder(t.out, r.URL(), r.Target(), ca, r.CAHash())
	return nil
}

// show prints a recorded exchange, without its query, which may contain credentials.
func (c *recordCmd) show(t *terminal, e *exchange.Exchange) {
	u, err := url.Parse(e.URL)
	if err != nil {
		u = &url.URL{}
	}
	line := answer.Recorded{Event: "request", Method: e.Method, Host: u.Host, Path: u.EscapedPath(), Status: e.Status, MS: float64(e.Duration.Microseconds()) / 1000, Reason: e.Failure}
	if t.json {
		_ = t.line(line) // the recording is more important than its display
		return
	}
	status := fmt.Sprint(e.Status)
	if e.Status == 0 {
		status = "no answer"
		if e.Failure != "" {
			status += ": " + e.Failure
		}
	}
	fmt.Fprintf(t.out, "%-6s %s  %s\n", e.Method, line.Path, status)
}

// finish prints what was recorded, and the next command.
func (c *recordCmd) finish(t *terminal, s recorder.Summary) error {
	if t.json {
		return t.line(answer.Recording{Event: "ended", File: s.File, Requests: s.Exchanges, Skipped: s.Skipped, Bytes: s.Bytes})
	}
	show.Recording(t.out, s)
	return nil
}
