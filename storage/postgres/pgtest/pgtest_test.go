package pgtest

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestOutage stops a server and starts it again: committed rows exist at the same address.
func TestOutage(t *testing.T) {
	s := New(t, Options{MaxConnections: 20})
	address := s.Database(t)
	conn := Connect(t, address)
	if _, err := conn.Exec(t.Context(), `CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)`, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	s.Stop(t)
	if err := conn.Ping(t.Context()); err == nil {
		t.Error("the connection survived")
	}
	if other, err := pgx.Connect(t.Context(), address); err == nil {
		t.Error("a stopped server answers", other.Close(t.Context()))
	}
	s.Start(t)
	conn = Connect(t, address)
	var n, limit int
	if err := conn.QueryRow(t.Context(), `SELECT n, current_setting('max_connections')::int FROM kept`).Scan(&n, &limit); err != nil || n != 7 || limit != 20 {
		t.Errorf("got %d, %d, %v, want 7 and 20", n, limit, err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTLS(t *testing.T) {
	s := New(t, Options{TLS: true})
	conn := Connect(t, s.URL(User, "postgres")+"?sslmode=verify-full&sslrootcert="+s.Certificate)
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestShared uses one server for several tests, with a database for each.
func TestShared(t *testing.T) {
	s := Shared(t)
	if Shared(t) != s {
		t.Error("two servers were started")
	}
	a, b := s.Database(t), s.Database(t)
	if a == b {
		t.Errorf("two tests share the database %s", a)
	}
	conn := Connect(t, s.URL(s.Role(t), "postgres"))
	var super bool
	if err := conn.QueryRow(t.Context(), `SELECT usesuper FROM pg_user WHERE usename = current_user`).Scan(&super); err != nil || super {
		t.Errorf("got a superuser: %v, %v", super, err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
