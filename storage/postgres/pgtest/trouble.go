package pgtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// Shut stops the server in a mode of pg_ctl: fast, like an administrator, or immediate, like a power failure.
func (s *Server) Shut(t testing.TB, mode string) {
	t.Helper()
	if err := s.run("stop", "-m", mode); err != nil {
		t.Fatal(err)
	}
}

// Standby creates a read-only replica of the server. It ends with the test.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	b, err := s.copy()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.keeper.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (s *Server) copy() (*Server, error) {
	dir, err := os.MkdirTemp("", "throng-pg-")
	if err != nil {
		return nil, err
	}
	b := &Server{dir: dir, options: s.options}
	err = errors.Join(os.Symlink(filepath.Join(s.dir, "bin"), filepath.Join(dir, "bin")), giveAway(b.dir))
	if err == nil {
		from := url.URL{Scheme: "postgres", User: url.UserPassword(User, Password), Host: s.Address()}
		err = b.program("pg_basebackup", "-d", from.String(), "-D", b.data(), "-c", "fast", "-X", "stream", "-R")
	}
	if err == nil {
		err = b.begin()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return b, nil
}

// Disk is a small disk with a tablespace of the same name.
type Disk struct {
	Tablespace string
	dir        string
}

// Disk adds a disk of some megabytes to the server until the end of the test. It skips the test if this user may not mount
// one.
func (s *Server) Disk(t testing.TB, megabytes int) *Disk {
	t.Helper()
	d := &Disk{fmt.Sprintf("disk_%d", made.Add(1)), filepath.Join(s.dir, "disk"+strconv.FormatInt(made.Load(), 10))}
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	mount := asRoot("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", megabytes), "tmpfs", d.dir)
	if said, err := mount.CombinedOutput(); err != nil {
		t.Skipf("this user may not mount a small disk: %v %s", err, bytes.TrimSpace(said))
	}
	t.Cleanup(func() {
		s.Stop(t) // it has open files there
		if said, err := asRoot("umount", d.dir).CombinedOutput(); err != nil {
			t.Errorf("%v %s", err, said)
		}
	})
	if said, err := asRoot("chmod", "0777", d.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, said)
	}
	owned := filepath.Join(d.dir, "tablespace")
	if err := s.command("mkdir", owned); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "postgres", "CREATE TABLESPACE "+d.Tablespace+" LOCATION '"+owned+"'")
	return d
}

func asRoot(command ...string) *exec.Cmd {
	if os.Getuid() != 0 {
		command = append([]string{"sudo", "-n"}, command...)
	}
	return exec.Command(command[0], command[1:]...) //nolint:noctx // it does not wait
}

func (d *Disk) ballast() string { return filepath.Join(d.dir, "ballast") }

// Fill fills the disk.
func (d *Disk) Fill(t testing.TB) {
	t.Helper()
	file, err := os.Create(d.ballast())
	if err != nil {
		t.Fatal(err)
	}
	if _, err = io.Copy(file, endless{}); err == nil {
		t.Error("the disk is not full")
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
}

// Free frees the disk.
func (d *Disk) Free(t testing.TB) {
	t.Helper()
	if err := os.Remove(d.ballast()); err != nil {
		t.Error(err)
	}
}

// endless reads zeros without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Present makes the server use another certificate signed by the one in s.Certificate; the zero value is a valid one. The
// server must have TLS. Open connections stay open.
func (s *Server) Present(t testing.TB, c Certificate) {
	t.Helper()
	name := fmt.Sprintf("server%d", made.Add(1))
	at := filepath.Join(s.data(), name)
	if err := errors.Join(s.authority.sign(c, at+".crt", at+".key"), giveAway(s.dir)); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "postgres", "ALTER SYSTEM SET ssl_cert_file = '"+name+".crt'", "ALTER SYSTEM SET ssl_key_file = '"+name+".key'", "SELECT pg_reload_conf()")
}
