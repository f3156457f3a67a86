package app_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

// certified starts a server that counts client certificates, and writes a scenario with a client certificate.
func certified(t *testing.T, asks tls.ClientAuthType) (file string, shown *atomic.Int64) {
	t.Helper()
	shown = &atomic.Int64{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		shown.Add(int64(len(r.TLS.PeerCertificates)))
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{ClientAuth: asks}
	server.StartTLS()
	t.Cleanup(server.Close)
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	dir := t.TempDir()
	for name, text := range map[string]string{
		"ca.pem": cert, "client.pem": cert, "client.key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})),
		"shop.yaml": "population: {count: 2}\nservices: {shop: {kind: http, url: '" + server.URL + "', tls: {ca: ca.pem, cert: client.pem, key: client.key}}}\n" +
			"chain c: {step a: {kind: http, service: shop, get: /}}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "shop.yaml"), shown
}

// TestAutomaticChecksShowNoCertificate checks that only checks that the user starts send a client certificate, even if the
// server requires one.
func TestAutomaticChecksShowNoCertificate(t *testing.T) {
	keyring.MockInit()
	for asks, quiet := range map[tls.ClientAuthType]struct {
		grade engine.Grade
		mend  string
		says  string
	}{
		tls.RequestClientCert:    {engine.GradeOK, "", "answered 200 OK"},
		tls.RequireAnyClientCert: {engine.GradeUnknown, "again", "automatic checks send no client certificate"},
	} {
		file, shown := certified(t, asks)
		s, err := authoring.Load(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		l := app.Launch{Services: app.Services{Scenario: s, Settings: engine.DefaultSettings(), Data: t.TempDir()}, Trusted: true}
		var list app.Preflight
		expect(t, named(t, list.Run(t.Context(), l, config.Database{}, true, nil), "Service shop"), quiet.grade, quiet.mend, quiet.says)
		if n := shown.Load(); n != 0 {
			t.Errorf("%v: an automatic check showed %d certificates", asks, n)
		}
		list.Forget()
		expect(t, named(t, list.Run(t.Context(), l, config.Database{}, false, nil), "Service shop"), engine.GradeOK, "", "answered 200 OK")
		if shown.Load() == 0 {
			t.Errorf("%v: a requested check showed no certificate", asks)
		}
		was := shown.Load()
		if said, err := l.TestService(t.Context(), "shop", s.Services[0].URL); err != nil || !strings.Contains(said, "200 OK") || shown.Load() == was {
			t.Errorf("%v: Test returned %s, %v, with %d certificates", asks, said, err, shown.Load()-was)
		}
	}
}

// TestEditorChecksKeys checks that the editor reports a missing private key, and that keys are not files of the scenario.
func TestEditorChecksKeys(t *testing.T) {
	file, _ := certified(t, tls.NoClientCert)
	e := &authoring.Edit{Name: file}
	if _, err := e.Load(scenario.Extras{}); err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(e.Files(), " "); strings.Contains(all, "client.key") || !strings.Contains(all, "client.pem") {
		t.Errorf("got files: %s", all)
	}
	if err := os.Remove(filepath.Join(filepath.Dir(file), "client.key")); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Load(scenario.Extras{}); err == nil || !strings.Contains(err.Error(), "shop.yaml:2:") || !strings.Contains(err.Error(), "there is no file client.key") {
		t.Errorf("got %v", err)
	}
}
