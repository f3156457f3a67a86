package main

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zalando/go-keyring"
)

// TestCheckLogsIn checks that `throngctl check` asks a service for a token as a run would, and explains a refusal without the secret.
func TestCheckLogsIn(t *testing.T) {
	keyring.MockInit()
	const password = "hunter2-canary-77"
	var logins []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/auth/login" {
			return
		}
		body, _ := io.ReadAll(r.Body)
		logins = append(logins, string(body))
		if !strings.Contains(string(body), password) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprintf(w, "no: %s", body)
			return
		}
		_, _ = io.WriteString(w, `{"access_token": "tok-canary-77"}`)
	}))
	t.Cleanup(server.Close)
	file := scenarioFile(t, `title: Shop
population: {count: 3, id: 'buyer-${agent.index}'}
services:
  shop: {kind: http, url: "`+server.URL+`", auth: {login: {post: /auth/login, json: {user: "${agent.id}", password: secret:SHOP_PASSWORD}, token: body.access_token}}}
chain c: {step a: {kind: http, service: shop, get: /x}}
`)
	data := t.TempDir()
	t.Setenv("SHOP_PASSWORD", password)
	code, out, stderr := ctl(t, "check", file, "--data", data)
	if code != exitDone || !strings.Contains(out, "logged in as buyer-0 (POST /auth/login: 200 OK in ") || !strings.Contains(out, "answered 200 OK") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	if len(logins) != 1 || logins[0] != `{"user":"buyer-0","password":"`+password+`"}` {
		t.Errorf("sent %q", logins)
	}
	t.Setenv("SHOP_PASSWORD", "stale-canary-77")
	code, refused, stderr := ctl(t, "check", file, "--data", data)
	if code != exitFailed {
		t.Errorf("a refusal: exit code %d\n%s%s", code, refused, stderr)
	}
	for _, want := range []string{
		"the login of buyer-0 failed: status 403: ", "sent to 127.0.0.1:", `: POST /auth/login {"user":"buyer-0","password":"…"}, with the secret SHOP_PASSWORD`,
		"> check the secret SHOP_PASSWORD and the user in `login` of the scenario",
	} {
		if !strings.Contains(refused, want) {
			t.Errorf("%q is missing in\n%s", want, refused)
		}
	}
	code, asJSON, stderr := ctl(t, "check", file, "--data", data, "--json")
	if code != exitFailed || !json.Valid([]byte(asJSON)) || !strings.Contains(asJSON, "the login of buyer-0 failed: status 403") {
		t.Errorf("exit code %d\n%s%s", code, asJSON, stderr)
	}
	if strings.Contains(out+refused+asJSON, "canary") {
		t.Errorf("a secret is printed:\n%s\n%s\n%s", out, refused, asJSON)
	}
}

// pki is a certificate authority with the files that users of a private backend get.
type pki struct {
	ca, cert, key []byte
	root          *x509.Certificate
	server        func(t *testing.T, c *x509.Certificate, ask tls.ClientAuthType) string // starts one, with a certificate
}

func newPKI(t *testing.T) *pki {
	t.Helper()
	ca, _, root, signer := issue(t, &x509.Certificate{Subject: pkix.Name{CommonName: "Company CA"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, nil, nil)
	cert, key, _, _ := issue(t, &x509.Certificate{Subject: pkix.Name{CommonName: "client"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, root, signer)
	pool := x509.NewCertPool()
	pool.AddCert(root)
	return &pki{ca, cert, key, root, func(t *testing.T, c *x509.Certificate, ask tls.ClientAuthType) string {
		t.Helper()
		serverCert, serverKey, _, _ := issue(t, c, root, signer)
		pair, err := tls.X509KeyPair(serverCert, serverKey)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/models") {
				_, _ = io.WriteString(w, `{"data": [{"id": "m"}]}`)
			}
		}))
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: ask, ClientCAs: pool}
		server.StartTLS()
		t.Cleanup(server.Close)
		return server.URL
	}}
}

// folder makes a folder with the files, and a scenario with a service at an address.
func (p *pki) folder(t *testing.T, service string) (file string) {
	t.Helper()
	dir := t.TempDir()
	kind := "http"
	step := "{kind: http, service: api, get: /x}"
	if strings.Contains(service, "model:") {
		kind, step = "llm", "{kind: llm, service: api, prompt: hello}"
	}
	files := map[string]string{
		"ca.pem": string(p.ca), "client.pem": string(p.cert), "client.key": string(p.key),
		"shop.yaml": "title: Shop\nclock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 1}\npopulation: {count: 2}\nservices:\n  api:\n    kind: " + kind +
			"\n    " + strings.ReplaceAll(service, "\n", "\n    ") + "\nchain c:\n  step a: " + step + "\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "shop.yaml")
}

// TestCheckOverTLS checks that a check trusts the CA and sends the client certificate of the scenario, and explains why a
// connection fails and what to change, also for a model service.
func TestCheckOverTLS(t *testing.T) {
	keyring.MockInit()
	p := newPKI(t)
	here := func() *x509.Certificate { return &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}} }
	good := p.server(t, here(), tls.NoClientCert)
	elsewhere := p.server(t, &x509.Certificate{DNSNames: []string{"shop.example.com"}}, tls.NoClientCert)
	expired := here()
	expired.NotAfter = time.Now().Add(-time.Hour)
	old := p.server(t, expired, tls.NoClientCert)
	mutual := p.server(t, here(), tls.RequireAndVerifyClientCert)
	t.Setenv("CLIENT_KEY", string(p.key))
	const ca, both = "tls: {ca: ca.pem}", "tls: {ca: ca.pem, cert: client.pem, key: client.key}"
	for _, c := range []struct {
		name, url, more, want, todo string
	}{
		{"its own CA", good, ca, "answered 200 OK", ""},
		{"an unknown CA", good, "", "is signed by an authority that this machine does not trust: Company CA", "give the file of its CA in `tls: {ca: FILE}` of the service api"},
		{"another name", elsewhere, ca, "is for another name: shop.example.com", "use a name of the certificate in `url`"},
		{"expired", old, ca, "expired on ", "have it renewed on the server"},
		{"a client certificate", mutual, both, "answered 200 OK", ""},
		{"a client certificate, its key a secret", mutual, "tls: {ca: ca.pem, cert: client.pem, key: secret:CLIENT_KEY}", "answered 200 OK", ""},
		{"a client certificate with a token", mutual, both + "\nauth: {bearer: secret:CLIENT_KEY_ID}", "answered 200 OK", ""},
		{"no client certificate", mutual, ca, "wants a client certificate: certificate required", "`tls: {cert: FILE, key: FILE}` of the service api"},
		{"plain HTTP", strings.Replace(refusingURL(t), "http:", "https:", 1), ca, "answers with plain HTTP, not with TLS", "write http:// in `url`"},
		{"models, their own CA", good, ca + "\nmodel: m", "has m, of 1 model", ""},
		{"models, an unknown CA", good, "model: m", "does not trust: Company CA", "`tls: {ca: FILE}`"},
		{"models, a client certificate", mutual, both + "\nmodel: m", "has m, of 1 model", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("CLIENT_KEY_ID", "id-4711-4711")
			file := p.folder(t, "url: "+c.url+"\n"+c.more)
			code, out, stderr := ctl(t, "check", file, "--data", t.TempDir())
			want := exitDone
			if c.todo != "" {
				want = exitFailed
			}
			if code != want || !strings.Contains(out, c.want) || c.todo != "" && !strings.Contains(out, "> "+c.todo) && !strings.Contains(out, c.todo) {
				t.Errorf("exit code %d, want %d with %q and %q\n%s%s", code, want, c.want, c.todo, out, stderr)
			}
		})
	}
}

func refusingURL(t *testing.T) string {
	url, _ := refusing(t)
	return url
}

// TestCertificatesAreValidated checks that files of `tls` are read from the scenario's folder, wherever the command is run,
// and that `validate` reports unusable ones with the line and what to do.
func TestCertificatesAreValidated(t *testing.T) {
	keyring.MockInit()
	p := newPKI(t)
	mutual := p.server(t, &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}, tls.RequireAndVerifyClientCert)
	for _, c := range []struct {
		name, tls, want, todo string // want begins with line and column
	}{
		{"all is there", "ca: certs/ca.pem\n  cert: client.pem\n  key: client.key", "", ""},
		{"no CA", "ca: company.pem", "shop.yaml:9:11: there is no file company.pem", "a PEM file in the scenario's folder"},
		{"no certificate", "cert: me.pem\n  key: client.key", "shop.yaml:9:13: there is no file me.pem", "a PEM file in the scenario's folder"},
		{"no key", "cert: client.pem\n  key: me.key", "shop.yaml:10:12: there is no file me.key", "secret:NAME"},
		{"a folder", "cert: client.pem\n  key: certs", "shop.yaml:10:12: certs is not a file", "secret:NAME"},
		{"elsewhere", "ca: ../ca.pem", "shop.yaml:9:11: ../ca.pem: path escapes", "a PEM file in the scenario's folder"},
		{"PKCS 12", "ca: store.p12", "shop.yaml:9:11: store.p12: it contains no PEM certificate", "openssl pkcs12 -in store.p12"},
		{"DER", "ca: ca.der", "shop.yaml:9:11: ca.der: it contains no PEM certificate", "openssl x509 -inform der -in ca.der"},
		{"an encrypted key", "cert: client.pem\n  key: locked.key", "shop.yaml:10:12: locked.key: the key is encrypted", "openssl pkey -in"},
		{"the key of another certificate", "cert: ca.pem\n  key: client.key", "shop.yaml:10:12: client.key: the key does not fit", "belongs to the certificate"},
		{"a certificate as the key", "cert: client.pem\n  key: client.pem", "shop.yaml:10:12: client.pem: the key does not fit", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := p.folder(t, "url: "+mutual+"\ntls:\n  "+c.tls)
			dir, data := filepath.Dir(file), t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "certs"), 0o700); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{
				"certs/ca.pem": string(p.ca), "store.p12": "\x30\x82\x04", "ca.der": "\x30\x82\x04",
				"locked.key": "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(t.TempDir()) // the scenario is in another folder
			code, out, stderr := ctl(t, "validate", file, "--data", data)
			if c.want == "" {
				if code != exitDone {
					t.Fatalf("exit code %d\n%s%s", code, out, stderr)
				}
				t.Chdir(dir)
				if code, out, stderr = ctl(t, "run", "shop.yaml", "--data", data); code != exitDone {
					t.Errorf("exit code %d\n%s%s", code, out, stderr)
				}
				t.Chdir(t.TempDir()) // the place of the key is stored
				if code, out, stderr = ctl(t, "resume", "--cycles", "2", "--data", data); code != exitDone {
					t.Errorf("resumed from another folder: exit code %d\n%s%s", code, out, stderr)
				}
				return
			}
			if code != exitUsage || !strings.Contains(stderr, c.want) || !strings.Contains(stderr, c.todo) {
				t.Errorf("exit code %d, want %q and %q\n%s%s", code, c.want, c.todo, out, stderr)
			}
		})
	}
}
