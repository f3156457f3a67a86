package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/throng-sim/throng/engine/mock"
)

// runOf returns the ID of the run in an output.
func runOf(t *testing.T, out string) string {
	t.Helper()
	found := regexp.MustCompile(`run (\S+):`).FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("no run in\n%s", out)
	}
	return found[1]
}

// replays replays the recording of a run and compares the results. The mock must receive no requests. Additional flags are
// passed unchanged.
func replays(t *testing.T, data, of string, more ...string) {
	t.Helper()
	dir := t.TempDir()
	var out, stderr strings.Builder
	code := execute(append([]string{"run", "--data", data, "--replay", of, "--no-dashboard", "--export", dir}, more...), &terminal{
		in: strings.NewReader(""), out: &out, err: &stderr,
		hooks: hooks{trusts: true, onRequest: func(r mock.Request) { t.Errorf("the replay sent %s %s", r.Method, r.Path) }},
	})
	if code == exitUsage {
		t.Fatalf("%v: exit code %d\n%s%s", more, code, out.String(), stderr.String())
	}
	for _, name := range []string{"sessions.csv", "events.csv"} {
		if want, got := read(t, data, "out", name), read(t, dir, name); got != want {
			t.Errorf("%v: %s differs\n%s", more, name, difference(want, got))
		}
	}
	if timings := read(t, dir, "timings.csv"); !strings.Contains(timings, ",recorded,") || strings.Contains(timings, ",replayed,0") {
		t.Errorf("%v: wrong labels in\n%s", more, timings)
	}
	var m struct {
		Totals struct {
			Requests int64
			Models   struct {
				Calls int64
				Cost  float64 `json:"cost_usd"`
			}
			Spent map[string]float64
		}
	}
	if err := json.Unmarshal([]byte(read(t, dir, "run.json")), &m); err != nil {
		t.Fatal(err)
	}
	delete(m.Totals.Spent, "seconds")
	if m.Totals.Requests != 0 || m.Totals.Models.Calls != 0 || m.Totals.Models.Cost != 0 || len(m.Totals.Spent) > 0 {
		t.Errorf("%v: totals of the replay: %+v", more, m.Totals)
	}
	if logs, err := filepath.Glob(filepath.Join(data, "mock", runOf(t, out.String())+"*")); err != nil || len(logs) > 0 {
		t.Errorf("%v: the mock was started: %v, %v", more, logs, err)
	}
}

// TestReplayOfBuiltIns records each built-in scenario, with faults that make some steps fail, and replays it with a limit
// of one session and of many.
func TestReplayOfBuiltIns(t *testing.T) {
	for name, more := range map[string][]string{
		"shopping":     {"--set", "agents=20", "--set", "eagerness=8", "--cycles", "2"},
		"conversation": {"--set", "pairs=3"},
		"world":        {"--cycles", "2"},
		"analysis.ai":  {"--cycles", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			code, out, stderr := ctl(t, append([]string{
				"run", name, "--data", data, "--seed", "7", "--record", "--mock-latency", "none", "--max-concurrent", "7", "--no-dashboard",
				"--retries", "2", "--retry-wait", "1ms", "--breaker", "off", "--mock-fault", "server_error=0.12", "--export", filepath.Join(data, "out"),
			}, more...)...)
			if code == exitUsage || !strings.Contains(out, "All answers are recorded") {
				t.Fatalf("exit code %d\n%s%s", code, out, stderr)
			}
			if name == "shopping" && !strings.Contains(read(t, data, "out", "sessions.csv"), ",server_error,") {
				t.Error("no session failed: the test would prove little")
			}
			of := runOf(t, out)
			replays(t, data, of, "--max-concurrent", "1", "--no-adaptive")
			replays(t, data, of[:len(of)-1], append([]string{name, "--max-concurrent", "20"}, more...)...)
		})
	}
}

// outsideWorld is a scenario with real services at %[1]s that need keys and logins.
const outsideWorld = `
population: {count: 5}
clock: {cycles: 2}
services:
  door:
    kind: http
    url: %[1]s
    auth: {login: {post: /auth/login, json: {user: "${agent.id}", password: "secret:THRONG_TEST_PASSWORD"}, token: body.access.token}}
  own:
    kind: http
    url: %[1]s
    auth: {jwt: {secret: "secret:THRONG_TEST_KEY", claims: {sub: "${agent.id}"}}}
chain c:
  step look: {kind: http, service: own, get: "/open/${agent.id}"}
  step change: {kind: http, service: door, post: /open, json: {x: "${steps.look.open}"}}
  step refused: {kind: http, service: own, post: /refuse, on_error: continue}
  step no: {kind: http, service: door, get: /refuse, when: agent.index == 3}
  step pause: {kind: wait, for: 1ms}
  step told: {kind: emit, event: told, data: "${[steps.look.open, steps.change.status]}"}
  step last: {kind: http, service: own, get: /open}
`

// TestReplayWithoutTheOutside checks that a replay needs no server, no secret and no permission to call a host, that steps
// after the last change are recorded, and the errors for steps that cannot be recorded or replayed.
func TestReplayWithoutTheOutside(t *testing.T) {
	server := httptest.NewServer(&doorkeeper{given: map[string]bool{"pass-hunter2": true}})
	file := write(t, filepath.Join(t.TempDir(), "outside.yaml"), fmt.Sprintf(outsideWorld, server.URL))
	data := t.TempDir()
	must := func(args ...string) string {
		t.Helper()
		code, out, stderr := ctl(t, append(args, "--data", data, "--no-dashboard")...)
		if code == exitUsage {
			t.Fatalf("exit code %d\n%s%s", code, out, stderr)
		}
		return out
	}
	t.Setenv("THRONG_TEST_PASSWORD", "pass-hunter2")
	t.Setenv("THRONG_TEST_KEY", "key-hunter2")
	plain := runOf(t, must("run", file))
	of := runOf(t, must("run", file, "--record", "--seed", "3", "--export", filepath.Join(data, "out")))
	private := write(t, filepath.Join(t.TempDir(), "private.yaml"), fmt.Sprintf(secretive, server.URL))
	_, _, stderr := ctl(t, "run", private, "--record", "--data", data)
	for _, want := range []string{"step code is private", "step no is private"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("a private step is recorded: %s", stderr)
		}
	}
	server.Close()
	for _, name := range []string{"THRONG_TEST_PASSWORD", "THRONG_TEST_KEY"} {
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	replays(t, data, of)
	if _, out, stderr := ctl(t, "timeline", "4", "--cycle", "1", "--data", data); !strings.Contains(out, "(index 4)") || strings.Count(out, "\ncycle ") != 1 ||
		!regexp.MustCompile(`change +ok +recorded +0`).MatchString(out) || !regexp.MustCompile(`refused +failed \(client_error\) +recorded`).MatchString(out) {
		t.Errorf("the timeline of an agent in a replay:\n%s%s", out, stderr)
	}
	replays(t, data, of, file, "--service", "own=http://absent.example", "--service", "door=http://absent.example", "--sequential-steps")
	if strings.Contains(read(t, filepath.Join(data, "throng.db")), "hunter2") {
		t.Error("a secret is in the store")
	}
	other := write(t, filepath.Join(t.TempDir(), "outside.yaml"), strings.Replace(fmt.Sprintf(outsideWorld, server.URL), "count: 5", "count: 4", 1))
	for want, args := range map[string][]string{
		"run " + plain + " was not recorded":                   {"--replay", plain},
		"seed: is 4, but run " + of + " was recorded with 3":   {"--replay", of, "--seed", "4"},
		"cycles: is 9, but run " + of + " was recorded with 2": {"--replay", of, "--cycles", "9"},
		"retries: is 1, but run":                               {"--replay", of, "--retries", "1"},
		"agents: is x, but run":                                {"--replay", of, "--agents", "x"},
		"scenario: outside.yaml differs from":                  {other, "--replay", of},
		"has nothing to record":                                {"--replay", of, "--record"},
		"leave out --set, --chain":                             {"--replay", of, "--set", "a=1"},
		"no such run":                                          {"--replay", "nothing"},
		"throngctl: no scenario given":                         {},
		"a cycle timeout ends sessions":                        {file, "--record", "--cycle-timeout", "1m"},
	} {
		code, out, stderr := ctl(t, append([]string{"run", "--data", data}, args...)...)
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit code %d, %q is not in\n%s%s", args, code, want, out, stderr)
		}
	}
}

// TestKilledRecordings kills runs that record and runs that replay, and resumes them. The recording and the replay are
// complete, also in a world whose agents act one after another.
func TestKilledRecordings(t *testing.T) {
	const seed = 20261122
	draw := rand.New(rand.NewPCG(seed, 0))
	for name, args := range map[string][]string{
		"shopping": {"--set", "agents=20", "--set", "eagerness=8", "--cycles", "2", "--mock-fault", "server_error=0.03"},
		"world":    {"--sequential", "--cycles", "2"},
	} {
		kill := fmt.Sprintf("commit:%d", 8+draw.IntN(20))
		t.Run(name+" "+kill, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			args := append([]string{"run", name, "--seed", "5", "--record", "--mock-latency", "none", "--retry-wait", "1ms", "--max-concurrent", "3", "--no-dashboard"}, args...)
			code, out, stderr := ctl(t, append(args, "--data", t.TempDir(), "--export", filepath.Join(data, "undisturbed"))...)
			if code == exitUsage {
				t.Fatalf("exit code %d\n%s%s", code, out, stderr)
			}
			killed(t, kill, append(args, "--data", data)...)
			_, _, stderr = ctl(t, "run", "--data", data, "--replay", newest(t, data))
			if !strings.Contains(stderr, "interrupted, so its recording is incomplete (complete it first: throngctl resume ") {
				t.Errorf("an interrupted recording is replayed: %s", stderr)
			}
			resumeNewest(t, data, filepath.Join(data, "out"))
			of := newest(t, data)
			for _, file := range []string{"sessions.csv", "events.csv"} {
				if want, got := read(t, data, "undisturbed", file), read(t, data, "out", file); got != want {
					t.Errorf("%s differs\n%s", file, difference(want, got))
				}
			}
			replays(t, data, of, "--max-concurrent", "9")
			killed(t, "commit:3", "run", "--data", data, "--replay", of, "--no-dashboard")
			resumeNewest(t, data, filepath.Join(data, "again"))
			if run := newest(t, data); run == of {
				t.Fatal("no replay was resumed")
			}
			for _, file := range []string{"sessions.csv", "events.csv"} {
				if want, got := read(t, data, "out", file), read(t, data, "again", file); got != want {
					t.Errorf("a replay that was killed: %s differs\n%s", file, difference(want, got))
				}
			}
		})
	}
}

// TestKilledWorlds kills worlds whose agents act one after another at seeded commits, and resumes them.
func TestKilledWorlds(t *testing.T) {
	args := []string{"run", "world", "--sequential", "--cycles", "3", "--seed", "5", "--mock-latency", "none", "--no-dashboard"}
	alone := t.TempDir()
	if code, out, stderr := ctl(t, append(args, "--data", alone, "--export", filepath.Join(alone, "out"))...); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	const seed = 20261122
	draw := rand.New(rand.NewPCG(seed, 1))
	for range 4 {
		at := fmt.Sprintf("commit:%d", 3+draw.IntN(30)) // each of 30 sessions waits for the commit of an intent
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			killed(t, at, append(args, "--data", data)...)
			resumeNewest(t, data, filepath.Join(data, "out"))
			for _, file := range []string{"sessions.csv", "events.csv"} {
				if want, got := read(t, alone, "out", file), read(t, data, "out", file); got != want {
					t.Errorf("%s differs\n%s", file, difference(want, got))
				}
			}
		})
	}
}

// TestCallsThatMayBePaidTwice kills a run during model calls, and again after a resume. Calls in flight at the kills are
// counted in the end, in every report, and no others.
func TestCallsThatMayBePaidTwice(t *testing.T) {
	const atOnce = 3
	data := t.TempDir()
	killed(t, "request:12", "run", "conversation", "--data", data, "--set", "pairs=8", "--seed", "7", "--mock-latency", "none", "--max-concurrent", "3", "--no-adaptive", "--no-dashboard")
	killed(t, "request:9", "resume", "--data", data, "--no-dashboard")
	code, out, stderr := ctl(t, "resume", "--data", data, "--no-dashboard", "--export", filepath.Join(data, "out"))
	if code != exitDone || !strings.Contains(out, "sent again, perhaps paid twice") {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	var m struct {
		Totals struct {
			Models struct {
				Again int64 `json:"calls_again"`
			}
		}
	}
	if err := json.Unmarshal([]byte(read(t, data, "out", "run.json")), &m); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(read(t, data, "out", "timings.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	last, sum := len(rows[0])-1, int64(0)
	for _, row := range rows[1:] {
		n, err := strconv.ParseInt(row[last], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if again := m.Totals.Models.Again; rows[0][last] != "calls_again" || again < 1 || again > 2*atOnce || again != sum {
		t.Errorf("run.json has %d repeated calls, timings.csv %d; %d concurrent sessions were killed twice", again, sum, atOnce)
	}
}

// killed runs throngctl in a process that must be killed.
func killed(t *testing.T, when string, args ...string) {
	t.Helper()
	cmd, out, stderr := process(t, []string{killEnv + "=" + when}, args...)
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the process was not killed: %v\n%s%s", err, out, stderr)
	}
}

// resumeNewest resumes the newest run.
func resumeNewest(t *testing.T, data, export string) {
	t.Helper()
	if code, out, stderr := ctl(t, "resume", "--data", data, "--no-dashboard", "--export", export); code == exitUsage {
		t.Fatalf("resume: exit code %d\n%s%s", code, out, stderr)
	}
}

// newest returns the newest run.
func newest(t *testing.T, data string) string {
	t.Helper()
	code, out, stderr := ctl(t, "export", "--data", data, "--what", "run")
	var m struct{ Run string }
	if err := json.Unmarshal([]byte(out), &m); code != exitDone || err != nil {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, stderr)
	}
	return m.Run
}

// TestForksOfRecordings checks that a fork is not recorded, since its recording would lack the earlier cycles, and that a
// fork of a replay does not replay.
func TestForksOfRecordings(t *testing.T) {
	data := t.TempDir()
	ran := func(want int, says string, args ...string) {
		t.Helper()
		code, out, stderr := ctl(t, append(args, "--data", data)...)
		if code != want || !strings.Contains(out+stderr, says) {
			t.Errorf("%v: exit code %d, want %d and %q\n%s%s", args, code, want, says, out, stderr)
		}
		if args[0] == "fork" && strings.Contains(out, "replay them") {
			t.Errorf("%v: the fork is recorded\n%s", args, out)
		}
	}
	small := []string{"--set", "agents=10", "--cycles", "3", "--mock-latency", "none", "--checkpoint-interval", "1us"}
	ran(exitDone, "replay them with", append([]string{"run", "shopping", "--record"}, small...)...)
	of := newest(t, data)
	ran(exitUsage, "its recording lacks the earlier cycles", "fork", of, "--record")
	ran(exitDone, "replaying the recording", "run", "--replay", of, "--checkpoint-interval", "1us") // it may end within 5 ms
	ran(exitDone, "replayed the recording of "+of, "fork", newest(t, data))
	ran(exitDone, "record on → off", "fork", of)
}
