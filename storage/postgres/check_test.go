package postgres

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		name, problem string
		config        Config
	}{
		{"nothing", "has no address", Config{}},
		{"another database", "PostgreSQL", Config{URL: "mysql://anna:secret@db/x"}},
		{"a wild password", "is not an address", Config{URL: "postgres://anna:secret/%@db:5432/x"}},
		{"no port", "cannot be used", Config{URL: "postgres://anna:secret@db:99999/x"}},
		{"an unknown mode", "cannot be used", Config{URL: "postgres://anna:secret@db/x?sslmode=sometimes"}},
		{"a missing file", "cannot be used", Config{URL: "postgres://anna:secret@db/x", RootCert: "/nowhere"}},
		{"too many", "1 to 50", Config{URL: "postgres://anna:secret@db/x", Limits: Limits{Connections: 51}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.config.Validate()
			field, ok := errors.AsType[*engine.FieldError](err)
			if !ok || field.Field != "database" || field.Hint == "" || !strings.Contains(field.Problem, c.problem) {
				t.Errorf("got %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the password is in %v", err)
			}
			if c.config.Target() != "" {
				t.Errorf("an invalid config has the target %s", c.config.Target())
			}
			if _, err := NewPusher(PusherConfig{Database: c.config}); err == nil {
				t.Error("a pusher accepts an invalid config")
			}
		})
	}
	good := Config{URL: " postgresql://anna:secret@DB.Example/shop?application_name=x ", Password: "other"}
	if got := good.Target(); got != "db.example:5432/shop" {
		t.Errorf("got target %s", got)
	}
	p, err := good.parse()
	must(t, err)
	if p.ConnConfig.Password != "other" || p.ConnConfig.RuntimeParams["application_name"] != "x" || p.MaxConns != 8 {
		t.Errorf("got %q, %v, %d", p.ConnConfig.Password, p.ConnConfig.RuntimeParams, p.MaxConns)
	}
}

// TestDefaultTLS checks for which hosts connections may be unencrypted by default.
func TestDefaultTLS(t *testing.T) {
	services := filepath.Join(t.TempDir(), "services")
	must(t, os.WriteFile(services, []byte("[shop]\nhost=db.example\ndbname=x\nsslmode=verify-full\n"), 0o600))
	for address, want := range map[string]string{
		"postgres://db.example/x":                     "must",
		"postgres://10.0.0.1/x":                       "must",
		"postgres://localhost,db.example/x":           "must",
		"postgres://localhost/x":                      "can",
		"postgres://127.0.0.2:5433/x":                 "can",
		"postgres://[::1]/x":                          "can",
		"postgres:///x?host=/run/postgresql":          "no", // never over a socket
		"postgres://db.example/x?sslmode=disable":     "no",
		"postgres://db.example/x?sslmode=prefer":      "can",
		"postgres://localhost/x?sslmode=require":      "must",
		"postgres://localhost/x?sslmode=verify-full":  "verified",
		"postgres://db.example/x?sslmode=verify-full": "verified",
		"postgres://db.example/x?sslmode=":            "must",
		"postgres://db.example/x?sslrootcert=":        "must",
		"postgres://localhost/x?ssl=true":             "must",

		"postgres:///?service=shop&servicefile=" + services: "verified",
	} {
		p, err := Config{URL: address}.parse()
		must(t, err)
		c := p.ConnConfig
		plain := c.TLSConfig == nil
		for _, f := range c.Fallbacks {
			plain = plain || f.TLSConfig == nil
		}
		got := "must"
		switch {
		case c.TLSConfig == nil:
			got = "no"
		case plain:
			got = "can"
		case !c.TLSConfig.InsecureSkipVerify:
			got = "verified"
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	server := pgtest.Shared(t)
	d := newDatabase(t, server)
	r, err := Check(t.Context(), Config{URL: d.url})
	must(t, err)
	if r.Rights != "may create the schema throng" || r.Schema != 0 || r.TLS != notEncrypted || r.Version == "" || r.RoundTrip <= 0 || r.MaxConnections != 50 || r.Kept != 3 || r.InUse < 2 {
		t.Errorf("got %+v", r)
	}
	if n := ask[int](d, `SELECT count(*) FROM pg_namespace WHERE nspname = 'throng'`); n != 0 {
		t.Error("a check created the schema")
	}
	tx, err := d.Begin(t.Context())
	must(t, err)
	idle, err := Check(t.Context(), Config{URL: d.url})
	must(t, err)
	if idle.IdleInTransaction != r.IdleInTransaction+1 {
		t.Errorf("%d clients are idle in a transaction, want one more than %d", idle.IdleInTransaction, r.IdleInTransaction)
	}
	must(t, tx.Rollback(t.Context()))
	must(t, migrate(t.Context(), d.Conn))
	if r, err = Check(t.Context(), Config{URL: d.url}); err != nil || r.Rights != "may write to the schema throng" || r.Schema != newestSchema() {
		t.Errorf("got %+v, %v", r, err)
	}
}

// TestRights checks a user with more and more rights, and sends with them.
func TestRights(t *testing.T) {
	server := pgtest.Shared(t)
	d := newDatabase(t, server)
	name := d.Config().Database
	user := server.Role(t)
	address := server.URL(user, name)
	l := newLocal(t)
	l.add(10)
	may := func(words string, ok bool) {
		t.Helper()
		r, err := Check(t.Context(), Config{URL: address})
		if ok != (err == nil) {
			t.Errorf("got %v", err)
		}
		if err != nil {
			r.Rights = err.Error()
		}
		if !strings.Contains(r.Rights, words) {
			t.Errorf("got %q, want %q", r.Rights, words)
		}
	}
	grant := func(statements ...string) {
		t.Helper()
		server.Exec(t, name, statements...)
	}
	p := l.push(address)
	p.Start()
	may(`GRANT CREATE ON DATABASE "`+name+`" TO "`+user+`"`, false)
	if err := p.Drain(t.Context(), run); err == nil || !strings.Contains(err.Error(), "user "+user+" lacks a right") {
		t.Errorf("got %v", err)
	}
	without, cancel := context.WithCancel(t.Context())
	cancel()
	_ = p.Close(without) // else it tries again below, and makes and owns the tables once it may
	grant(`CREATE SCHEMA throng`)
	may(`GRANT USAGE ON SCHEMA throng TO "`+user+`"`, false)
	grant(`GRANT USAGE ON SCHEMA throng TO ` + user)
	may("must migrate it", false)
	grant(`GRANT CREATE ON SCHEMA throng TO ` + user)
	may("may migrate the schema throng", true)
	grant(`REVOKE CREATE ON SCHEMA throng FROM ` + user)
	must(t, migrate(t.Context(), d.Conn))
	grant(`GRANT SELECT ON throng.migrations TO `+user, `GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA throng TO `+user)
	may("runs (UPDATE), checkpoints (UPDATE)", false)
	grant(`GRANT UPDATE ON throng.runs, throng.checkpoints TO `+user, `REVOKE TEMPORARY ON DATABASE `+name+` FROM PUBLIC`)
	may(`GRANT TEMPORARY ON DATABASE "`+name+`" TO "`+user+`"`, false)
	grant(`GRANT TEMPORARY ON DATABASE ` + name + ` TO ` + user)
	may("may write to the schema throng", true)
	p = l.push(address)
	p.Start()
	must(t, p.Drain(t.Context(), run))
	arrived(t, l, d)
}

// TestCheckInWords checks that errors say what to do, and never contain the password.
func TestCheckInWords(t *testing.T) {
	server := pgtest.Shared(t)
	address := func(change func(u *url.URL)) string {
		u, err := url.Parse(server.URL(pgtest.User, "postgres"))
		must(t, err)
		change(u)
		return u.String()
	}
	closed, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	must(t, closed.Close())
	hangs, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0") // accepts connections and never answers
	must(t, err)
	t.Cleanup(func() { _ = hangs.Close() })
	other, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = other.Close() })
	go func() {
		for {
			conn, err := other.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	for name, c := range map[string]struct {
		config Config
		want   string
	}{
		"wrong password": {Config{URL: address(func(*url.URL) {}), Password: "guessed secret"}, "rejected the password for user app"},
		"no password":    {Config{URL: address(func(u *url.URL) { u.User = url.User("app") })}, "requires a password for user app"},
		"no database":    {Config{URL: address(func(u *url.URL) { u.Path = "/nowhere" })}, "has no database nowhere"},
		"no host":        {Config{URL: "postgres://app:secret@no-such-host.invalid/x"}, "there is no host no-such-host.invalid"},
		"refused":        {Config{URL: "postgres://app:secret@" + closed.Addr().String() + "/x"}, "nothing answers at " + closed.Addr().String()},
		"no TLS":         {Config{URL: address(func(u *url.URL) { u.RawQuery = "sslmode=require" })}, "does not support encryption"},
		"hangs":          {Config{URL: "postgres://app:secret@" + hangs.Addr().String() + "/x?sslmode=disable"}, "does not answer in time"},
		"something else": {Config{URL: "postgres://app:secret@" + other.Addr().String() + "/x?sslmode=disable"}, "closed the connection"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			_, err := Check(t.Context(), c.config)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if took := time.Since(began); took > time.Minute { // the machine may be busy; without a timeout it would never end
				t.Errorf("it took %v", took)
			}
			for _, secret := range []string{"secret", pgtest.Password, url.QueryEscape(pgtest.Password)} {
				if err != nil && strings.Contains(err.Error(), secret) {
					t.Errorf("the password is in %v", err)
				}
			}
		})
	}
}

// TestProtection checks the description of encryption.
func TestProtection(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{TLS: true})
	base := server.URL(pgtest.User, "postgres")
	for _, c := range []struct {
		name   string
		config Config
		want   string
	}{
		{"by itself on loopback", Config{URL: base}, notVerified},
		{"required", Config{URL: base + "?sslmode=require"}, notVerified},
		{"switched off", Config{URL: base + "?sslmode=disable"}, notEncrypted},
		{"with the CA", Config{URL: base, RootCert: server.Certificate}, verified + " by throng test"},
		{"with the CA in the address", Config{URL: base + "?sslrootcert=" + server.Certificate}, verified + " by throng test"},
		{"only the CA", Config{URL: base + "?sslmode=verify-ca", RootCert: server.Certificate}, verified},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Check(t.Context(), c.config)
			if err != nil || r.TLS != c.want {
				t.Errorf("got %q, %v, want %q", r.TLS, err, c.want)
			}
		})
	}
	if _, err := Check(t.Context(), Config{URL: base + "?sslmode=verify-full"}); err == nil || !strings.Contains(err.Error(), "certificate is not trusted") {
		t.Errorf("without the CA: got %v", err)
	}
}

// TestServerFigures counts connections of other users as a user who cannot see their state.
func TestServerFigures(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{MaxConnections: 30})
	address := server.URL(server.Role(t), "postgres")
	plain := &database{pgtest.Connect(t, address), t, address}
	defer func() { must(t, plain.Close(context.Background())) }()
	for n := range 5 {
		if f := settled(t, plain, n+1); f != (figures{Clients: n + 1, Max: 30, Kept: 3}) { // the connection that created the role is closed
			t.Errorf("got %+v, want %d clients", f, n+1)
		}
		if hidden := ask[int](plain, `SELECT count(*) FROM pg_stat_activity WHERE backend_type IS NULL`); hidden <= n {
			t.Errorf("only %d processes are hidden: nothing is tested", hidden)
		}
		other := pgtest.Connect(t, server.URL(pgtest.User, "template1"))
		defer func() { must(t, other.Close(context.Background())) }()
		if n == 0 {
			_, err := other.Exec(t.Context(), `BEGIN`)
			must(t, err)
		}
	}
	r, err := Check(t.Context(), Config{URL: address})
	if err == nil || r.Hidden != 5 || r.InUse != 7 || r.IdleInTransaction != 0 {
		t.Errorf("got %+v, %v", r, err)
	}

	// The pool leaves connections for others: it uses 70% of the 30 - 3 - 6 free ones.
	settled(t, plain, 6)
	pool, f, err := Config{URL: server.URL(pgtest.User, "template1"), Limits: Limits{Connections: 50}}.open(t.Context(), func() error { return nil })
	must(t, err)
	defer pool.Close()
	if n := pool.Config().MaxConns; n != 14 || f.Clients != 7 {
		t.Errorf("the pool may have %d connections in addition to %d, want 14", n, f.Clients)
	}
	if n := (figures{Clients: 27, Max: 30, Kept: 3}).share(8, 70); n != 1 {
		t.Errorf("on a full server it may have %d, want 1", n)
	}
}

// settled returns the numbers of the server once there are no more clients than expected, or after some seconds: a closed
// connection is counted for a moment.
func settled(t *testing.T, d *database, clients int) (f figures) {
	t.Helper()
	for range 500 {
		var err error
		f, err = readFigures(t.Context(), d)
		must(t, err)
		if f.Clients <= clients {
			break
		}
		_, err = d.Exec(t.Context(), `SELECT pg_sleep(0.01)`)
		must(t, err)
	}
	return f
}

// TestMonitor checks that a pusher sees the clients of its server, including its own connections.
func TestMonitor(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{MaxConnections: 20})
	d, l := newDatabase(t, server), newLocal(t)
	p := l.push(d.url)
	if s := p.Status(); s.Connected || s.Clients != -1 || s.MaxConnections != -1 {
		t.Errorf("before the start: %+v", s)
	}
	p.Start()
	until(t, "the server's connections are known", func() bool {
		s := p.Status()
		return s.Connected && s.Connections > 0 && s.Clients == 1+s.Connections && s.MaxConnections == 20 && s.Reserved == 3
	})
	server.Stop(t)
	until(t, "the outage is seen with nothing to send", func() bool {
		s := p.Status()
		return !s.Connected && strings.Contains(s.Error, "nothing answers") && s.Clients == -1
	})
	server.Start(t)
	until(t, "it is connected again", func() bool { s := p.Status(); return s.Connected && s.Error == "" })
	must(t, p.Close(t.Context()))
}
