package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestOnlyThisUserCanOpen checks that an existing folder that was open to other users is closed to them.
func TestOnlyThisUserCanOpen(t *testing.T) {
	data := shortDir(t)
	folder := filepath.Join(data, "control")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	stop, err := Serve(newFakeRun().job(), data)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{folder: 0o700, filepath.Join(folder, string(runID)+".sock"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %v", path, info.Mode(), err, want)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("not removed: %v %v", left, err)
	}
	if _, err := Dial(t.Context(), data, runID); err == nil || !strings.Contains(err.Error(), string(runID)) || !strings.Contains(err.Error(), "that started it") {
		t.Errorf("there is no server: %v", err)
	}
}

// TestLongPaths checks that a file holds the path of the socket if the data folder is too deep for it.
func TestLongPaths(t *testing.T) {
	base := shortDir(t)
	t.Setenv("XDG_RUNTIME_DIR", base)
	data := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	r := newFakeRun()
	for range 2 { // the second one finds the files of a process that died
		if _, err := makePlace(data, ofRun(runID)); err != nil {
			t.Fatal(err)
		}
	}
	stop, err := Serve(r.job(), data)
	if err != nil {
		t.Fatal(err)
	}
	away, err := filepath.Glob(filepath.Join(base, "throng-*", string(runID)+".sock"))
	if err != nil || len(away) != 1 {
		t.Fatalf("sockets: %v %v", away, err)
	}
	if info, err := os.Stat(filepath.Dir(away[0])); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the socket's folder: %v %v", info, err)
	}
	if err := dial(t, data).Pause(t.Context(), "far away"); err != nil || r.heard() != "pause by W because far away" {
		t.Errorf("an order: %v", err)
	}
	if err := os.Chmod(filepath.Dir(away[0]), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(t.Context(), data, runID); err == nil || !strings.Contains(err.Error(), "not this user's alone") {
		t.Errorf("a folder that other users can open: %v", err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{base, filepath.Join(data, "control")} {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("not removed in %s: %v %v", dir, left, err)
		}
	}
}

func TestNoPathIsShortEnough(t *testing.T) {
	base := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.Mkdir(base, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", base)
	if _, err := Serve(newFakeRun().job(), base); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("%v", err)
	}
	if left, err := filepath.Glob(filepath.Join(base, "throng-*")); err != nil || len(left) > 0 {
		t.Errorf("not removed: %v %v", left, err)
	}
	t.Setenv("XDG_RUNTIME_DIR", "relative")
	if got := runtimeFolder(); got != os.TempDir() {
		t.Errorf("sockets are in %s", got)
	}
}

func TestPlaceThatNamesSomethingElse(t *testing.T) {
	data := shortDir(t)
	if err := os.Mkdir(filepath.Join(data, "control"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "run.sock", "/etc/passwd"} {
		if err := os.WriteFile(filepath.Join(data, "control", string(runID)+".place"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Dial(t.Context(), data, runID); err == nil || !strings.Contains(err.Error(), "names no socket") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestSocketOfTheDead checks that the socket of a dead process is replaced.
func TestSocketOfTheDead(t *testing.T) {
	data := shortDir(t)
	p, err := makePlace(data, ofRun(runID))
	if err != nil {
		t.Fatal(err)
	}
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: p.path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(t.Context(), data, runID); err == nil {
		t.Error("a dead process accepts orders")
	}
	r := newFakeRun()
	stop, err := Serve(r.job(), data)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(dial(t, data).Continue(t.Context()), stop()); err != nil || r.heard() != "resume by W" {
		t.Errorf("%v", err)
	}
	other, err := makePlace(data, ofRun("20200101-000000-dead"))
	if err != nil {
		t.Fatal(err)
	}
	if dead, err = net.ListenUnix("unix", &net.UnixAddr{Name: other.path, Net: "unix"}); err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	if stop, err = Serve(r.job(), data); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(other.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket of another dead run is still there: %v", err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestGarbage checks that invalid input gets at most one reply, and that the server continues to serve other clients.
func TestGarbage(t *testing.T) {
	r := newFakeRun()
	data, _ := serve(t, r)
	socket := filepath.Join(data, "control", string(runID)+".sock")
	for _, c := range []struct{ name, send, want string }{
		{"nothing", "", ""},
		{"half a line", `{"version":1`, ""},
		{"no JSON", "GET / HTTP/1.1\r\n", "invalid order"},
		{"an order of a web page", "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://evil.example\r\n\r\n" + `{"version":1,"order":"pause"}` + "\n", "invalid order"},
		{"a list", "[]\n", "invalid order"},
		{"two objects", "{}{}\n", "invalid order"},
		{"a line without end", strings.Repeat("x", mostRequest+1), "too long"},
		{"deep", strings.Repeat("[", 20_000) + "\n", "invalid order"},
		{"no version", `{"order":"pause"}` + "\n", "version 1"},
		{"of the future", `{"version":2,"order":"pause"}` + "\n", "same Throng"},
		{"no order", `{"version":1}` + "\n", "knows no order"},
		{"unknown", `{"version":1,"order":"dance\u001b"}` + "\n", `no order \"dance\"`},
		{"for another run", `{"version":1,"order":"pause","run":"20200101-1"}` + "\n", "20200101-1 has ended; now " + string(runID)},
	} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, c.send); err != nil {
			t.Logf("%s: not read completely: %v", c.name, err)
		}
		if err := conn.(*net.UnixConn).CloseWrite(); err != nil {
			t.Logf("%s: %v", c.name, err)
		}
		answer, _ := io.ReadAll(conn) // unread input resets the connection
		if c.want == "" && len(answer) > 0 || !strings.Contains(string(answer), c.want) || strings.Count(string(answer), "\n") > 1 {
			t.Errorf("%s: answered %q, want %q", c.name, answer, c.want)
		}
		_ = conn.Close()
		if got := r.heard(); got != "" {
			t.Errorf("%s: the run received %q", c.name, got)
		}
	}
	if err := dial(t, data).Pause(t.Context(), ""); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestManyClients(t *testing.T) {
	data, _ := serve(t, newFakeRun())
	var all []*Client
	for range mostClients {
		c := dial(t, data)
		if err := c.Continue(t.Context()); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	late, err := Dial(t.Context(), data, runID)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = late.Close() }()
	text, err := readLine(late.in, mostReply)
	if err != nil || !strings.Contains(string(text), "16 terminals") {
		t.Errorf("one client too many: got %q, %v", text, err)
	}
	if err := all[0].Continue(t.Context()); err != nil {
		t.Errorf("the first is still served: %v", err)
	}
}

// TestEndOfTheRun checks that the end of the run fails waiting orders, and that later orders get an error.
func TestEndOfTheRun(t *testing.T) {
	r := newFakeRun()
	r.wait = true
	data, stop := serve(t, r)
	idle, busy := dial(t, data), dial(t, data)
	waited := make(chan error, 1)
	go func() { waited <- busy.Checkpoint(context.Background(), "") }()
	<-r.begun
	stop()
	if err := <-waited; !errors.Is(err, engine.ErrEnded) {
		t.Errorf("the waiting client got %v", err)
	}
	if err := idle.Pause(t.Context(), ""); !errors.Is(err, engine.ErrEnded) || !strings.Contains(err.Error(), string(runID)) {
		t.Errorf("a later client got %v", err)
	}
}

func TestClientGivesUp(t *testing.T) {
	r := newFakeRun()
	r.wait = true
	data, _ := serve(t, r)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-r.begun
		cancel(errors.New("had enough"))
	}()
	if err := dial(t, data).Checkpoint(ctx, ""); err == nil || err.Error() != "had enough" {
		t.Errorf("%v", err)
	}
}

func TestTooMuchForOneOrder(t *testing.T) {
	data, _ := serve(t, newFakeRun())
	c := dial(t, data)
	var field *engine.FieldError
	if err := c.Broadcast(t.Context(), nil, strings.Repeat("x", mostRequest)); !errors.As(err, &field) {
		t.Errorf("%v", err)
	}
	if err := c.Continue(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"version":1,"order":"set","settings":[{"name":"limit","value":"3"},{"name":"model.rate","value":"x"}]}` + "\n"))
	f.Add([]byte(`{"version":1,"order":"status","who":"\u0000"}` + "\n" + `{"version":1,"order":"tunables"}` + "\n"))
	f.Add([]byte(`{"version":1,"order":"retire","agents":["ann","eve"]}` + "\n"))
	f.Add([]byte(`{"version":1,"order":"broadcast","agents":[],"text":"hello","why":null}` + "\n[]\n"))
	f.Add([]byte("{}\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := &server{job: newFakeRun().job(), ctx: t.Context()}
		in := bufio.NewReader(strings.NewReader(string(text)))
		for {
			q, err := readRequest(in)
			if err != nil {
				return
			}
			answer := s.carryOut(&q)
			line, err := json.Marshal(answer)
			if err != nil {
				t.Fatalf("the answer cannot be written: %v", err)
			}
			var again reply
			if err := json.Unmarshal(line, &again); err != nil {
				t.Fatalf("%s cannot be read: %v", line, err)
			}
			if answer.Error != nil && again.Error.err().Error() == "" {
				t.Fatalf("%s has no content", line)
			}
		}
	})
}
