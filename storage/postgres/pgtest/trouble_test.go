package pgtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// TestStandby checks that a standby has the rows of its server and rejects writes.
func TestStandby(t *testing.T) {
	s := New(t, Options{MaxConnections: 20})
	s.Exec(t, "postgres", "CREATE TABLE kept (n int)", "INSERT INTO kept VALUES (7)")
	b := s.Standby(t)
	conn := Connect(t, b.URL(User, "postgres"))
	defer func() { _ = conn.Close(t.Context()) }()
	var n int
	if err := conn.QueryRow(t.Context(), "SELECT n FROM kept").Scan(&n); err != nil || n != 7 {
		t.Errorf("got %d, %v", n, err)
	}
	_, err := conn.Exec(t.Context(), "INSERT INTO kept VALUES (8)")
	if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "25006" {
		t.Errorf("a write on the standby: %v", err)
	}
}

// TestDisk fills a disk and frees it again.
func TestDisk(t *testing.T) {
	s := New(t, Options{MaxConnections: 20})
	disk := s.Disk(t, 32)
	conn := Connect(t, s.Database(t, "TABLESPACE "+disk.Tablespace))
	defer func() { _ = conn.Close(t.Context()) }()
	write := func() error {
		_, err := conn.Exec(t.Context(), "DROP TABLE IF EXISTS kept; CREATE TABLE kept AS SELECT repeat('x', 1000) FROM generate_series(1, 2000)", pgx.QueryExecModeSimpleProtocol)
		return err
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
	disk.Fill(t)
	err := write()
	if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "53100" {
		t.Errorf("a write on the full disk: %v", err)
	}
	disk.Free(t)
	if err := write(); err != nil {
		t.Error(err)
	}
}

// TestPresent uses certificates that a client does not trust, and a valid one.
func TestPresent(t *testing.T) {
	s := New(t, Options{TLS: true, MaxConnections: 20})
	for _, tt := range []struct {
		certificate Certificate
		says        string
	}{{Certificate{Expired: true}, "expired"}, {Certificate{Elsewhere: true}, "127.0.0.1"}, {Certificate{}, ""}} {
		s.Present(t, tt.certificate)
		conn, err := pgx.Connect(t.Context(), s.URL(User, "postgres")+"?sslmode=verify-full&sslrootcert="+s.Certificate)
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%+v: %v", tt.certificate, err)
		}
		if err == nil {
			if err := conn.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}
