package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// issue makes a certificate that is signed by a parent or by itself, and returns it with its key as PEM.
func issue(t *testing.T, c, parent *x509.Certificate, signer *ecdsa.PrivateKey) (cert, key []byte, leaf *x509.Certificate, private *ecdsa.PrivateKey) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if parent == nil {
		parent, signer = c, private
	}
	c.SerialNumber, c.NotBefore = big.NewInt(time.Now().UnixNano()), time.Now().Add(-2*time.Hour)
	if c.NotAfter.IsZero() {
		c.NotAfter = time.Now().Add(time.Hour)
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &private.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	if leaf, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), leaf, private
}

// TestServiceWithItsOwnCertificates checks that a run reaches a backend with its own CA that requires a client certificate,
// with the key in a file or as a secret, that it ends immediately without a certificate or a CA, and that no key is stored.
func TestServiceWithItsOwnCertificates(t *testing.T) {
	ca, _, root, signer := issue(t, &x509.Certificate{Subject: pkix.Name{CommonName: "Company CA"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, nil, nil)
	serverCert, serverKey, _, _ := issue(t, &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}, root, signer)
	cert, key, _, _ := issue(t, &x509.Certificate{Subject: pkix.Name{CommonName: "client"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, root, signer)
	pair, err := tls.X509KeyPair(serverCert, serverKey)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(root)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	server.StartTLS()
	t.Cleanup(server.Close)
	t.Setenv("CLIENT_KEY", string(key))
	for _, c := range []struct {
		name, tls string
		code      int
		want      string
	}{
		{"the key in a file", "{ca: ca.pem, cert: client.pem, key: client.key}", exitDone, "finished"},
		{"the key as a secret", "{ca: ca.pem, cert: client.pem, key: secret:CLIENT_KEY}", exitDone, "finished"},
		{"no client certificate", "{ca: ca.pem}", exitFailed, "wants a client certificate"},
		{"nothing", "", exitFailed, "signed by an authority that this machine does not trust: Company CA. To do: give the file of its CA in `tls: {ca: FILE}`"},
		{"a file outside of the folder", "{ca: ../ca.pem}", exitUsage, "ca"},
		{"no certificate", "{ca: client.key}", exitUsage, "it contains no PEM certificate"},
		{"a certificate without a key", "{cert: client.pem}", exitUsage, "a client certificate without its key"},
		{"another key", "{ca: ca.pem, cert: ca.pem, key: client.key}", exitUsage, "the key does not fit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, data := t.TempDir(), filepath.Join(t.TempDir(), "data")
			extra := ""
			if c.tls != "" {
				extra = ", tls: " + c.tls
			}
			files := map[string][]byte{"ca.pem": ca, "client.pem": cert, "client.key": key, "shop.yaml": []byte("title: Shop\nclock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 2}\npopulation: {count: 12}\n" +
				"services:\n  shop: {kind: http, url: '" + server.URL + "'" + extra + "}\nchain c:\n  step a: {kind: http, service: shop, get: /x}\n  step who: {kind: emit, event: who, data: '${steps.a.body}'}\n")}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			code, out, stderr := ctl(t, "run", filepath.Join(dir, "shop.yaml"), "--data", data)
			if code != c.code || !strings.Contains(out+stderr, c.want) {
				t.Errorf("exit code %d, want %d and %q\n%s%s", code, c.code, c.want, out, stderr)
			}
			_ = filepath.WalkDir(data, func(path string, d os.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() && strings.Contains(read(t, path), strings.Split(string(key), "\n")[1]) {
					t.Errorf("%s holds the private key", path)
				}
				return err
			})
		})
	}
}

// TestResumeByHours checks that a run of cycles that is resumed with --hours has no total number of cycles.
func TestResumeByHours(t *testing.T) {
	data := t.TempDir()
	if code, out, stderr := ctl(t, "run", "shopping", "--set", "agents=5", "--cycles", "1", "--mock-latency", "none", "--data", data); code != exitDone {
		t.Fatalf("code %d\n%s%s", code, out, stderr)
	}
	if code, out, stderr := ctl(t, "resume", "--hours", "0.0001", "--data", data); code != exitDone || strings.Contains(out, "/5 done") {
		t.Fatalf("code %d\n%s%s", code, out, stderr)
	}
	_, out, _ := ctl(t, "runs", "--json", "--data", data)
	if strings.Contains(out, `"total"`) || !strings.Contains(out, `"done"`) {
		t.Errorf("an unknown total is stored:\n%s", out)
	}
	if _, out, _ = ctl(t, "runs", "--data", data); strings.Contains(out, "%)") {
		t.Errorf("a percentage of an unknown total:\n%s", out)
	}
}
