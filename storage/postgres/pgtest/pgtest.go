// Package pgtest starts real PostgreSQL servers for tests and measurements, with the programs that the system has.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// User is the servers' superuser.
	User = "app"
	// Password is that of every user.
	Password = "open sesame?/@&" // with all that an address must escape
)

// Options are how a server is started. The zero value is ready for use.
type Options struct {
	TLS            bool // with a certificate for 127.0.0.1 that nobody has signed: see Server.Certificate
	Expired        bool // TLS with one that has expired
	MaxConnections int  // 0 is 50
	Trust          bool // everybody on this machine is let in without a password, as many development servers do
}

// ends is when the certificate does.
func (o Options) ends() time.Time {
	if o.Expired {
		return time.Now().Add(-24 * time.Hour)
	}
	return time.Now().Add(24 * time.Hour)
}

// Server is a PostgreSQL server of its own.
type Server struct {
	// Certificate is the file of its own certificate, with TLS.
	Certificate string

	dir       string
	port      int
	options   Options
	authority *authority // with TLS
	keeper    io.Closer  // its input: at its end the server is stopped and its files are removed
}

// New starts a server, which ends with the test. It skips the test where PostgreSQL is not installed, but fails it on
// the project's own machines.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := Start(o)
	give(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var shared = sync.OnceValues(func() (*Server, error) { return Start(Options{}) })

// Shared returns the server that all tests of a process use. It must not be stopped; it ends with the process.
func Shared(t testing.TB) *Server {
	t.Helper()
	s, err := shared()
	give(t, err)
	return s
}

// ErrMissing says that there is nothing to start.
var ErrMissing = errors.New("PostgreSQL's server programs are not installed")

func give(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case (errors.Is(err, ErrMissing) || errors.Is(err, errNoPooler)) && (os.Getenv("CI") == "" || runtime.GOOS != "linux"):
		t.Skip(err)
	default:
		t.Fatal(err)
	}
}

// programs is where initdb, pg_ctl and postgres are.
func programs() (dir string, err error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin"} {
		found, err := filepath.Glob(filepath.Join(pattern, "initdb"))
		if err == nil && len(found) > 0 {
			return filepath.Dir(found[len(found)-1]), nil
		}
	}
	return "", ErrMissing
}

// Start starts a server outside of a test, up to Close or the end of the process.
func Start(o Options) (s *Server, err error) {
	o.TLS = o.TLS || o.Expired
	if o.MaxConnections == 0 {
		o.MaxConnections = 50
	}
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "throng-pg-")
	if err != nil {
		return nil, err
	}
	s = &Server{dir: dir, options: o}
	if err := s.prepare(bin); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.begin(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// Close ends the server and has its files removed. It does not wait for that.
func (s *Server) Close() error { return s.keeper.Close() }

// begin starts a server whose files are there.
func (s *Server) begin() (err error) {
	for range 3 { // the port may be taken meanwhile
		if s.port, err = freePort(); err != nil {
			return err
		}
		if err = s.run("start"); err == nil {
			return s.keep()
		}
	}
	return err
}

// prepare makes the server's files.
func (s *Server) prepare(bin string) error {
	password := filepath.Join(s.dir, "password")
	if err := os.WriteFile(password, []byte(Password), 0o600); err != nil {
		return err
	}
	if err := os.Symlink(bin, filepath.Join(s.dir, "bin")); err != nil {
		return err
	}
	if err := giveAway(s.dir); err != nil {
		return err
	}
	auth := "scram-sha-256"
	if s.options.Trust {
		auth = "trust"
	}
	err := s.program("initdb", "-D", s.data(), "-U", User, "-A", auth, "--pwfile", password, "-E", "UTF8", "--locale=C", "-N")
	if err == nil && s.options.TLS {
		s.Certificate = filepath.Join(s.data(), "server.crt")
		if s.authority, err = newAuthority(s.Certificate, filepath.Join(s.data(), "server.key"), s.options.ends()); err == nil {
			err = giveAway(s.dir)
		}
	}
	return err
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// program runs one of PostgreSQL's programs, which refuse to be root.
func (s *Server) program(name string, args ...string) error {
	return s.command(filepath.Join(s.dir, "bin", name), args...)
}

// command runs a program as the user that runs the server.
func (s *Server) command(name string, args ...string) error {
	args = append(asOther(), append([]string{name}, args...)...)
	log, err := os.CreateTemp("", "throng-pg-*.log") // a server keeps what its starter gave it: no pipe
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(log.Close(), os.Remove(log.Name())) }()
	cmd := exec.Command(args[0], args[1:]...) //nolint:noctx // it outlives the test that starts it
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, log, log
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(log.Name())
		more, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		return fmt.Errorf("%s: %w: %s%s", name, err, text, more)
	}
	return nil
}

func (s *Server) run(what string, more ...string) error {
	args := []string{"-D", s.data(), "-w", "-t", "60", "-l", filepath.Join(s.dir, "log")}
	if what == "start" {
		options := fmt.Sprintf("-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off -c max_connections=%d", s.port, s.options.MaxConnections)
		if s.options.TLS {
			options += " -c ssl=on"
		}
		args = append(args, "-o", options)
	}
	return s.program("pg_ctl", append(append(args, more...), what)...)
}

// keep starts the process that cleans up, also when this one dies.
func (s *Server) keep() error {
	script := `cat; "$@" -D data -m immediate -s stop; rm -rf "$PWD"`
	args := append([]string{"-c", script, "sh"}, append(asOther(), filepath.Join(s.dir, "bin", "pg_ctl"))...)
	cmd := exec.Command("sh", args...) //nolint:noctx // it outlives the test that starts it
	cmd.Dir = s.dir
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	s.keeper = in
	return cmd.Start()
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it does not wait
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// Stop ends the server as a power cut would.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.Shut(t, "immediate")
}

// Start starts a server again that was stopped, at the same address.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.run("start"); err != nil {
		t.Fatal(err)
	}
}

// Address is the server's host and port.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// URL is the address of a database, with a user and the password.
func (s *Server) URL(user, database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(user, Password), Host: s.Address(), Path: database}
	return u.String()
}

var made atomic.Int64 // databases and users

// Database makes a new database and returns its address for the superuser. With are options of CREATE DATABASE.
func (s *Server) Database(t testing.TB, with ...string) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", made.Add(1))
	s.Exec(t, "postgres", "CREATE DATABASE "+name+" "+strings.Join(with, " "))
	return s.URL(User, name)
}

// Role makes a user without rights of its own and returns its name.
func (s *Server) Role(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("user_%d", made.Add(1))
	s.Exec(t, "postgres", fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s'", name, strings.ReplaceAll(Password, "'", "''")))
	return name
}

// Exec runs statements in a database as the superuser.
func (s *Server) Exec(t testing.TB, database string, statements ...string) {
	t.Helper()
	conn := Connect(t, s.URL(User, database))
	for _, q := range statements {
		if _, err := conn.Exec(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Connect opens a connection, which stays open to the end of the test unless the caller closes it.
func Connect(t testing.TB, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(ctx) // its server may be gone
	})
	return conn
}
