package chain

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// TLS is how a service is trusted, and how the client proves who it is. The zero value trusts what the machine does, and
// proves nothing.
type TLS struct {
	CA   []byte // PEM certificates, one of which the service's must be signed by; nil is what the machine trusts
	Cert []byte // PEM certificate of the client, with those of its authorities; nil is none
	// The client's private key, PEM: in a file of the scenario's folder, which is not kept with runs, or a secret.
	KeyFile, KeySecret string
}

// TLSConfig returns what a client of the service uses; nil is what the machine does. read opens a file of the scenario's
// folder. Its errors are *engine.FieldError.
func (s *Service) TLSConfig(read func(file string) ([]byte, error)) (*tls.Config, error) {
	t := s.TLS
	if t == nil {
		return nil, nil //nolint:nilnil // no config is what Go calls the default
	}
	wrong := func(field, hint, format string, args ...any) error {
		return &engine.FieldError{Field: "service " + s.Name + " tls." + field, Problem: fmt.Sprintf(format, args...), Hint: hint}
	}
	c := s.Anonymous()
	if t.Cert == nil {
		return c, nil
	}
	key := []byte(s.secrets[t.KeySecret])
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

// Anonymous is the TLSConfig of a client that does not prove who it is; nil is what the machine does.
func (s *Service) Anonymous() *tls.Config {
	if s.TLS == nil {
		return nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.TLS.CA != nil {
		c.RootCAs = x509.NewCertPool()
		c.RootCAs.AppendCertsFromPEM(s.TLS.CA)
	}
	return c
}

// CheckKey reports what keeps a private key from being used with a certificate, and what to do.
func CheckKey(cert, key []byte) (hint string, err error) {
	_, hint, err = keyPair(cert, key)
	return hint, err
}

// keyPair is a client certificate with its key, or what is wrong with the key and what to do.
func keyPair(cert, key []byte) (pair tls.Certificate, hint string, err error) {
	block, _ := pem.Decode(key)
	switch {
	case block == nil:
		return pair, "a PEM private key, which begins with -----BEGIN", errors.New("it holds no PEM private key")
	case strings.Contains(block.Type, "ENCRYPTED"), strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"):
		return pair, "decrypt it (openssl pkey -in FILE), and keep it as a secret: `key: secret:NAME`", errors.New("the key is encrypted")
	}
	if pair, err = tls.X509KeyPair(cert, key); err != nil {
		return pair, "a PEM private key that belongs to the certificate", fmt.Errorf("the key does not fit: %w", err)
	}
	return pair, "", nil
}

// CheckCertificates reports what keeps a PEM text from being certificates.
func CheckCertificates(text []byte) error {
	if !x509.NewCertPool().AppendCertsFromPEM(text) {
		return errors.New("it holds no PEM certificate")
	}
	return nil
}
