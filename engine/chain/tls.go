package chain

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

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
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA != nil {
		c.RootCAs = x509.NewCertPool()
		c.RootCAs.AppendCertsFromPEM(t.CA)
	}
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
	pair, err := tls.X509KeyPair(t.Cert, key)
	if err != nil {
		return nil, wrong("key", "a PEM private key that belongs to the certificate", "the key does not fit: %v", err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}

// CheckCertificates reports what keeps a PEM text from being certificates.
func CheckCertificates(text []byte) error {
	if !x509.NewCertPool().AppendCertsFromPEM(text) {
		return errors.New("it holds no PEM certificate")
	}
	return nil
}
