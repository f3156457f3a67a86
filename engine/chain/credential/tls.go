package credential

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// TLS configures how a service is trusted, and the client certificate. The zero value trusts the system's authorities
// and sends no certificate.
type TLS struct {
	CA   []byte // PEM certificates of trusted authorities; nil trusts the system's
	Cert []byte // PEM certificate chain of the client; nil for none
	// The client's private key, PEM: a file in the scenario's folder, which is not stored with runs, or a secret.
	KeyFile, KeySecret string
}

// Config returns the TLS configuration of a service's client, or nil for the defaults. read opens a file of the scenario's
// folder. Its errors are *engine.FieldError.
func (t *TLS) Config(service string, secrets *Store, read func(file string) ([]byte, error)) (*tls.Config, error) {
	if t == nil {
		return nil, nil //nolint:nilnil // no config is what Go calls the default
	}
	wrong := func(field, hint, format string, args ...any) error {
		return &engine.FieldError{Field: "service " + service + " tls." + field, Problem: fmt.Sprintf(format, args...), Hint: hint}
	}
	c := t.Anonymous()
	if t.Cert == nil {
		return c, nil
	}
	key := []byte(secrets.Secret(t.KeySecret))
	if t.KeyFile != "" {
		var err error
		if key, err = read(t.KeyFile); err != nil {
			return nil, wrong("key", "keep the key in the scenario's folder, or write secret:NAME", "the key cannot be read: %v", err)
		}
	}
	pair, hint, err := keyPair(t.Cert, key)
	if err != nil {
		return nil, wrong("key", hint, "%v", err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}

// Anonymous returns the TLS configuration without a client certificate, or nil for the defaults.
func (t *TLS) Anonymous() *tls.Config {
	if t == nil {
		return nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA != nil {
		c.RootCAs = x509.NewCertPool()
		c.RootCAs.AppendCertsFromPEM(t.CA)
	}
	return c
}

// CheckKey reports why a private key cannot be used with a certificate, and what to do.
func CheckKey(cert, key []byte) (hint string, err error) {
	_, hint, err = keyPair(cert, key)
	return hint, err
}

// keyPair returns a client certificate with its key, or the problem of the key with a hint.
func keyPair(cert, key []byte) (pair tls.Certificate, hint string, err error) {
	block, _ := pem.Decode(key)
	switch {
	case block == nil:
		return pair, "a PEM private key, which begins with -----BEGIN", errors.New("it contains no PEM private key")
	case strings.Contains(block.Type, "ENCRYPTED"), strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"):
		return pair, "decrypt it (openssl pkey -in FILE), and keep it as a secret: `key: secret:NAME`", errors.New("the key is encrypted")
	}
	if pair, err = tls.X509KeyPair(cert, key); err != nil {
		return pair, "a PEM private key that belongs to the certificate", fmt.Errorf("the key does not fit: %w", err)
	}
	return pair, "", nil
}

// CheckCertificates reports why a PEM text has no valid certificates.
func CheckCertificates(text []byte) error {
	if !x509.NewCertPool().AppendCertsFromPEM(text) {
		return errors.New("it contains no PEM certificate")
	}
	return nil
}
