package postgres

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// mostCertificates is the maximum size of a file of certificates in bytes.
const mostCertificates = 4 << 20

// Certificate describes a CA certificate.
type Certificate struct {
	Name    string
	Expires time.Time
}

func (c Certificate) String() string {
	return fmt.Sprintf("%s, valid until %s", c.Name, day(c.Expires))
}

func day(at time.Time) string { return at.Local().Format(time.DateOnly) }

// nameOf returns the name of the owner of a certificate.
func nameOf(c *x509.Certificate) string {
	return cmp.Or(c.Subject.CommonName, strings.Join(c.Subject.Organization, ", "), c.Subject.String(), "a CA without a name")
}

// ReadCertificates reads a PEM file with CA certificates. It returns the certificate that expires first, and the valid
// certificates as PEM without anything else in the file. Its error is a *engine.FieldError that names the file.
func ReadCertificates(path string, now time.Time) (first Certificate, text []byte, err error) {
	wrong := func(problem, hint string) (Certificate, []byte, error) {
		return Certificate{}, nil, &engine.FieldError{Field: "database-ca", Problem: path + " " + problem, Hint: hint}
	}
	const ask = "use the file of the CA that signed the server's certificate, often ca.pem or root.crt; the administrator of the server has it"
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return wrong("cannot be read: "+reason(err), ask)
	case info.IsDir() || info.Size() > mostCertificates:
		return wrong("is not a file of certificates", ask)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return wrong("cannot be read: "+reason(err), ask)
	}
	var out bytes.Buffer
	var unfit error // of the last rejected certificate
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" { // for example a key, which is not copied
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return wrong("has a certificate that cannot be read", ask)
		}
		switch {
		case now.After(c.NotAfter):
			_, _, unfit = wrong(fmt.Sprintf("has the certificate of %s, which expired on %s", nameOf(c), day(c.NotAfter)),
				"ask the administrator of the server for the new one")
			continue
		case now.Before(c.NotBefore):
			_, _, unfit = wrong(fmt.Sprintf("has the certificate of %s, which is not valid before %s", nameOf(c), day(c.NotBefore)),
				"check the clock of this machine")
			continue
		}
		if first.Name == "" || c.NotAfter.Before(first.Expires) {
			first = Certificate{nameOf(c), c.NotAfter}
		}
		out.Write(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}))
	}
	switch {
	case first.Name == "" && unfit != nil:
		return Certificate{}, nil, unfit
	case first.Name == "":
		return wrong("has no certificate in PEM form", ask+"; convert a DER file with: openssl x509 -inform der -in FILE -out ca.pem")
	}
	return first, out.Bytes(), nil
}

// reason returns why a file cannot be read, without its path.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
