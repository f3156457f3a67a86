package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/prove"
	"github.com/throng-sim/throng/engine/mock"
)

// If asToolEnv is set, the test binary is throngctl. killEnv is the moment at which it kills itself, such as commit:7 or
// change:7 (the seventh changing request), stops (stop:7) or panics (panic:7). It writes the number of these moments to
// the file in countEnv, and the number of changing requests to changesEnv. The mock writes the changing requests to
// heardEnv. panicEnv is the second at which the run's loop panics, and breakEnv breaks a part of the engine.
const (
	asToolEnv  = "THRONGCTL_TEST"
	killEnv    = prove.KillEnv
	countEnv   = prove.CountEnv
	breakEnv   = "THRONGCTL_TEST_BREAK"
	panicEnv   = "THRONGCTL_TEST_PANIC"
	changesEnv = "THRONGCTL_TEST_CHANGES"
	heardEnv   = "THRONGCTL_TEST_HEARD"
	// If strangerEnv is set, the process treats scenarios as untrusted, like throngctl.
	strangerEnv = "THRONGCTL_TEST_STRANGER"
)

func TestMain(m *testing.M) {
	if os.Getenv(asToolEnv) == "" {
		if prove.FromEnv(os.Getenv) != nil {
			panic("a proof started the tests instead of throngctl: it was not given " + asToolEnv)
		}
		os.Exit(apart(m))
	}
	moments := prove.FromEnv(os.Getenv)
	tool := &terminal{in: os.Stdin, out: os.Stdout, err: os.Stderr, signals: heeded(), byHand: byHand(), exit: os.Exit, hooks: hooksOf(moments)}
	tool.hooks.host = hostThatPanics()
	tool.hooks.trusts = os.Getenv(strangerEnv) == ""
	changes := mishaps(&tool.hooks)
	if os.Getenv(breakEnv) == "keys" {
		leaving := tool.hooks.witness.Leaving
		tool.hooks.witness.Leaving = func(header http.Header) {
			header.Del("Idempotency-Key")
			if leaving != nil {
				leaving(header)
			}
		}
	}
	code := execute(os.Args[1:], tool)
	if err := moments.Write(); err != nil {
		panic(err)
	}
	if path := os.Getenv(changesEnv); path != "" {
		if err := os.WriteFile(path, []byte(strconv.FormatInt(changes.Load(), 10)), 0o600); err != nil {
			panic(err)
		}
	}
	os.Exit(code)
}

// apart runs the tests with their own data folder instead of the user's.
func apart(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "throng-data")
	if err != nil {
		panic(err)
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			panic(err)
		}
	}()
	for name, value := range map[string]string{about.DataEnv: dir, "BATCH_KEY": batchKey} { // which tests that run in parallel cannot set
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	return m.Run()
}

// mishaps adds faults to the hooks of a proof and counts changing requests.
func mishaps(h *hooks) *atomic.Int64 {
	what, at, _ := strings.Cut(os.Getenv(killEnv), ":")
	n, _ := strconv.ParseInt(at, 10, 64)
	due := func(kind string, count int64) bool { return kind == what && count == n }
	onCommit, onRequest, hear := h.onCommit, h.onRequest, listener(os.Getenv(heardEnv))
	changes := new(atomic.Int64)
	h.onCommit = func(count int64) {
		if due("panic", count) {
			panic("commit")
		}
		if onCommit != nil {
			onCommit(count)
		}
	}
	h.onRequest = func(r mock.Request) {
		hear(r)
		if r.Method != http.MethodGet && r.Attempt == 1 && due("change", changes.Add(1)) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the process sends nothing from here on
		}
		if due("stop", r.N) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		}
		if onRequest != nil {
			onRequest(r)
		}
	}
	return changes
}

// ctl runs throngctl in this process and returns its exit code and output.
func ctl(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	auditAfter(t, args)
	var out, err bytes.Buffer
	h := hooks{cores: 4, trusts: true, env: []string{asToolEnv + "=1"}}
	if len(args) > 0 && args[0] == "calibrate" { // which refuses to measure on a busy machine
		h.host = unseen
	}
	code = execute(args, &terminal{in: strings.NewReader(""), out: &out, err: &err, hooks: h})
	return code, out.String(), err.String()
}

// self returns the test's program, for separate processes. It is built without the race detector: these tests check what
// processes leave when they die, and the detector would slow down hundreds of them.
func self(t *testing.T) string {
	t.Helper()
	path, err := own()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var own = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	flags := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, f := range info.Settings {
			flags[f.Key] = f.Value
		}
	}
	if err != nil || flags["-race"] != "true" {
		return path, err
	}
	path += ".plain" // next to the test binary, in a folder that go test removes
	build := exec.Command("go", "test", "-c", "-vet=off", "-tags", flags["-tags"], "-o", path, ".")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program without the race detector: %w\n%s", err, out)
	}
	return path, nil
})

// process prepares throngctl as a separate process.
func process(t *testing.T, env []string, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	auditAfter(t, args)
	cmd = exec.CommandContext(t.Context(), self(t), args...)
	cmd.Env = append(os.Environ(), append(env, asToolEnv+"=1")...)
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

// day returns a small simulated day of the built-in shoppers, with faults that are retried immediately.
func day(data string, more ...string) []string {
	return append([]string{
		"run", "shopping", "--data", data, "--set", "agents=30", "--set", "eagerness=8", "--cycles", "3", "--seed", "7",
		"--mock-latency", "none", "--max-concurrent", "8", "--retry-wait", "1ms",
		"--mock-fault", "server_error=0.03", "--mock-fault", "cut=0.04", "--mock-fault", "bad_body=0.02",
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

// counts reads how many moments of each kind a process counted.
func counts(t *testing.T, path string) prove.Counts {
	t.Helper()
	c, err := prove.ReadCounts(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
