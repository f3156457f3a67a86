package desk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/storage/postgres/pgtest"
	"github.com/throng-sim/throng/ui/setup"
)

// TestPostgresService checks the results of the Test button of a PostgreSQL service.
func TestPostgresService(t *testing.T) {
	d := open(t, t.TempDir())
	t.Setenv("THRONG_TEST_PASSWORD", pgtest.Password)
	server := pgtest.Shared(t)
	const text = `
services: {db: {kind: postgres, url: "postgres://app@HOST/postgres", auth: {password: "secret:THRONG_TEST_PASSWORD"}}}
chain c: {step a: {kind: sql, service: db, query: "select 1"}}
`
	path := filepath.Join(t.TempDir(), "db.yaml")
	if err := os.WriteFile(path, []byte(strings.Replace(text, "HOST", server.Address(), 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := setupDesk{d}.Scenario(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := setup.Service{Name: "db", Kind: "postgres", URL: "postgres://app@" + server.Address() + "/postgres", Secret: "THRONG_TEST_PASSWORD"}
	if len(s.Services) != 1 || s.Services[0] != want {
		t.Fatalf("services %+v, want %+v", s.Services, want)
	}
	o := setup.Order{Scenario: path, Settings: s.Settings}
	if said, err := (setupDesk{d}).TestService(t.Context(), o, want); err == nil || !strings.Contains(err.Error(), "nothing was sent to "+server.Address()+"/postgres, which is not allowed yet; it would get SQL statements with the secret THRONG_TEST_PASSWORD") {
		t.Errorf("before it was allowed: %s, %v", said, err)
	}
	o.Allow = []string{server.Address()}
	if said, err := (setupDesk{d}).TestService(t.Context(), o, want); err != nil || !strings.Contains(said, "connections free") {
		t.Errorf("%s, %v", said, err)
	}
	t.Setenv("THRONG_TEST_PASSWORD", "hunter2")
	if said, err := (setupDesk{d}).TestService(t.Context(), o, want); err == nil || !strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("with another password: %s, %v", said, err)
	}
}
