package service

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Peer is the other end of a connection, for explanations of connection errors.
type Peer struct {
	Service, Host string
	Certified     bool // the client has a certificate
}

// Explain explains connection errors that do not go away by themselves: the host does not exist, the client does not trust the
// server, or the server does not trust the client. These become a *engine.PermanentError; any other error is returned as it is.
func (p Peer) Explain(err error) error {
	dns, isDNS := errors.AsType[*net.DNSError](err)
	switch {
	case isDNS && dns.IsNotFound && !dns.IsTemporary:
		return &engine.PermanentError{Err: &plainly{"there is no host " + dns.Name, err}, Fix: "check `url` of the service " + p.Service + ", and the network"}
	case isDNS:
		return err
	}
	if words, fix := p.distrust(err); words != "" {
		return &engine.PermanentError{Err: &plainly{words, err}, Fix: fix}
	}
	return err
}

// explained returns a connection error in plain words. It is permanent only if the service has never responded: outages end.
func (t *transport) explained(host string, err error) error {
	err = Peer{t.name, host, t.certified}.Explain(err)
	lasting, ok := errors.AsType[*engine.PermanentError](err)
	switch {
	case !ok:
		return Plain(err)
	case t.reached.Load():
		return lasting.Err
	}
	return err
}

// Plain returns the error of a connection without the address and the system call: "connection refused". It wraps err.
func Plain(err error) error {
	inner := err
	if failed, ok := errors.AsType[*url.Error](inner); ok {
		inner = failed.Err
	}
	if failed, ok := errors.AsType[*net.OpError](inner); ok {
		inner = failed.Err
	}
	if failed, ok := errors.AsType[*os.SyscallError](inner); ok {
		inner = failed.Err
	}
	if inner == err { //nolint:errorlint // the very error
		return err
	}
	return &plainly{inner.Error(), err}
}

// lastingly reports whether a failure is permanent.
func lastingly(failure *engine.StepError) bool {
	if failure == nil {
		return false
	}
	_, ok := errors.AsType[*engine.PermanentError](failure)
	return ok
}

// plainly is an error with a plain text.
type plainly struct {
	words string
	err   error
}

func (p *plainly) Error() string { return p.words }
func (p *plainly) Unwrap() error { return p.err }

// distrust explains an error of TLS and says what to do. words is "" for other errors.
func (p Peer) distrust(err error) (words, fix string) {
	service, host := p.Service, p.Host
	url, ca := "`url` of the service "+service, "`tls: {ca: FILE}` of the service "+service
	record, isPlain := errors.AsType[tls.RecordHeaderError](err)
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	foreign, isForeign := errors.AsType[x509.HostnameError](err)
	unknown, isUnknown := errors.AsType[x509.UnknownAuthorityError](err)
	switch text := err.Error(); {
	case isPlain && strings.HasPrefix(string(record.RecordHeader[:]), "HTTP"), strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return host + " answers with plain HTTP, not with TLS", "write http:// in " + url + ", or use the port that speaks TLS"
	case isPlain:
		return host + " does not speak TLS at this port", "check the port in " + url
	case isInvalid && invalid.Reason == x509.Expired && time.Now().Before(invalid.Cert.NotBefore):
		return "the certificate of " + host + " is not valid before " + day(invalid.Cert.NotBefore), "check the clock of this machine"
	case isInvalid && invalid.Reason == x509.Expired:
		return "the certificate of " + host + " expired on " + day(invalid.Cert.NotAfter), "have it renewed on the server"
	case isForeign && foreign.Certificate != nil:
		return fmt.Sprintf("the certificate of %s is for another name: %s", host, namesOf(foreign.Certificate)), "use a name of the certificate in " + url
	case isUnknown:
		signer := ""
		if unknown.Cert != nil {
			signer = cmp.Or(unknown.Cert.Issuer.CommonName, strings.Join(unknown.Cert.Issuer.Organization, ", "))
		}
		return "the certificate of " + host + " is signed by an authority that this machine does not trust: " + cmp.Or(signer, "one without a name"),
			"give the file of its CA in " + ca
	case isInvalid:
		return fmt.Sprintf("the certificate of %s is not valid: %v", host, invalid), "have it replaced on the server"
	case WantsCertificate(err):
		return p.RefusesClient(lastOf(text))
	}
	return "", ""
}

// WantsCertificate reports whether a server requires a client certificate, or another one.
func WantsCertificate(err error) bool {
	text := err.Error()
	return slices.ContainsFunc(refusedCertificate, func(alert string) bool { return strings.Contains(text, "remote error: tls: "+alert) })
}

// RefusesClient explains that a server requires a client certificate, or another one, and says what to do.
func (p Peer) RefusesClient(alert string) (words, fix string) {
	if p.Certified {
		return p.Host + " does not accept the client certificate: " + alert,
			"use one that its authority signed and that has not expired, in `tls: {cert: FILE, key: FILE}` of the service " + p.Service
	}
	return p.Host + " wants a client certificate: " + alert, "give one in `tls: {cert: FILE, key: FILE}` of the service " + p.Service
}

// refusedCertificate are the TLS alerts for a missing or rejected client certificate (RFC 8446, section 6), in the words of
// crypto/tls.
var refusedCertificate = []string{"certificate required", "bad certificate", "unknown certificate", "unsupported certificate", "revoked certificate", "expired certificate"}

// lastOf returns the last part of an error text.
func lastOf(text string) string { return text[strings.LastIndex(text, ": ")+len(": "):] }

func day(t time.Time) string { return t.UTC().Format("January 2, 2006") }

// namesOf returns the names and addresses of a certificate.
func namesOf(c *x509.Certificate) string {
	names := append([]string(nil), c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		names = []string{cmp.Or(c.Subject.CommonName, "none")}
	}
	return strings.Join(names, ", ")
}
