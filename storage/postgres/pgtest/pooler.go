package pgtest

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var errNoPooler = errors.New("PgBouncer is not installed")

// poolerTime is how long a pooler may take to answer first.
const poolerTime = 2 * time.Minute

// Pooler is a PgBouncer in transaction mode in front of a server: each transaction may find another session, and it
// refuses parameters at the start that it does not know.
type Pooler struct {
	server *Server
	port   int
}

// Pooler starts one that opens at most size connections to each database of the server. It ends with the test. Only
// [User] may log in. Statements that are prepared by name do not outlast their transaction. Settings are further lines of
// its pgbouncer.ini, which override those before. It skips the test where PgBouncer is not installed, but fails it on the
// project's own machines.
func (s *Server) Pooler(t testing.TB, size int, settings ...string) *Pooler {
	t.Helper()
	program, err := pooler()
	give(t, err)
	p := &Pooler{server: s}
	dir, err := p.prepare(program, size, settings)
	if err != nil {
		t.Fatal(err)
	}
	// Whoever cleans up does so also when this process dies: then its input ends.
	const script = `"$@" >log 2>&1 & cat; kill $!; wait; rm -rf "$PWD"`
	cmd := exec.Command("sh", append([]string{"-c", script, "sh"}, append(asOther(), program, filepath.Join(dir, "pgbouncer.ini"))...)...) //nolint:noctx // ended below
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(errors.Join(err, os.RemoveAll(dir)))
	}
	t.Cleanup(func() {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			t.Error(err)
		}
	})
	p.await(t, filepath.Join(dir, "log"))
	return p
}

// pooler is where the program is; few users have /usr/sbin in their PATH.
func pooler() (string, error) {
	for _, path := range []string{"pgbouncer", "/usr/sbin/pgbouncer", "/opt/homebrew/bin/pgbouncer", "/usr/local/bin/pgbouncer"} {
		if found, err := exec.LookPath(path); err == nil {
			return found, nil
		}
	}
	return "", errNoPooler
}

// prepares is the first version that knows max_prepared_statements.
var prepares = []int{1, 21}

// prepare writes the pooler's files into a folder of its own, which another user can reach.
func (p *Pooler) prepare(program string, size int, settings []string) (dir string, err error) {
	said, err := exec.Command(program, "--version").Output() //nolint:noctx // it does not wait
	if err != nil {
		return "", err
	}
	if p.port, err = freePort(); err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp("", "throng-pooler-"); err != nil {
		return "", err
	}
	config := fmt.Sprintf(`[databases]
* = host=127.0.0.1 port=%d
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = scram-sha-256
auth_file = users
pool_mode = transaction
default_pool_size = %d
max_client_conn = 500
`, p.server.port, p.port, size)
	version := regexp.MustCompile(`(\d+)\.(\d+)`).FindStringSubmatch(string(said))
	if version == nil {
		return "", errors.Join(fmt.Errorf("the pooler's version is %q", said), os.RemoveAll(dir))
	}
	major, _ := strconv.Atoi(version[1]) // they are digits
	minor, _ := strconv.Atoi(version[2])
	if major > prepares[0] || major == prepares[0] && minor >= prepares[1] {
		config += "max_prepared_statements = 0\n"
	}
	config += strings.Join(settings, "\n") + "\n"
	users := fmt.Sprintf("%q \"%s\"\n", User, strings.ReplaceAll(Password, `"`, `""`))
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "pgbouncer.ini"), []byte(config), 0o600),
		os.WriteFile(filepath.Join(dir, "users"), []byte(users), 0o600),
		giveAway(dir),
	); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// await waits until it answers.
func (p *Pooler) await(t testing.TB, log string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(poolerTime)
	for {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Address())
		if err == nil {
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
			return
		}
		select {
		case <-tick.C:
		case <-late:
			text, _ := os.ReadFile(log)
			t.Fatalf("%v: %s", err, text)
		}
	}
}

// Address is the pooler's host and port.
func (p *Pooler) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port)) }

// URL is where the pooler has what the server has at an address.
func (p *Pooler) URL(t testing.TB, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = p.Address()
	return u.String()
}
