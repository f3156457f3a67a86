package pgtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"time"
)

// authority is a certificate for 127.0.0.1 that signs itself and others.
type authority struct {
	private     *ecdsa.PrivateKey
	certificate *x509.Certificate
}

// newAuthority creates an authority that expires at a time, and writes its certificate and key.
func newAuthority(certificate, key string, ends time.Time) (*authority, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := newTemplate()
	template.NotAfter = ends
	template.IsCA, template.KeyUsage = true, template.KeyUsage|x509.KeyUsageCertSign
	public, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return nil, err
	}
	a := &authority{private: private}
	if a.certificate, err = x509.ParseCertificate(public); err != nil {
		return nil, err
	}
	return a, writeCertificate(public, private, certificate, key)
}

func newTemplate() *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "throng test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: now.Add(-48 * time.Hour), NotAfter: now.Add(24 * time.Hour), BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

// Certificate describes the defects of a server's certificate.
type Certificate struct {
	Expired   bool
	Elsewhere bool // it is for another host
}

// sign creates a certificate and its key.
func (a *authority) sign(c Certificate, certificate, key string) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := newTemplate()
	if c.Expired {
		template.NotAfter = time.Now().Add(-time.Minute)
	}
	if c.Elsewhere {
		template.IPAddresses, template.DNSNames = nil, []string{"elsewhere.example"}
	}
	public, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &private.PublicKey, a.private)
	if err != nil {
		return err
	}
	return writeCertificate(public, private, certificate, key)
}

func writeCertificate(public []byte, private *ecdsa.PrivateKey, certificate, key string) error {
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	if err := os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: public}), 0o600); err != nil {
		return err
	}
	return os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600)
}
