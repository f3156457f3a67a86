package pgbouncer

import (
	"strings"
	"testing"
)

// TestHints checks the hints for messages of PgBouncer 1.18 to 1.24, and that errors of PostgreSQL have no hint.
func TestHints(t *testing.T) {
	for _, c := range []struct {
		code, message, names string
		full                 bool
	}{
		{"08P01", "no more connections allowed (max_client_conn)", "max_client_conn", true},
		{"53300", "no more connections allowed (max_client_conn)", "max_client_conn", true},
		{"08P01", "client connections exceeded (max_db_client_connections)", "max_client_conn", true},
		{"08P01", "query_wait_timeout", "default_pool_size", false},
		{"08P01", "unsupported startup parameter: statement_timeout", "ignore_startup_parameters", false},
		{"08P01", "unsupported startup parameter in options: geqo", "ignore_startup_parameters", false},
		{"26000", `prepared statement "a" does not exist`, "pool_mode = transaction", false},
		{"08P01", "pgbouncer cannot connect to server", "[databases]", false},
		{"08P01", "server login has been failing, cached error: connect failed (server_login_retry)", "[databases]", false},
		{"3D000", "no such database: shop", "[databases]", false},
		{"53300", "sorry, too many clients already", "", false},
		{"23505", "duplicate key value violates unique constraint", "", false},
		{"08P01", "invalid message format", "", false},
	} {
		e := Answer{c.code, c.message}
		if got := Hint(e); !strings.Contains(got, c.names) || (got == "") != (c.names == "") {
			t.Errorf("%s: %q, want one that names %q", c.message, got, c.names)
		}
		if Full(e) != c.full {
			t.Errorf("%s: full %t", c.message, !c.full)
		}
	}
}
