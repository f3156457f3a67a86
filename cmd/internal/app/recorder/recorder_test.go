package recorder_test

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/recorder"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/importer/exchange"
	"github.com/throng-sim/throng/engine/importer/journey"
)

func start(t *testing.T, cfg recorder.Config) *recorder.Recorder {
	t.Helper()
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	if cfg.File == "" {
		cfg.File = filepath.Join(t.TempDir(), "visit.har")
	}
	r, err := recorder.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Stop() })
	return r
}

// stop ends a recording and reads its file.
func stop(t *testing.T, r *recorder.Recorder) *exchange.Recording {
	t.Helper()
	s, err := r.Stop()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(s.File)
	if err != nil {
		t.Fatal(err)
	}
	read, err := exchange.ReadHAR(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func get(t *testing.T, client *http.Client, method, address, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// backend is a TLS server that checks that requests look as if they came without a recorder.
func backend(t *testing.T) (server *httptest.Server, cas *x509.CertPool) {
	t.Helper()
	mux := http.NewServeMux()
	server = httptest.NewUnstartedServer(mux)
	server.Config.ErrorLog = nil
	server.StartTLS()
	t.Cleanup(server.Close)
	mux.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != server.URL || r.Host != strings.TrimPrefix(server.URL, "https://") {
			http.Error(w, "origin "+origin+" of "+r.Host, http.StatusForbidden)
			return
		}
		w.Header().Add("Set-Cookie", "sid=s-1; Path=/; Secure; HttpOnly; SameSite=None; Domain=127.0.0.1")
		w.Header().Set("Location", server.URL+"/home?a=1")
		w.WriteHeader(http.StatusSeeOther)
	})
	mux.HandleFunc("/home", func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie("sid")
		if err != nil || c.Value != "s-1" {
			http.Error(w, "not signed in", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		text := `{"welcome": "` + strings.Repeat("x", 100) + `"}`
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write([]byte(text))
			_ = z.Close()
			return
		}
		_, _ = w.Write([]byte(text))
	})
	mux.HandleFunc("/big", func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%d%s", n, strings.Repeat("y", 5000))
	})
	cas = x509.NewCertPool()
	cas.AddCert(server.Certificate())
	return server, cas
}

func TestReverse(t *testing.T) {
	server, cas := backend(t)
	var seen []string
	r := start(t, recorder.Config{Target: server.URL, CAs: cas, OnExchange: func(e exchange.Exchange) { seen = append(seen, e.Method+" "+e.URL) }})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	resp, body := get(t, client, "POST", r.URL()+"/login", "user=ann", "Origin: "+r.URL(), "Content-Type: application/x-www-form-urlencoded")
	if resp.StatusCode != 200 || !strings.HasPrefix(body, `{"welcome"`) || resp.Request.URL.String() != r.URL()+"/home?a=1" {
		t.Errorf("login through the recorder: %d %s at %s", resp.StatusCode, body, resp.Request.URL)
	}
	read := stop(t, r)
	if len(read.Exchanges) != 2 || read.Partial != "" {
		t.Fatalf("recorded %+v", read)
	}
	login, home := read.Exchanges[0], read.Exchanges[1]
	if login.URL != server.URL+"/login" || login.Status != 303 || login.Request.Body != "user=ann" || login.Request.Header("Origin") != server.URL ||
		login.Response.Header("Location") != server.URL+"/home?a=1" || !strings.Contains(login.Response.Header("Set-Cookie"), "Secure") {
		t.Errorf("the login is not recorded as the backend saw it: %+v", login)
	}
	if !strings.HasPrefix(home.Response.Body, `{"welcome"`) || home.Request.Header("Cookie") != "sid=s-1" || home.Response.Header("Content-Encoding") != "gzip" {
		t.Errorf("the compressed answer: %+v", home)
	}
	if strings.Join(seen, ", ") != "POST "+server.URL+"/login, GET "+server.URL+"/home?a=1" {
		t.Errorf("seen: %v", seen)
	}
	info, err := os.Stat(r.Summary().File)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}
}

func TestForward(t *testing.T) {
	server, cas := backend(t)
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "private") }))
	defer other.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(other.URL, "https://"), ":")
	r := start(t, recorder.Config{Target: server.URL, CAs: cas, Forward: true})
	trust := x509.NewCertPool()
	if !trust.AppendCertsFromPEM(r.CACertificate()) {
		t.Fatal("no certificate of a CA")
	}
	trust.AddCert(other.Certificate())
	proxy, err := url.Parse(r.URL())
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: trust}}
	defer transport.CloseIdleConnections()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: transport, Jar: jar}
	if resp, body := get(t, client, "POST", server.URL+"/login", "", "Origin: "+server.URL); resp.StatusCode != 200 {
		t.Errorf("login through the proxy: %d %s", resp.StatusCode, body)
	}
	// Another host passes through encrypted: the client sees its own certificate, and nothing is recorded.
	transport.TLSClientConfig.ServerName = "example.com"
	if _, body := get(t, client, "GET", "https://localhost:"+port+"/", ""); body != "private" {
		t.Errorf("the other host: %q", body)
	}
	if resp, body := get(t, http.DefaultClient, "GET", r.URL()+recorder.CAPath, ""); resp.StatusCode != 200 || body != string(r.CACertificate()) {
		t.Errorf("the certificate: %d %s", resp.StatusCode, body)
	}
	read := stop(t, r)
	if len(read.Exchanges) != 2 || read.Exchanges[1].URL != server.URL+"/home?a=1" || !strings.HasPrefix(read.Exchanges[1].Response.Body, `{"welcome"`) {
		t.Errorf("recorded %+v", read.Exchanges)
	}
}

// TestAuthorityIsLimited checks that the CA of a recording cannot vouch for other hosts.
func TestAuthorityIsLimited(t *testing.T) {
	r := start(t, recorder.Config{Target: "https://staging.example.com", Forward: true})
	if hash := r.CAHash(); len(hash) != 44 {
		t.Errorf("hash of the key: %q", hash)
	}
	cert := parse(t, r.CACertificate())
	if !cert.PermittedDNSDomainsCritical || len(cert.PermittedDNSDomains) != 1 || cert.PermittedDNSDomains[0] != "staging.example.com" || !cert.MaxPathLenZero {
		t.Errorf("constraints: %+v", cert)
	}
}

func parse(t *testing.T, text []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(text)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestLimits(t *testing.T) {
	server, cas := backend(t)
	r := start(t, recorder.Config{Target: server.URL, CAs: cas, MaxBody: 1000, MaxExchanges: 2})
	for range 3 {
		if _, body := get(t, http.DefaultClient, "POST", r.URL()+"/big", strings.Repeat("z", 3000)); len(body) != 5004 {
			t.Errorf("a long body must pass whole: %d bytes", len(body))
		}
	}
	read := stop(t, r)
	s := r.Summary()
	if s.Exchanges != 2 || s.Skipped != 1 || len(read.Exchanges) != 2 || len(read.Exchanges[0].Request.Body) != 1000 || len(read.Exchanges[0].Response.Body) != 1000 {
		t.Errorf("%+v, %d exchanges", s, len(read.Exchanges))
	}
}

func TestUnfinishedFile(t *testing.T) {
	server, cas := backend(t)
	r := start(t, recorder.Config{Target: server.URL, CAs: cas})
	get(t, http.DefaultClient, "POST", r.URL()+"/big", "")
	data, err := os.ReadFile(r.Summary().File)
	if err != nil {
		t.Fatal(err)
	}
	read, err := exchange.ReadHAR(bytes.NewReader(data)) // as after a crash
	if err != nil || len(read.Exchanges) != 1 || read.Partial == "" {
		t.Errorf("%v %+v", err, read)
	}
}

func TestNoAnswer(t *testing.T) {
	r := start(t, recorder.Config{Target: "http://127.0.0.1:1"})
	if resp, body := get(t, http.DefaultClient, "GET", r.URL()+"/", ""); resp.StatusCode != 502 || !strings.Contains(body, "127.0.0.1:1 did not answer") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", r.URL()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.example"
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("another name for this machine: %d", resp.StatusCode)
	}
}

func TestConfig(t *testing.T) {
	dir := t.TempDir()
	used := filepath.Join(dir, "used.har")
	if err := os.WriteFile(used, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "a.har")
	for name, c := range map[string]struct {
		cfg  recorder.Config
		want string
	}{
		"no target":         {recorder.Config{File: file}, "missing"},
		"a password":        {recorder.Config{Target: "http://a:b@c.example", File: file}, "user or a password"},
		"another scheme":    {recorder.Config{Target: "ftp://c.example", File: file}, "not an HTTP address"},
		"open to the world": {recorder.Config{Target: "c.example", Listen: "0.0.0.0:0", File: file}, "other machines"},
		"no port":           {recorder.Config{Target: "c.example", Listen: "127.0.0.1", File: file}, "not an address with a port"},
		"existing file":     {recorder.Config{Target: "c.example", Listen: "127.0.0.1:0", File: used}, "exists already"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := recorder.Start(c.cfg)
			var field *engine.FieldError
			if !errors.As(err, &field) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a refused recording left a file")
	}
}

// TestBackendThatIsDown checks that a recording says why a request has no answer, before it and in the file.
func TestBackendThatIsDown(t *testing.T) {
	down := httptest.NewServer(http.NotFoundHandler())
	host := strings.TrimPrefix(down.URL, "http://")
	r := start(t, recorder.Config{Target: down.URL})
	if text := r.Trouble(t.Context()); text != "" {
		t.Errorf("a backend that runs: %q", text)
	}
	down.Close()
	if text := r.Trouble(t.Context()); text != host+" did not answer: connection refused" {
		t.Errorf("%q", text)
	}
	resp, text := get(t, http.DefaultClient, "GET", r.URL()+"/books", "")
	if resp.StatusCode != http.StatusBadGateway || strings.TrimSpace(text) != "Throng recorder: "+host+" did not answer: connection refused" {
		t.Errorf("%d %q", resp.StatusCode, text)
	}
	got := stop(t, r)
	if got.Exchanges[0].Status != 0 || got.Exchanges[0].Failure != "connection refused" {
		t.Errorf("recorded %+v", got.Exchanges[0])
	}
	_, err := journey.Draft([]*exchange.Recording{got}, journey.Options{})
	if want := "the recording has no answer: " + host + " did not answer: connection refused. Start the backend, and record again"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestEmptyRecordingIsNotKept checks that a recording without requests leaves no file, so that its name can be used again.
func TestEmptyRecordingIsNotKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "visit.har")
	for range 2 {
		s, err := start(t, recorder.Config{Target: "http://127.0.0.1:1", File: file}).Stop()
		if err != nil || s.File != "" {
			t.Fatalf("%+v, %v", s, err)
		}
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Error("the file stays")
		}
	}
}
