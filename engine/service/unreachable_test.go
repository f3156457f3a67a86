package service

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	made := a.sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "Our own CA"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, time.Hour)
	a.cert, a.key = made.Leaf, made.PrivateKey.(*ecdsa.PrivateKey)
	return a
}

// sign creates a certificate; the first of an authority is its own.
func (a *authority) sign(t *testing.T, c *x509.Certificate, valid time.Duration) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-2*time.Hour), time.Now().Add(valid)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// serving answers over TLS, with a certificate for 127.0.0.1 or for another name.
func serving(t *testing.T, c *tls.Config) string {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = c
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

func local() *x509.Certificate {
	return &x509.Certificate{Subject: pkix.Name{CommonName: "shop"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
}

// TestConnectionsThatCannotHeal checks that each permanent connection error is reported at the first attempt, with its
// cause and advice.
func TestConnectionsThatCannotHeal(t *testing.T) {
	ca := newAuthority(t)
	good := ca.sign(t, local(), time.Hour)
	elsewhere := ca.sign(t, &x509.Certificate{DNSNames: []string{"shop.example.com"}}, time.Hour)
	old := ca.sign(t, local(), -time.Hour)
	client := ca.sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "a client"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, time.Hour)
	stranger := newAuthority(t).sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "a stranger"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, time.Hour)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	wants := &tls.Config{Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.pool()}
	trusting := &tls.Config{RootCAs: ca.pool()}
	for _, c := range []struct {
		name, url string
		trust     *tls.Config
		want, fix string // "" if it works
	}{
		{"an unknown host", "http://shop.invalid", nil, "there is no host shop.invalid", "check `url` of the service shop"},
		{"an unknown host by TLS", "https://shop.invalid", nil, "there is no host shop.invalid", "check `url` of the service shop"},
		{"an unknown authority", serving(t, &tls.Config{Certificates: []tls.Certificate{good}}), nil, "is signed by an authority that this machine does not trust: Our own CA", "`tls: {ca: FILE}` of the service shop"},
		{"its own CA", serving(t, &tls.Config{Certificates: []tls.Certificate{good}}), trusting, "", ""},
		{"another name", serving(t, &tls.Config{Certificates: []tls.Certificate{elsewhere}}), trusting, "is for another name: shop.example.com", "use a name of the certificate in `url`"},
		{"an expired certificate", serving(t, &tls.Config{Certificates: []tls.Certificate{old}}), trusting, "expired on ", "have it renewed on the server"},
		{"plain HTTP", strings.Replace(plain.URL, "http:", "https:", 1), nil, "answers with plain HTTP, not with TLS", "write http:// in `url`"},
		{"a client certificate is wanted", serving(t, wants), trusting, "wants a client certificate: certificate required", "`tls: {cert: FILE, key: FILE}`"},
		{"another client certificate is wanted", serving(t, wants), &tls.Config{RootCAs: ca.pool(), GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &stranger, nil }, Certificates: []tls.Certificate{stranger}}, "does not accept the client certificate: ", "that its authority signed"},
		{"a client certificate is given", serving(t, wants), &tls.Config{RootCAs: ca.pool(), Certificates: []tls.Certificate{client}}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := NewHTTP("shop", c.url, Limits{}, false)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			h.Trust(c.trust)
			call := bare(t)
			call.Retry.Attempts = 5 // which would take seconds
			target, err := ParseTarget("/x")
			if err != nil {
				t.Fatal(err)
			}
			_, err = h.Do(call, Request{Method: http.MethodGet, Target: target})
			if c.want == "" {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			permanent, ok := errors.AsType[*engine.PermanentError](err)
			if !ok || !strings.Contains(permanent.Fix, c.fix) {
				t.Errorf("what to do: %+v, want %q", permanent, c.fix)
			}
			if call.Record.Attempts != 1 {
				t.Errorf("%d attempts", call.Record.Attempts)
			}
		})
	}
}

// TestServiceThatAnsweredMayHeal checks that calls wait for a service that has responded before, whatever the network error.
func TestServiceThatAnsweredMayHeal(t *testing.T) {
	var tr transport
	lost := &net.DNSError{Name: "shop.example.com", IsNotFound: true}
	if err := tr.explained("shop.example.com", lost); !isPermanent(err) {
		t.Errorf("before: %v", err)
	}
	tr.reached.Store(true)
	if err := tr.explained("shop.example.com", lost); isPermanent(err) || err.Error() != "there is no host shop.example.com" {
		t.Errorf("after: %v", err)
	}
	if err := tr.explained("shop.example.com", &net.DNSError{Name: "shop.example.com", IsTemporary: true}); isPermanent(err) {
		t.Errorf("a resolver that is away: %v", err)
	}
}

func isPermanent(err error) bool {
	_, ok := errors.AsType[*engine.PermanentError](err)
	return ok
}

// TestPlain checks that errors of connections are shown without addresses and system calls, and stay recognizable.
func TestPlain(t *testing.T) {
	refused := &url.Error{Op: "Get", URL: "http://127.0.0.1:1/x?token=4711", Err: &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}}
	if err := Plain(refused); err.Error() != "connection refused" || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%v", err)
	}
	if other := errors.New("unexpected EOF"); !errors.Is(Plain(other), other) || Plain(other).Error() != "unexpected EOF" {
		t.Errorf("%v", Plain(other))
	}
}

// refusing is a listener that closes its first connection.
type refusing struct {
	net.Listener
	once sync.Once
}

// Accept implements [net.Listener].
func (r *refusing) Accept() (net.Conn, error) {
	conn, err := r.Listener.Accept()
	if err == nil {
		r.once.Do(func() { _ = conn.Close() })
	}
	return conn, err
}

// TestHandshakeSendsNothing checks that a changing request whose handshake failed counts as not sent: it is sent again without doubt.
func TestHandshakeSendsNothing(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Listener = &refusing{Listener: server.Listener}
	server.StartTLS()
	defer server.Close()
	h, err := NewHTTP("shop", server.URL, Limits{}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	h.Trust(&tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs})
	row := stage{}.play(t, func(s *engine.Session) {
		c := callOf(s, "step")
		c.Retry.Attempts = 2
		_, err := h.Do(c, Request{Method: "POST", Target: must(t, "/orders")})
		end(s, c, err)
	})
	if step := row.Steps[0]; row.Outcome != engine.OK || step.Attempts != 2 || step.Label != engine.Fresh {
		t.Errorf("%v after %d attempts, %v: %s", row.Outcome, step.Attempts, step.Label, row.Error)
	}
}
