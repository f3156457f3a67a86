package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Escape sequences that show and remove the dashboard.
const (
	boardUp   = "\x1b[?1049h"
	boardDown = "\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// seat is a throngctl process at its own terminal, with a user.
type seat struct {
	t      *testing.T
	cmd    *exec.Cmd
	ours   *os.File
	tty    *os.File
	before *unix.Termios
	stderr *bytes.Buffer
	gone   chan struct{} // the output is closed

	mu    sync.Mutex
	more  *sync.Cond
	seen  string
	ended bool
}

// sit starts throngctl in a terminal of 100 columns and 30 lines.
func sit(t *testing.T, args ...string) *seat {
	t.Helper()
	s := &seat{t: t, gone: make(chan struct{})}
	s.more = sync.NewCond(&s.mu)
	s.ours, s.tty = openTerminal(t)
	if err := unix.IoctlSetWinsize(int(s.tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100}); err != nil {
		t.Fatal(err)
	}
	s.before = s.termios()
	s.cmd, _, s.stderr = process(t, []string{"TERM=xterm-256color", "NO_COLOR=1", "LANG=C.UTF-8"}, args...)
	s.cmd.Stdin, s.cmd.Stdout = s.tty, s.tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.look()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // if it is still running
		_ = s.tty.Close()
		<-s.gone
		_ = s.ours.Close()
	})
	return s
}

func (s *seat) termios() *unix.Termios {
	s.t.Helper()
	state, err := unix.IoctlGetTermios(int(s.tty.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return state
}

func (s *seat) look() {
	defer close(s.gone)
	part := make([]byte, 8192)
	for {
		n, err := s.ours.Read(part)
		s.mu.Lock()
		s.seen += string(part[:n])
		s.ended = s.ended || err != nil
		s.more.Broadcast()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// await waits for a text in the output after the last awaited one.
func (s *seat) await(text string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !strings.Contains(s.seen, text) {
		if s.ended {
			s.t.Fatalf("%q does not appear:\n%q\n%s", text, s.seen, s.stderr)
		}
		s.more.Wait()
	}
	_, s.seen, _ = strings.Cut(s.seen, text)
}

func (s *seat) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.ours, keys); err != nil {
		s.t.Fatal(err)
	}
}

// leaves waits for the process to end, and checks that the terminal is in its original state.
func (s *seat) leaves(code int) (after string) {
	s.t.Helper()
	err := s.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != code) || err == nil && code != 0 {
		s.t.Errorf("it ended with %v, want %d\n%s", err, code, s.stderr)
	}
	if now := s.termios(); !reflect.DeepEqual(now, s.before) {
		s.t.Errorf("the terminal is in state %+v, want %+v", now, s.before)
	}
	_ = s.tty.Close()
	<-s.gone
	return s.seen
}

// shoppers returns a run that lasts as long as needed.
func shoppers(data string) []string {
	return []string{"run", "shopping", "--data", data, "--set", "agents=30", "--cycles", "100000", "--mock-latency", "local", "--max-concurrent", "5", "--ceiling", "100", "--seed", "7"}
}

// TestDashboard steers a run with the keys of its dashboard, and with those of a dashboard in another terminal.
func TestDashboard(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := sit(t, append(shoppers(data), "--governor", "manual")...)
	s.await(boardUp)
	s.await("● running")
	s.await("in flight")
	s.press("+")
	s.await("Concurrency limit 5 → 6")
	s.press("p")
	s.await("■ paused")
	s.press("p")
	s.await("● running")
	s.press("c")
	s.await("checkpoint taken")
	s.press("\t")
	s.await("Sessions in flight, oldest first")
	s.press("?")
	s.await("set the limit 10% higher or lower")
	s.press("\x1b")
	s.await("Health")
	s.press("\x1a") // without a shell with job control it is not suspended
	s.await(boardDown)
	s.await(boardUp)

	elsewhere := sit(t, "status", "--follow", "--data", data)
	elsewhere.await("● running")
	elsewhere.press("-")
	elsewhere.await("Concurrency limit 6 → 5")
	elsewhere.press("a")
	elsewhere.await("Adjusted by manual → adaptive")
	elsewhere.press("q")
	elsewhere.await(boardDown)
	elsewhere.leaves(exitDone)

	if err := unix.IoctlSetWinsize(int(s.tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 60}); err != nil {
		t.Fatal(err)
	}
	s.await("\x1b[2J") // full redraw
	s.press("q")
	s.await(boardDown)
	after := s.leaves(exitInterrupted)
	if strings.Contains(after, boardUp) || !strings.Contains(after, "stopped after") || !strings.Contains(after, "resume with: throngctl resume") {
		t.Errorf("after the dashboard: got %q", after)
	}
	_, changes, _ := ctl(t, "export", "--data", data, "--what", "changes")
	for _, want := range []string{`max-concurrent,5,6,terminal \(`, `max-concurrent,6,5,terminal \(`, `phase,.*,paused,terminal \(`} {
		if !regexp.MustCompile(want).MatchString(changes) {
			t.Errorf("the journal does not have %s:\n%s", want, changes)
		}
	}
}

// TestDashboardIsTakenDown checks that the terminal is restored however the program ends, and that the last messages are
// visible.
func TestDashboardIsTakenDown(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(sig) { // with nohup, which the program follows
			continue
		}
		s := sit(t, shoppers(t.TempDir())...)
		s.await("● running")
		if err := s.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		s.await(boardDown)
		if after := s.leaves(exitInterrupted); !strings.Contains(after, "stopped after") {
			t.Errorf("%v: after the dashboard: got %q\n%s", sig, after, s.stderr)
		}
	}
	data := t.TempDir()
	t.Setenv(panicEnv, "2")
	s := sit(t, shoppers(data)...)
	s.await(boardDown)
	s.leaves(exitFailed)
	if !strings.Contains(s.stderr.String(), "Throng crashed") {
		t.Errorf("output of a panic: %s", s.stderr)
	}
	if found, err := filepath.Glob(filepath.Join(data, "crashes", "*")); err != nil || len(found) == 0 {
		t.Errorf("%v, %v", found, err)
	}
}

// TestLinesInsteadOfTheDashboard checks that there is no dashboard with --no-dashboard or on a dumb terminal.
func TestLinesInsteadOfTheDashboard(t *testing.T) {
	for _, c := range []struct{ term, flag string }{{"dumb", ""}, {"xterm", "--no-dashboard"}} {
		t.Setenv("TERM", c.term)
		ours, tty := openTerminal(t)
		seen := make(chan string, 1)
		go func() {
			text, _ := io.ReadAll(ours) // until the other side is closed
			seen <- string(text)
		}()
		args := []string{"run", "shopping", "--data", t.TempDir(), "--set", "agents=5", "--mock-latency", "none"}
		if c.flag != "" {
			args = append(args, c.flag)
		}
		code := execute(args, &terminal{in: tty, out: tty, err: io.Discard})
		_ = tty.Close()
		if text := <-seen; code != exitDone || strings.Contains(text, "\x1b") || !strings.Contains(text, "finished after") {
			t.Errorf("%s %s: exit code %d\n%q", c.term, c.flag, code, text)
		}
		_ = ours.Close()
	}
}
