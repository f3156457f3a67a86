package scenario

import (
	"strings"

	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/internal/doc"
)

// tls reads how a service is trusted, and how the client proves who it is. Certificates are kept with the run, the
// client's key is not.
func (r *reader) tls(s *chain.Service, n *doc.Node) {
	if n == nil {
		return
	}
	n.Fields("ca", "cert", "key")
	t := &chain.TLS{CA: r.certificates(n.Get("ca")), Cert: r.certificates(n.Get("cert"))}
	s.TLS = t
	switch cert, key := n.Get("cert"), n.Get("key"); {
	case cert != nil && key == nil:
		cert.Errorf("add `key: FILE` or `key: secret:NAME`", "a client certificate without its key")
	case cert == nil && key != nil:
		key.Errorf("add `cert: FILE`", "a key without its certificate")
	case key == nil && n.Get("ca") == nil:
		n.Errorf("`tls: {ca: FILE}`, or `tls: {cert: FILE, key: secret:NAME}`", "it says nothing")
	case key == nil:
	case strings.HasPrefix(key.Text(), chain.SecretPrefix):
		t.KeySecret = chain.SecretName(key)
		s.Needs(t.KeySecret)
	default:
		t.KeyFile = key.Text()
	}
	if strings.HasPrefix(s.URL, "http:") {
		n.Warnf("write https:// in `url`", "the service %s is called without TLS", s.Name)
	}
}

// certificates reads a PEM file of the scenario's folder.
func (r *reader) certificates(n *doc.Node) []byte {
	name := n.Text()
	if name == "" {
		return nil
	}
	text, err := r.open(name)
	if err == nil {
		err = chain.CheckCertificates(text)
	} else {
		err = why(name, err)
	}
	if err != nil {
		n.Errorf("a PEM file in the scenario's folder", "%v", err)
	}
	return text
}
