package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	answers "github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/workers"
)

// outcomes returns the parts of an export that do not depend on timing.
func outcomes(t *testing.T, out string) string {
	t.Helper()
	return read(t, out, "sessions.csv") + read(t, out, "events.csv")
}

// TestFleetHasTheSameResult checks that a run over two processes has the same sessions and events as in one process.
func TestFleetHasTheSameResult(t *testing.T) {
	model, err := mock.StartModel(mock.ModelConfig{Secret: "rig", Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	t.Setenv("OPENAI_API_KEY", "rig")
	elsewhere := "world --set provider=openai --service model=" + model.URL() + "#mock-2 --allow " + strings.TrimPrefix(strings.TrimSuffix(model.URL(), "/v1"), "http://")
	for _, scenario := range []string{"shopping --set agents=60 --set eagerness=8", "conversation", "world", elsewhere} {
		t.Run(scenario, func(t *testing.T) {
			var got [2]string
			for i, more := range []string{"", " --fleet local:2"} {
				out := t.TempDir()
				args := strings.Fields("run " + scenario + " --cycles 2 --seed 7 --mock-latency none --no-dashboard" + more)
				if code, stdout, stderr := ctl(t, append(args, "--data", t.TempDir(), "--export", out)...); code != exitDone {
					t.Fatalf("%s: exit code %d\n%s%s", more, code, stdout, stderr)
				}
				got[i] = outcomes(t, out)
			}
			if got[0] != got[1] {
				t.Errorf("the results differ\n%s", difference(got[0], got[1]))
			}
		})
	}
}

// childrenOf returns the processes that a process has started.
func childrenOf(t *testing.T, pid int) (all []int) {
	t.Helper()
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads { // the thread that started a process has it
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, thread.Name()))
		if err != nil {
			continue // it has ended
		}
		for word := range strings.FieldsSeq(string(text)) {
			n, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, n)
		}
	}
	return all
}

// TestKilledWorker checks that a run whose worker is killed has the same result, and that the worker is started again.
func TestKilledWorker(t *testing.T) {
	t.Parallel()
	whole, out := t.TempDir(), t.TempDir()
	size := []string{"--set", "agents=80", "--cycles", "2", "--no-dashboard"}
	if code, _, stderr := ctl(t, append([]string{"run", "shopping", "--data", t.TempDir(), "--seed", "7", "--mock-latency", "none", "--set", "eagerness=10", "--export", whole}, size...)...); code != exitDone {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	cmd, stdout, stderr := slowRun(t, t.TempDir(), append(size, "--fleet", "local:2", "--export", out)...)
	children := childrenOf(t, cmd.Process.Pid)
	if len(children) != 2 {
		t.Fatalf("the processes of the run are %v", children)
	}
	if err := syscall.Kill(children[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	printed, err := io.ReadAll(stdout)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s%s", err, printed, stderr)
	}
	if a, b := outcomes(t, whole), outcomes(t, out); a != b {
		t.Errorf("the results differ\n%s", difference(a, b))
	}
	if !strings.Contains(stderr.String(), "ended (signal: killed) and is started again") {
		t.Errorf("the notes do not mention the killed worker:\n%s", stderr)
	}
	for _, pid := range children {
		if err := syscall.Kill(pid, 0); err == nil {
			t.Errorf("process %d outlives the run", pid)
		}
	}
}

// TestKilledCoordinator checks that the workers of this machine end with the process that started them.
func TestKilledCoordinator(t *testing.T) {
	t.Parallel()
	cmd, _, _ := slowRun(t, t.TempDir(), "--set", "agents=300", "--cycles", "5", "--fleet", "local:2")
	children := childrenOf(t, cmd.Process.Pid)
	if len(children) != 2 {
		t.Fatalf("the processes of the run are %v", children)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range children {
		eventually(t, func() bool { return syscall.Kill(pid, 0) != nil || zombie(pid) }, "process %d ends", pid)
	}
}

// zombie reports whether a process has ended and nothing has asked for its exit code.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(text), ") Z ")
}

// eventually waits until a condition holds.
func eventually(t *testing.T, holds func() bool, format string, args ...any) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("expected: "+format, args...)
		}
	}
}

// fleetStatus returns the workers of the run in progress by name.
func fleetStatus(t *testing.T, data string) map[string]workers.State {
	t.Helper()
	code, out, stderr := ctl(t, "fleet", "status", "--json", "--data", data)
	var all []workers.State
	if err := json.Unmarshal([]byte(out), &all); err != nil || code != exitDone {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, stderr)
	}
	answer, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if err := schemaOf(t, "fleet-status", answers.SchemaID("fleet-status")).Validate(answer); err != nil {
		t.Error(err)
	}
	found := map[string]workers.State{}
	for _, w := range all {
		found[w.Name] = w
	}
	return found
}

// TestFleetCommands executes the commands for workers while a run is in progress.
func TestFleetCommands(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	cmd, _, _ := slowRun(t, data, "--set", "agents=2000", "--cycles", "50", "--fleet", "local:3", "--max-concurrent", "30")
	order := func(code int, want string, args ...string) {
		t.Helper()
		got, out, stderr := ctl(t, append(args, "--data", data)...)
		if got != code || !strings.Contains(out+stderr, want) {
			t.Errorf("%v: exit code %d, want %d and %q in\n%s%s", args, got, code, want, out, stderr)
		}
	}
	eventually(t, func() bool {
		shares := 0
		for _, w := range fleetStatus(t, data) {
			shares += w.Limit
		}
		return shares == 30
	}, "the shares add up to the limit")
	order(exitDone, "3 workers", "status")
	order(exitDone, "at most 2 sessions in flight", "fleet", "limit", "local-1=2")
	eventually(t, func() bool { w := fleetStatus(t, data)["local-1"]; return w.MaxLimit == 2 && w.Limit <= 2 }, "local-1 is bounded")
	order(exitDone, `"done": "worker local-2 ends its sessions and takes no others"`, "fleet", "drain", "local-2", "--json")
	eventually(t, func() bool {
		w := fleetStatus(t, data)["local-2"]
		return w.Status == workers.Draining && w.InFlight == 0
	}, "local-2 drains")
	since := fleetStatus(t, data)["local-1"].Since
	for _, pid := range childrenOf(t, cmd.Process.Pid) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, func() bool { // a busy machine may see it only after it was started again
		w := fleetStatus(t, data)["local-1"]
		return w.Status == workers.Lost || w.Since.After(since)
	}, "local-1 is lost")
	eventually(t, func() bool {
		all := fleetStatus(t, data)
		return all["local-1"].InFlight > 0 && all["local-2"].Status == workers.Draining && all["local-2"].InFlight == 0
	}, "local-2 is started again and still drains")
	order(exitDone, "worker local-2 takes sessions again", "fleet", "undrain", "local-2")
	eventually(t, func() bool {
		w := fleetStatus(t, data)["local-2"]
		return w.Status == workers.Ready && w.InFlight > 0
	}, "local-2 takes sessions again")
	order(exitDone, "is removed", "fleet", "remove", "local-3")
	eventually(t, func() bool { return fleetStatus(t, data)["local-3"].Status == workers.Lost }, "local-3 is removed")
	order(exitDone, "it was removed by hand", "fleet")
	order(exitUsage, "the workers are local-1, local-2", "fleet", "drain", "laptop")
	order(exitUsage, "expected NAME=N", "fleet", "limit", "local-1")
	order(exitDone, "stopping", "stop", "--now")
	if err := cmd.Wait(); err == nil {
		t.Error("the run that was stopped ended without an error")
	}
	order(exitDone, "is not in progress: stopped\nIts workers, by its record:\nNAME ", "fleet")
	var p answers.PastFleet
	_, out, _ := ctl(t, "fleet", "--json", "--data", data)
	if err := json.Unmarshal([]byte(out), &p); err != nil || p.State != "stopped" || len(p.Workers) != 3 || p.Workers[0].Name != "local-1" || p.Workers[0].MostInFlight == 0 ||
		p.Workers[0].PerSecond <= 0 || !p.Workers[0].To.After(p.Workers[0].From) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestNoFleet checks what the commands for workers say without a fleet.
func TestNoFleet(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	want(t, exitUsage, "", []string{"fleet", "--data", data}, "no runs yet")
	cmd, _, _ := slowRun(t, data, "--set", "agents=300", "--cycles", "50")
	if code, _, stderr := ctl(t, "fleet", "status", "--data", data); code != exitFailed || !strings.Contains(stderr, "it was started without --fleet") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	want(t, exitDone, "", []string{"stop", "--now", "--data", data})
	_ = cmd.Wait()
	want(t, exitDone, "", []string{"fleet", "--data", data}, "is not in progress: stopped", "no fleet executed it")
}

// startReading starts a process, which ends with the test, and returns what it says to people.
func startReading(t *testing.T, c *exec.Cmd) *bufio.Reader {
	t.Helper()
	c.Stderr = nil
	pipe, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	return bufio.NewReader(pipe)
}

// TestFleetOfOtherMachines checks that workers join with the printed line, work for a run, and end as they were asked to.
func TestFleetOfOtherMachines(t *testing.T) {
	data := t.TempDir()
	coordinator, stdout, _ := process(t, nil, "run", "shopping", "--data", data, "--set", "agents=100", "--seed", "7", "--cycles", "2", "--mock-latency", "local",
		"--no-dashboard", "--fleet", "127.0.0.1:0", "--workers", "2")
	lines := startReading(t, coordinator)
	warning, err := lines.ReadString('\n')
	if err != nil || !strings.Contains(warning, "workers of other machines will be refused: the scenario uses a mock for service shop") {
		t.Fatalf("%q, %v", warning, err)
	}
	second, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	join := regexp.MustCompile(`throng://\S+`).FindString(second)
	if stored, err := exec.CommandContext(t.Context(), "grep", "-rl", filepath.Base(join), data).Output(); err == nil && strings.TrimSpace(string(stored)) != filepath.Join(data, "fleet", "token") {
		t.Errorf("the token is in %s", stored)
	}
	env := []string{about.JoinEnv + "=" + join}
	once, onceOut, onceErr := process(t, env, "worker", "--once", "--name", "rack", "--cores", "1", "--memory", "500MB", "--data", t.TempDir())
	stays, staysOut, staysErr := process(t, env, "worker", "--name", "shelf", "--data", t.TempDir())
	for _, w := range []*exec.Cmd{once, stays} {
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.Process.Kill() })
	}
	notes, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	if err := coordinator.Wait(); err != nil {
		t.Fatalf("%v\n%s%s", err, notes, stdout)
	}
	if !strings.Contains(string(notes), "worker rack joined: "+"linux/") || !strings.Contains(string(notes), "worker shelf joined") {
		t.Errorf("the notes are\n%s", notes)
	}
	if err := once.Wait(); err != nil {
		t.Errorf("%v\n%s%s", err, onceOut, onceErr)
	}
	if err := stays.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := stays.Wait(); err != nil {
		t.Errorf("%v\n%s%s", err, staysOut, staysErr)
	}
	for _, want := range []string{"joined as rack", "Marketplace shoppers"} {
		if !strings.Contains(onceOut.String(), want) {
			t.Errorf("no %q in\n%s", want, onceOut)
		}
	}
	if !strings.Contains(staysOut.String(), "ending after the sessions in flight") {
		t.Errorf("it printed\n%s", staysOut)
	}
}

// TestRefusedWorker checks that a worker without a secret is refused with the reason, and that the run waits for another one.
func TestRefusedWorker(t *testing.T) {
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer a-token" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(shop.Close)
	data := t.TempDir()
	file := filepath.Join(data, "shop.yaml")
	text := "title: Visits\npopulation: {count: 5}\nservices:\n  shop: {kind: http, url: \"" + shop.URL + "\", auth: {bearer: secret:SHOP_TOKEN}}\n" +
		"chain visit: {step look: {kind: http, service: shop, get: /items}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	coordinator, _, _ := process(t, []string{"SHOP_TOKEN=a-token"}, "run", file, "--data", data, "--no-dashboard", "--fleet", "127.0.0.1:0")
	lines := startReading(t, coordinator)
	next := func(want string) string {
		t.Helper()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("no note has %q: %v", want, err)
			}
			if strings.Contains(line, want) {
				return line
			}
		}
	}
	env := []string{about.JoinEnv + "=" + regexp.MustCompile(`throng://\S+`).FindString(next("throng://"))}
	for i, secret := range []string{"SHOP_TOKEN=", "SHOP_TOKEN=a-token"} {
		w, _, _ := process(t, append(env, secret), "worker", "--name", fmt.Sprint("rack-", i), "--data", t.TempDir())
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.Process.Kill(); _ = w.Wait() })
		if i == 0 {
			if note := next("worker rack-0 refused"); !strings.Contains(note, "the secret SHOP_TOKEN is ") || !strings.Contains(note, "export SHOP_TOKEN=") || !strings.Contains(note, "or start the run with --share-secrets SHOP_TOKEN") {
				t.Errorf("got %s", note)
			}
		}
	}
	next("worker rack-1 joined")
	if _, err := io.Copy(io.Discard, lines); err != nil {
		t.Fatal(err)
	}
	if err := coordinator.Wait(); err != nil {
		t.Error(err)
	}
}

// newestRun returns the ID of the newest run.
func newestRun(t *testing.T, data string) string {
	t.Helper()
	_, out, _ := ctl(t, "runs", "--data", data)
	return strings.Fields(strings.Split(out, "\n")[1])[0]
}

// TestFleetMistakes checks what is refused before anything starts.
func TestFleetMistakes(t *testing.T) {
	t.Setenv(about.JoinEnv, "")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "a=b") // the keychain of the tests may have others
	data := t.TempDir()
	if code, _, stderr := ctl(t, "run", "shopping", "--data", data, "--set", "agents=3", "--record", "--mock-latency", "none"); code != exitDone {
		t.Fatal(stderr)
	}
	for command, want := range map[string]string{
		"run shopping --fleet local:0":                                           "names no number of workers",
		"run shopping --fleet :0 --nats nats://127.0.0.1:1":                      "leave out --fleet or --nats",
		"run shopping --advertise host --fleet local:1":                          "no join line",
		"run shopping --advertise host":                                          "no fleet",
		"run shopping --workers 2":                                               "no fleet",
		"run shopping --nats-creds x --fleet :0":                                 "no cluster",
		"run shopping --share-secrets A --nats nats://127.0.0.1:1":               "would hold the secrets",
		"run shopping --share-secrets A --fleet local:1":                         "no service of the scenario receives the secret A",
		"run analysis --chain analysis --fleet local:1":                          "a chain that runs alone",
		"run --replay " + newestRun(t, data) + " --fleet local:1":                "a replay answers from the recording",
		"run shopping --fleet local:1 --otlp http://127.0.0.1:1 --trace-share 1": "traces",
		"worker":          "there is no join line",
		"worker --join x": "not a join line",
		"worker --join throng://127.0.0.1:1/a --cores 9999":  "cores",
		"worker --join throng://127.0.0.1:1/a --memory much": "memory",
		"worker --join throng://10.0.0.1:1/a":                "no fingerprint",
	} {
		code, _, stderr := ctl(t, append(strings.Fields(command), "--data", data)...)
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d\n%s", command, code, stderr)
		}
	}
	if code, _, stderr := ctl(t, "worker", "--join", "throng://127.0.0.1:1/abc", "--data", data); code != exitFailed || !strings.Contains(stderr, "no coordinator can be reached") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// parses reports whether the program can parse a command.
func parses(t *testing.T, args []string) bool {
	t.Helper()
	all, _ := grammar(args)
	parser, err := flags.NewParser(all)
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(args)
	return err == nil
}

// TestExamplesOfWorkers checks that the commands in examples/workers can be parsed.
func TestExamplesOfWorkers(t *testing.T) {
	folder := filepath.Join("..", "..", "examples", "workers")
	for file, pattern := range map[string]string{
		"compose.yaml": `command: \[(.*)\]`, "kubernetes.yaml": `args: \[(.*)\]`, "throng-worker.service": `ExecStart=throngctl (.*)`,
	} {
		m := regexp.MustCompile(`(?m)^\s*` + pattern + `$`).FindStringSubmatch(read(t, folder, file))
		if m == nil {
			t.Errorf("%s has no command", file)
			continue
		}
		args := strings.Fields(strings.ReplaceAll(m[1], ",", " "))
		if !slices.Contains(args, "worker") || !parses(t, args) {
			t.Errorf("%s: cannot parse %q", file, args)
		}
	}
}
