package scenario

import (
	"path"
	"strings"

	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/chain/credential"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
)

// tls reads how a service is trusted, and how the client proves who it is. Certificates are kept with the run, the
// client's key is not.
func (r serviceReader) tls(s *chain.Service, n *doc.Node) {
	if n == nil {
		return
	}
	n.Fields("ca", "cert", "key")
	t := &credential.TLS{CA: r.certificates(n.Get("ca")), Cert: r.certificates(n.Get("cert"))}
	s.TLS = t
	switch cert, key := n.Get("cert"), n.Get("key"); {
	case cert != nil && key == nil:
		cert.Errorf("add `key: FILE` or `key: secret:NAME`", "a client certificate without its key")
	case cert == nil && key != nil:
		key.Errorf("add `cert: FILE`", "a key without its certificate")
	case key == nil && n.Get("ca") == nil:
		n.Errorf("`tls: {ca: FILE}`, or `tls: {cert: FILE, key: secret:NAME}`", "it says nothing")
	case key == nil:
	case strings.HasPrefix(key.Text(), expr.SecretPrefix):
		t.KeySecret = expr.SecretName(key)
		s.Needs(t.KeySecret)
	default:
		t.KeyFile = key.Text()
		r.checkKey(t, key)
	}
	if strings.HasPrefix(s.URL, "http:") {
		n.Warnf("write https:// in `url`", "the service %s is called without TLS", s.Name)
	}
}

// checkKey looks whether a client's key is there and belongs to its certificate.
func (r serviceReader) checkKey(t *credential.TLS, n *doc.Node) {
	if r.extras.Keys == nil || t.KeyFile == "" || t.Cert == nil {
		return
	}
	text, err := r.extras.Keys(t.KeyFile)
	if err != nil {
		unread(n, "a PEM file in the scenario's folder, or secret:NAME", "", t.KeyFile, err)
	} else if hint, err := credential.CheckKey(t.Cert, text); err != nil {
		n.Errorf(hint, "%s: %v", t.KeyFile, err)
	}
}

// certificates reads a PEM file of the scenario's folder.
func (r serviceReader) certificates(n *doc.Node) []byte {
	name := n.Text()
	if name == "" {
		return nil
	}
	text, err := r.open(name)
	if err != nil {
		unread(n, "a PEM file in the scenario's folder", "", name, err)
		return nil
	}
	if err := credential.CheckCertificates(text); err != nil {
		n.Errorf(asPEM(name), "%s: %v", name, err)
		return nil
	}
	return text
}

// asPEM says how to make PEM of a certificate in another form.
func asPEM(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".p12", ".pfx":
		return "make PEM files of it: openssl pkcs12 -in " + name + " -nokeys -out client.pem, and with -nocerts -nodes for the key"
	case ".der", ".cer", ".crt":
		return "make a PEM file of it: openssl x509 -inform der -in " + name + " -out ca.pem"
	}
	return "a file with -----BEGIN CERTIFICATE----- in it"
}
