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

// poolerTime is how long a pooler may take to accept connections.
const poolerTime = 2 * time.Minute

// Pooler is a PgBouncer in transaction mode in front of a server. Each transaction may use another session, and unknown
// startup parameters are rejected.
type Pooler struct {
	server *Server
	port   int
}

// Pooler starts a PgBouncer that opens at most size connections to each database of the server. It ends with the test. Only
// [User] may log in. Named prepared statements end with their transaction. settings are additional lines of its
// pgbouncer.ini, which override others. It skips the test if PgBouncer is not installed, and fails it on the project's CI.
func (s *Server) Pooler(t testing.TB, size int, settings ...string) *Pooler {
	t.Helper()
	program, err := pooler()
	give(t, err)
	p := &Pooler{server: s}
	dir, err := p.prepare(program, size, settings)
	if err != nil {
		t.Fatal(err)
	}
	// The shell cleans up even if this process dies: then its stdin ends.
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

// pooler returns the path of the program. /usr/sbin is not in the PATH of most users.
func pooler() (string, error) {
	for _, path := range []string{"pgbouncer", "/usr/sbin/pgbouncer", "/opt/homebrew/bin/pgbouncer", "/usr/local/bin/pgbouncer"} {
		if found, err := exec.LookPath(path); err == nil {
			return found, nil
		}
	}
	return "", errNoPooler
}

// prepares is the first version with max_prepared_statements.
var prepares = []int{1, 21}

// prepare writes the files of the pooler to a new folder, which its user can read.
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
	major, _ := strconv.Atoi(version[1]) // the pattern matches digits
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

// await waits until the pooler accepts connections.
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

// Address returns the host and port of the pooler.
func (p *Pooler) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port)) }

// URL returns the address of a server's database behind the pooler.
func (p *Pooler) URL(t testing.TB, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = p.Address()
	return u.String()
}
