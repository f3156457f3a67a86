package bus

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority is what a fleet's certificates, passwords and token come from. A coordinator that is restarted with the same one is the
// same for its workers.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	token       string
	secret      []byte // makes the passwords of workers without TLS, and the proofs of tickets
}

// The files of an authority in its folder.
const (
	authorityFile = "authority.pem"
	keyFile       = "authority-key.pem"
	tokenFile     = "token"
	secretFile    = "secret"
)

// openAuthority loads the authority in a folder, or makes it. Without a folder it is in memory only.
func openAuthority(folder string) (*authority, error) {
	if folder == "" {
		return newAuthority()
	}
	a, err := loadAuthority(folder)
	if !errors.Is(err, fs.ErrNotExist) {
		return a, err
	}
	if a, err = newAuthority(); err != nil {
		return nil, err
	}
	return a, a.save(folder)
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the fleet's key: %w", err)
	}
	now := time.Now()
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "Throng fleet"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0),
		KeyUsage: x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
	}, &x509.Certificate{Subject: pkix.Name{CommonName: "Throng fleet"}}, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make the fleet's certificate: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make the fleet's certificate: %w", err)
	}
	return &authority{certificate, key, random(), []byte(random())}, nil
}

// save writes an authority into a folder that only its owner can read. The token is last: without it, nothing was saved.
func (a *authority) save(folder string) error {
	key, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		return fmt.Errorf("save the fleet's key: %w", err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("save the fleet's key: %w", err)
	}
	for _, f := range []struct {
		name    string
		content []byte
	}{
		{authorityFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})},
		{keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})},
		{secretFile, a.secret},
		{tokenFile, []byte(a.token)},
	} {
		if err := os.WriteFile(filepath.Join(folder, f.name), f.content, 0o600); err != nil {
			return fmt.Errorf("save the fleet's key: %w", err)
		}
	}
	return nil
}

func loadAuthority(folder string) (*authority, error) {
	content := map[string][]byte{}
	for _, name := range []string{tokenFile, secretFile, keyFile, authorityFile} {
		b, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, fmt.Errorf("load the fleet's key: %w", err)
		}
		content[name] = b
	}
	pair, err := tls.X509KeyPair(content[authorityFile], content[keyFile])
	if err != nil {
		return nil, fmt.Errorf("load the fleet's key from %s: %w", folder, err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok || len(content[tokenFile]) < 26 || len(content[secretFile]) < 26 {
		return nil, fmt.Errorf("the fleet's key in %s is damaged: remove the folder, and let the workers join again", folder)
	}
	return &authority{pair.Leaf, key, string(content[tokenFile]), content[secretFile]}, nil
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// serving returns the TLS configuration of the coordinator's server, with a certificate for hosts.
func (a *authority) serving(hosts []string) (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the server's key: %w", err)
	}
	t := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "Throng coordinator"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(5, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("make the server's certificate: %w", err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der, a.certificate.Raw}, PrivateKey: key}},
		ClientAuth:   tls.VerifyClientCertIfGiven, ClientCAs: a.pool(), MinVersion: tls.VersionTLS13,
	}, nil
}

// sign returns a certificate for a worker's request. Its serial number is the issue.
func (a *authority) sign(request []byte, worker string, issue uint64, life time.Duration) ([]byte, error) {
	r, err := x509.ParseCertificateRequest(request)
	if err == nil {
		err = r.CheckSignature()
	}
	if err != nil {
		return nil, fmt.Errorf("the request for a certificate is damaged: %w", err)
	}
	now := time.Now()
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: new(big.Int).SetUint64(issue), Subject: pkix.Name{CommonName: worker},
		NotBefore: now.Add(-time.Minute), NotAfter: now.Add(life),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, a.certificate, r.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("make a worker's certificate: %w", err)
	}
	return der, nil
}

// errFingerprint is why a worker does not talk to a server.
var errFingerprint = errors.New("the fingerprint does not match the coordinator's certificate: the coordinator has a new one (copy the join line again), or another machine answers in its place")

// pinned returns the TLS configuration of a worker that trusts only the CA with a fingerprint. The names and times in the server's
// certificate do not matter: only the coordinator has a certificate for servers of this CA, and the clocks of machines differ.
func pinned(print string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // VerifyConnection verifies
		VerifyConnection: func(s tls.ConnectionState) error {
			for _, c := range s.PeerCertificates {
				if fingerprint(c.Raw) != print {
					continue
				}
				roots := x509.NewCertPool()
				roots.AddCert(c)
				leaf := s.PeerCertificates[0]
				_, err := leaf.Verify(x509.VerifyOptions{
					Roots: roots, CurrentTime: leaf.NotBefore.Add(time.Second), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
				})
				if err != nil {
					return errors.Join(errFingerprint, err)
				}
				return nil
			}
			return errFingerprint
		},
	}
}
