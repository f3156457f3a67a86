package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/throng-sim/throng/engine/rehearsal"
)

// The test binary is throngctl itself when asToolEnv is set; killEnv says when it kills itself, as commit:N or
// request:N, and countEnv where it writes how many requests there were, and how many that change something.
const (
	asToolEnv = "THRONGCTL_TEST"
	killEnv   = "THRONGCTL_TEST_KILL"
	countEnv  = "THRONGCTL_TEST_COUNT"
)

func TestMain(m *testing.M) {
	if os.Getenv(asToolEnv) == "" {
		os.Exit(m.Run())
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	var requests, changes atomic.Int64
	what, at, _ := strings.Cut(os.Getenv(killEnv), ":")
	n, _ := strconv.ParseInt(at, 10, 64)
	reached := func(kind string, count int64) {
		if kind == what && count == n {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // nothing more leaves this process
		}
	}
	code := execute(os.Args[1:], &terminal{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, signals: signals, byHand: byHand(),
		hooks: hooks{
			onCommit: func(n int64) { reached("commit", n) },
			onRequest: func(r rehearsal.Request) {
				requests.Add(1)
				if r.Method != http.MethodGet && r.Attempt == 1 {
					changes.Add(1)
				}
				reached("request", r.N)
			},
		},
	})
	if path := os.Getenv(countEnv); path != "" {
		text := fmt.Sprintf("%d %d", requests.Load(), changes.Load())
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			panic(err)
		}
	}
	os.Exit(code)
}

// ctl runs throngctl in this process and returns its exit code and output.
func ctl(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = execute(args, &terminal{in: strings.NewReader(""), out: &out, err: &err, hooks: hooks{cores: 4}})
	return code, out.String(), err.String()
}

// process prepares throngctl as a process of its own.
func process(t *testing.T, env []string, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), append(env, asToolEnv+"=1")...)
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

// day is a small simulated day of the built-in shoppers, with faults that are retried at once.
func day(data string, more ...string) []string {
	return append([]string{
		"run", "shopping", "--data", data, "--set", "agents=30", "--set", "eagerness=8", "--cycles", "3", "--seed", "7",
		"--rehearsal", "none", "--max-concurrent", "8", "--retry-wait", "1ms",
		"--fault", "server_error=0.03", "--fault", "cut=0.04", "--fault", "bad_body=0.02",
	}, more...)
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
