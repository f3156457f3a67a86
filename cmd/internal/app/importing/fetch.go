// Package importing makes scenarios from files and addresses: it finds and reads the source, writes the files, and keeps the
// secrets of a recording in the keychain.
package importing

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service"
)

const (
	// mostFetched limits a document from an address, in bytes.
	mostFetched = 64 << 20
	// fetchTimeout limits one request.
	fetchTimeout = 20 * time.Second
	mostHops     = 5
)

// places are where servers usually have their OpenAPI document: FastAPI, ASP.NET, springdoc, springfox, NestJS, Django REST
// framework, Quarkus, Express with swagger-ui, and others.
var places = []string{
	"openapi.json", "openapi.yaml", "swagger.json", "swagger/v1/swagger.json", "v3/api-docs", "v2/api-docs", "api-docs", "api-docs.json", "api-json",
	"api/openapi.json", "api/swagger.json", "api/schema/?format=json", "docs/openapi.json", "api/v1/openapi.json", "q/openapi?format=json",
	"swagger.yaml", "openapi.yml", "api/docs/openapi.json", ".well-known/openapi.json",
}

// Fetcher reads documents from addresses. It follows redirects to the same host only.
type Fetcher struct {
	CA    []byte                 // PEM certificates to trust instead of the system's; nil for those
	Is    func(text []byte) bool // whether a text is a document that can be imported
	Other func(host string) bool // whether another host may be asked; nil for none
}

// Find reads the document at an address or, if that has none, at one of the usual places below it. at is where it was found.
func (f Fetcher) Find(ctx context.Context, address string) (text []byte, at string, err error) {
	base, err := parseAddress(address)
	if err != nil {
		return nil, "", err
	}
	client, err := f.client(base.Host)
	if err != nil {
		return nil, "", err
	}
	first, err := get(ctx, client, base.String())
	switch {
	case err == nil && f.Is(first):
		return first, base.String(), nil
	case err != nil && !isStatus(err):
		return nil, "", unreachable(base, err)
	}
	roots := []*url.URL{base}
	if top := (&url.URL{Scheme: base.Scheme, Host: base.Host, Path: "/"}); strings.Trim(base.Path, "/") != "" {
		roots = append(roots, top)
	}
	for _, root := range roots {
		root.RawQuery = ""
		for _, place := range places {
			at := strings.TrimRight(root.String(), "/") + "/" + place
			text, err := get(ctx, client, at)
			if err == nil && f.Is(text) {
				return text, at, nil
			}
			if ctx.Err() != nil {
				return nil, "", context.Cause(ctx)
			}
		}
	}
	return nil, "", &NotFoundError{base.Redacted()}
}

// Get reads the document at an address of an allowed host, for references from another document.
func (f Fetcher) Get(ctx context.Context, address string) ([]byte, error) {
	u, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	if f.Other == nil || !f.Other(u.Host) {
		return nil, &engine.FieldError{Field: "import", Problem: "the document refers to " + u.Redacted(), Hint: "add --allow " + u.Host + " to read it from there"}
	}
	client, err := f.client(u.Host)
	if err != nil {
		return nil, err
	}
	return get(ctx, client, u.String())
}

// NotFoundError says that a server has no OpenAPI document at the usual places.
type NotFoundError struct{ Address string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("%s has no OpenAPI document, and none is at the usual places below it (%s and others); "+
		"import the document's own address or a file, or record requests instead: throngctl record --target %s", e.Address, strings.Join(places[:3], ", "), e.Address)
}

// statusError is a response that is not 200.
type statusError struct {
	address string
	status  int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s answers %d %s", e.address, e.status, http.StatusText(e.status))
}

func isStatus(err error) bool {
	_, ok := errors.AsType[*statusError](err)
	return ok
}

func unreachable(u *url.URL, err error) error {
	err = service.Plain(err)
	hint := "check that it is running, and the address"
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		hint = "trust its CA with --ca FILE"
	}
	return &engine.FieldError{Field: "import", Problem: fmt.Sprintf("%s cannot be reached: %v", u.Redacted(), err), Hint: hint}
}

// parseAddress parses an address. Its errors do not repeat a password.
func parseAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, &engine.FieldError{Field: "import", Problem: "the address cannot be read", Hint: "it begins with http:// or https:// and a host"}
	}
	if u.User != nil {
		return nil, &engine.FieldError{Field: "import", Problem: "an address must not contain a password", Hint: "save the document as a file, and import that"}
	}
	u.Fragment = ""
	return u, nil
}

// client returns a client that stays at a host.
func (f Fetcher) client(host string) (*http.Client, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: fetchTimeout, DisableKeepAlives: true}
	if f.CA != nil {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(f.CA) {
			return nil, &engine.FieldError{Field: "--ca", Problem: "the file contains no PEM certificate"}
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: transport, Timeout: fetchTimeout, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		switch {
		case r.URL.Host != host:
			return fmt.Errorf("it redirects to another host, %s, which was not asked", r.URL.Host)
		case len(via) >= mostHops:
			return errors.New("it redirects without end")
		}
		return nil
	}}, nil
}

func get(ctx context.Context, client *http.Client, address string) (text []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json, application/yaml, text/yaml, */*;q=0.5")
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode != http.StatusOK {
		return nil, &statusError{r.URL.Redacted(), answer.StatusCode}
	}
	text, err = io.ReadAll(io.LimitReader(answer.Body, mostFetched+1))
	if err == nil && len(text) > mostFetched {
		return nil, fmt.Errorf("%s has more than %d MB", r.URL.Redacted(), mostFetched>>20)
	}
	return text, err
}
