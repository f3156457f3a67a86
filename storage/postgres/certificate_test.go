package postgres

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// TestServersCertificate checks what users read about a certificate that is not trusted.
func TestServersCertificate(t *testing.T) {
	good, old := pgtest.New(t, pgtest.Options{TLS: true}), pgtest.New(t, pgtest.Options{Expired: true})
	address := func(s *pgtest.Server, host string) string {
		return strings.Replace(s.URL(pgtest.User, "postgres"), "127.0.0.1", host, 1)
	}
	for _, c := range []struct {
		name   string
		config Config
		want   []string
	}{
		{"expired", Config{URL: address(old, "127.0.0.1"), RootCert: old.Certificate}, []string{"throng test expired on", "renew it on the server"}},
		{"of another host", Config{URL: address(good, "localhost"), RootCert: good.Certificate}, []string{"it is for 127.0.0.1, not for localhost"}},
		{"of another CA", Config{URL: address(good, "127.0.0.1"), RootCert: old.Certificate}, []string{"signed by throng test", "--database-ca FILE"}},
	} {
		if _, err := Check(t.Context(), c.config); err == nil || !contains(err.Error(), c.want...) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}

	now := time.Now()
	first, text, err := ReadCertificates(good.Certificate, now)
	if err != nil || first.Name != "throng test" || now.After(first.Expires) || !bytes.Contains(text, []byte("CERTIFICATE")) {
		t.Errorf("got %v, %v", first, err)
	}
	folder := t.TempDir()
	write := func(name string, parts ...string) string {
		path := filepath.Join(folder, name)
		var all []byte
		for _, part := range parts {
			data, err := os.ReadFile(part)
			must(t, err)
			all = append(all, data...)
		}
		must(t, os.WriteFile(path, all, 0o600))
		return path
	}
	key := filepath.Join(filepath.Dir(good.Certificate), "server.key")
	_, text, err = ReadCertificates(write("both.pem", key, good.Certificate, old.Certificate), now)
	if err != nil || bytes.Contains(text, []byte("PRIVATE")) || bytes.Count(text, []byte("BEGIN")) != 1 {
		t.Errorf("a key or an expired certificate is copied: %s, %v", text, err)
	}
	for _, c := range []struct{ path, want string }{
		{filepath.Join(folder, "none.pem"), "cannot be read"},
		{folder, "is not a file of certificates"},
		{key, "has no certificate in PEM form"},
		{write("empty.pem"), "has no certificate in PEM form"},
		{old.Certificate, "expired on"},
	} {
		if _, _, err := ReadCertificates(c.path, now); err == nil || !contains(err.Error(), c.want, "(") {
			t.Errorf("%s: got %v, want %q", c.path, err, c.want)
		}
	}
}

func contains(text string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}
