// Package pgtest starts real PostgreSQL servers for tests and measurements. It uses the installed programs.
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
	// User is the superuser of the servers.
	User = "app"
	// Password is the password of every user.
	Password = "open sesame?/@&" // contains characters that an address must escape
)

// Options configure a server. The zero value is ready for use.
type Options struct {
	TLS            bool // with a self-signed certificate for 127.0.0.1: see Server.Certificate
	Expired        bool // TLS with an expired certificate
	MaxConnections int  // 0 is 50
	Trust          bool // connections from this machine need no password, as on many development servers
}

// ends returns when the certificate expires.
func (o Options) ends() time.Time {
	if o.Expired {
		return time.Now().Add(-24 * time.Hour)
	}
	return time.Now().Add(24 * time.Hour)
}

// Server is a PostgreSQL server.
type Server struct {
	// Certificate is the file with the server's own certificate, with TLS.
	Certificate string

	dir       string
	port      int
	options   Options
	authority *authority // with TLS
	keeper    io.Closer  // stdin of the process that stops the server and removes its files when it is closed
}

// New starts a server, which ends with the test. It skips the test if PostgreSQL is not installed, and fails it on the
// project's CI.
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

// Shared returns the server that all tests of a process share. Tests must not stop it; it ends with the process.
func Shared(t testing.TB) *Server {
	t.Helper()
	s, err := shared()
	give(t, err)
	return s
}

// ErrMissing says that PostgreSQL is not installed.
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

// programs returns the folder of initdb, pg_ctl and postgres.
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

// Start starts a server outside of a test. It runs until Close or the end of the process.
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

// Close stops the server and removes its files. It does not wait.
func (s *Server) Close() error { return s.keeper.Close() }

// begin starts a server whose files exist.
func (s *Server) begin() (err error) {
	for range 3 { // another program may take the port
		if s.port, err = freePort(); err != nil {
			return err
		}
		if err = s.run("start"); err == nil {
			return s.keep()
		}
	}
	return err
}

// prepare creates the files of the server.
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

// program runs a program of PostgreSQL, which refuses to run as root.
func (s *Server) program(name string, args ...string) error {
	return s.command(filepath.Join(s.dir, "bin", name), args...)
}

// command runs a program as the user of the server.
func (s *Server) command(name string, args ...string) error {
	args = append(asOther(), append([]string{name}, args...)...)
	log, err := os.CreateTemp("", "throng-pg-*.log") // a server inherits files, so no pipe
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(log.Close(), os.Remove(log.Name())) }()
	cmd := exec.Command(args[0], args[1:]...) //nolint:noctx // it outlives the test
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

// keep starts the process that cleans up, even if this process dies.
func (s *Server) keep() error {
	script := `cat; "$@" -D data -m immediate -s stop; rm -rf "$PWD"`
	args := append([]string{"-c", script, "sh"}, append(asOther(), filepath.Join(s.dir, "bin", "pg_ctl"))...)
	cmd := exec.Command("sh", args...) //nolint:noctx // it outlives the test
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

// Stop ends the server like a power failure.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.Shut(t, "immediate")
}

// Start restarts a stopped server at the same address.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.run("start"); err != nil {
		t.Fatal(err)
	}
}

// Address returns the host and port of the server.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// URL returns the address of a database with a user and the password.
func (s *Server) URL(user, database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(user, Password), Host: s.Address(), Path: database}
	return u.String()
}

var made atomic.Int64 // databases and users

// Database creates a database and returns its address for the superuser. with are options of CREATE DATABASE.
func (s *Server) Database(t testing.TB, with ...string) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", made.Add(1))
	s.Exec(t, "postgres", "CREATE DATABASE "+name+" "+strings.Join(with, " "))
	return s.URL(User, name)
}

// Role creates a user without rights and returns its name.
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

// Connect opens a connection, which is closed at the end of the test.
func Connect(t testing.TB, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(ctx) // the server may have stopped
	})
	return conn
}
