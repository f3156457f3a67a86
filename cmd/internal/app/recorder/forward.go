package recorder

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elazarl/goproxy"
)

// CAPath is where the forward proxy serves its CA certificate to browsers that open its address.
const CAPath = "/throng-recorder-ca.pem"

// authority is a CA that lives as long as a recording. Its key is only in memory.
type authority struct {
	pair tls.Certificate
	pem  []byte
	hash string // of its public key, as Chrome wants it
}

// newAuthority makes a CA for some hosts. Its constraints make it useless for any other, even if its key were stolen.
func newAuthority(hosts []string, now time.Time) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	const bits = 120
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), bits))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "Throng recorder " + now.Format("2006-01-02 15:04"), Organization: []string{"Throng, for recording on this machine only"}},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, PermittedDNSDomainsCritical: true,
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			size := 8 * net.IPv6len
			if v4 := ip.To4(); v4 != nil {
				ip, size = v4, 8*net.IPv4len
			}
			template.PermittedIPRanges = append(template.PermittedIPRanges, &net.IPNet{IP: ip, Mask: net.CIDRMask(size, size)})
		} else {
			template.PermittedDNSDomains = append(template.PermittedDNSDomains, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(leaf.RawSubjectPublicKeyInfo)
	return &authority{
		pair: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf},
		pem:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), hash: base64.StdEncoding.EncodeToString(sum[:]),
	}, nil
}

// certificates keeps the certificates of hosts.
type certificates struct {
	mu  sync.Mutex
	all map[string]*tls.Certificate
}

var _ goproxy.CertStorage = (*certificates)(nil)

// Fetch implements goproxy.CertStorage.
func (c *certificates) Fetch(host string, sign func() (*tls.Certificate, error)) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cert := c.all[host]; cert != nil {
		return cert, nil
	}
	cert, err := sign()
	if err == nil {
		c.all[host] = cert
	}
	return cert, err
}

// silence is a log of goproxy that prints nothing.
type silence struct{}

// Printf implements goproxy.Logger.
func (silence) Printf(string, ...any) {}

// forward returns a proxy for browsers. Connections to hosts that are not recorded pass through it encrypted.
func (r *Recorder) forward() (http.Handler, error) {
	hosts := append([]string{r.target.Hostname()}, r.cfg.Hosts...)
	for i, h := range hosts {
		hosts[i] = strings.ToLower(strings.Trim(h, "[]"))
	}
	var err error
	if r.authority, err = newAuthority(hosts, time.Now()); err != nil {
		return nil, err
	}
	proxy := goproxy.NewProxyHttpServer()
	proxy.Logger, proxy.Tr, proxy.CertStore = silence{}, r.transport, &certificates{all: make(map[string]*tls.Certificate)}
	proxy.KeepAcceptEncoding = true
	recorded := func(host string) bool {
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		return slices.Contains(hosts, strings.ToLower(strings.Trim(host, "[]")))
	}
	mitm := &goproxy.ConnectAction{Action: goproxy.ConnectMitm, TLSConfig: goproxy.TLSConfigFromCA(&r.authority.pair)}
	proxy.OnRequest().HandleConnectFunc(func(host string, _ *goproxy.ProxyCtx) (*goproxy.ConnectAction, string) {
		if recorded(host) {
			return mitm, host
		}
		return goproxy.OkConnect, host
	})
	record := goproxy.RoundTripperFunc(func(req *http.Request, _ *goproxy.ProxyCtx) (*http.Response, error) { return capture{r}.RoundTrip(req) })
	proxy.OnRequest().DoFunc(func(req *http.Request, ctx *goproxy.ProxyCtx) (*http.Request, *http.Response) {
		if recorded(req.URL.Host) {
			req.Header.Set("Accept-Encoding", acceptable(req.Header.Get("Accept-Encoding")))
			ctx.RoundTripper = record
		}
		return req, nil
	})
	proxy.NonproxyHandler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == CAPath {
			w.Header().Set("Content-Type", "application/x-x509-ca-cert")
			_, _ = w.Write(r.authority.pem) // the browser may be gone
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(`<!doctype html><title>Throng recorder</title><p>This is the proxy of the Throng recorder. Set it as the HTTP and HTTPS proxy of your browser, ` +
			`and trust <a href="` + CAPath + `">its certificate</a> for this recording.</p>`))
	})
	return proxy, nil
}
